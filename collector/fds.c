/* fds.c - SQLite opens its files through a function that can be replaced. */
#include "collector/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LOWEST = 768, ROOM = 128 };

static int lowest = LOWEST;

static int open_high(const char *path, int flags, int mode)
{
    int fd = open(path, flags | O_CLOEXEC, mode);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    int why = errno;
    if (fd >= 0 && high >= 0)
        close(fd);
    errno = why;
    return high >= 0 ? high : fd;
}

static void install(void)
{
    struct rlimit l;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < LOWEST + ROOM)
        lowest = l.rlim_cur > 2 * ROOM ? (int)l.rlim_cur - ROOM : 3;
    if (vfs && vfs->iVersion >= 3 && vfs->xSetSystemCall)
        vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_high);
}

void fds_move_up(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}
