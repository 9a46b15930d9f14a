/* fds.c - SQLite opens and uses its files through functions that can be replaced.
 *
 *   program: close(3 .. 4096), open -> 770        ours was 770: what it is about is looked at before each use, and left alone
 */
#include "collector/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOWEST = 768, ROOM = 128, FILES = 32 };

static int lowest = LOWEST;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table */
static struct {
    bool used, lost; /* lost: with one of them all are, for half a database is none */
    int fd;
    dev_t device;
    ino_t inode;
} files[FILES];

/* Of a descriptor that was opened here; -1: it was not. With the lock held. */
static int place_of(int fd)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].used && files[i].fd == fd)
            return i;
    return -1;
}

static void remember(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return;
    pthread_mutex_lock(&lock);
    int i = place_of(fd);
    for (int k = 0; i < 0 && k < FILES; k++)
        i = files[k].used ? -1 : k;
    if (i >= 0) {
        files[i].used = true;
        files[i].lost = false;
        files[i].fd = fd;
        files[i].device = st.st_dev;
        files[i].inode = st.st_ino;
    }
    pthread_mutex_unlock(&lock);
}

/* With the lock held: is it still the file that was opened? One that the program has closed is not, nor what it has opened since. */
static bool is_same(int i)
{
    struct stat st;
    return fstat(files[i].fd, &st) == 0 && st.st_dev == files[i].device && st.st_ino == files[i].inode;
}

static bool is_ours(int fd)
{
    int saved = errno;
    pthread_mutex_lock(&lock);
    int i = place_of(fd);
    bool lost = i >= 0 && !is_same(i);
    for (int k = 0; lost && k < FILES; k++)
        files[k].lost |= files[k].used;
    bool ours = i < 0 || !files[i].lost;
    pthread_mutex_unlock(&lock);
    errno = ours ? saved : EBADF;
    return ours;
}

/* It is closed: is it ours to close? */
static bool forget(int fd)
{
    pthread_mutex_lock(&lock);
    int i = place_of(fd);
    bool ours = i < 0 || is_same(i);
    if (i >= 0)
        files[i].used = false;
    pthread_mutex_unlock(&lock);
    return ours;
}

/* ---- in place of the system's ---- */

static int open_high(const char *path, int flags, int mode)
{
    int fd = open(path, flags | O_CLOEXEC, mode);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    int why = errno;
    if (fd >= 0 && high >= 0)
        close(fd);
    remember(high >= 0 ? high : fd);
    errno = why;
    return high >= 0 ? high : fd;
}

static int close_own(int fd)
{
    return forget(fd) ? close(fd) : 0;
}

static ssize_t read_own(int fd, void *to, size_t n)
{
    return is_ours(fd) ? read(fd, to, n) : -1;
}

static ssize_t write_own(int fd, const void *from, size_t n)
{
    return is_ours(fd) ? write(fd, from, n) : -1;
}

static ssize_t pread_own(int fd, void *to, size_t n, off_t at)
{
    return is_ours(fd) ? pread(fd, to, n, at) : -1;
}

static ssize_t pwrite_own(int fd, const void *from, size_t n, off_t at)
{
    return is_ours(fd) ? pwrite(fd, from, n, at) : -1;
}

static int ftruncate_own(int fd, off_t size)
{
    return is_ours(fd) ? ftruncate(fd, size) : -1;
}

static int fstat_own(int fd, struct stat *st)
{
    return is_ours(fd) ? fstat(fd, st) : -1;
}

/* A lock that cannot be had would be waited for; what it guards fails by itself. */
static int fcntl_own(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    if (is_ours(fd))
        return fcntl(fd, command, argument);
    return command == F_SETLK || command == F_SETLKW ? 0 : -1;
}

static void *mmap_own(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
    return is_ours(fd) ? mmap(at, n, protection, flags, fd, from) : MAP_FAILED;
}

static void install(void)
{
    static const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {
        {"open", (sqlite3_syscall_ptr)open_high},    {"close", (sqlite3_syscall_ptr)close_own},     {"read", (sqlite3_syscall_ptr)read_own},
        {"write", (sqlite3_syscall_ptr)write_own},   {"pread", (sqlite3_syscall_ptr)pread_own},     {"pread64", (sqlite3_syscall_ptr)pread_own},
        {"pwrite", (sqlite3_syscall_ptr)pwrite_own}, {"pwrite64", (sqlite3_syscall_ptr)pwrite_own}, {"ftruncate", (sqlite3_syscall_ptr)ftruncate_own},
        {"fstat", (sqlite3_syscall_ptr)fstat_own},   {"fcntl", (sqlite3_syscall_ptr)fcntl_own},     {"mmap", (sqlite3_syscall_ptr)mmap_own},
    };
    struct rlimit l;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < LOWEST + ROOM)
        lowest = l.rlim_cur > 2 * ROOM ? (int)l.rlim_cur - ROOM : 3;
    for (size_t i = 0; vfs && vfs->iVersion >= 3 && vfs->xSetSystemCall && i < sizeof calls / sizeof *calls; i++)
        if (!vfs->xGetSystemCall || vfs->xGetSystemCall(vfs, calls[i].name)) /* one that this SQLite does not use stays so */
            vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call);
}

void fds_move_up(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

void fds_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}
