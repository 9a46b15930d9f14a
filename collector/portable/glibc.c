/* glibc.c - the library needs no more than glibc 2.28, whatever it was built on. Linked into libcpscope.so alone.
 *
 * Functions that moved between the C library's files got a new version there (2.32 to 2.34, and 2.29 for some of libm). The
 * old ones are still there for programs built before. Each name below is defined here, hidden, as a jump to its old version;
 * whatever is linked with this file, SQLite as well, then uses that. On an old system the symbol is in libpthread or libdl,
 * which the Makefile names as needed for that reason.
 */
#include <stddef.h>

#if defined(__x86_64__)
#define BASE "GLIBC_2.2.5"
#define CLOCKS "GLIBC_2.3.3" /* pthread_condattr_setclock, dlinfo */
#define JUMP "jmp "
#define PLT "@PLT"
enum { STAT_VERSION = 1 };
#elif defined(__aarch64__)
#define BASE "GLIBC_2.17"
#define CLOCKS "GLIBC_2.17"
#define JUMP "b "
#define PLT ""
enum { STAT_VERSION = 0 };
#else
#error "which versions does the C library have here?"
#endif

#define OLD(name, version)                                                                                                                           \
    __asm__(".symver old_" #name "," #name "@" version "\n"                                                                                          \
            ".pushsection .text\n.globl " #name "\n.hidden " #name "\n.type " #name ",%function\n" #name ":\n" JUMP "old_" #name PLT                 \
            "\n.popsection");

OLD(dlclose, BASE)
OLD(dlerror, BASE)
OLD(dlinfo, CLOCKS)
OLD(dlopen, BASE)
OLD(dlsym, BASE)
OLD(exp, BASE)
OLD(log, BASE)
OLD(pow, BASE)
OLD(pthread_attr_getstack, BASE)
OLD(pthread_condattr_setclock, CLOCKS)
OLD(pthread_create, BASE)
OLD(pthread_detach, BASE)
OLD(pthread_getattr_np, BASE)
OLD(pthread_join, BASE)
OLD(pthread_key_create, BASE)
OLD(pthread_key_delete, BASE)
OLD(pthread_mutex_trylock, BASE)
OLD(pthread_mutexattr_destroy, BASE)
OLD(pthread_mutexattr_init, BASE)
OLD(pthread_mutexattr_settype, BASE)
OLD(pthread_once, BASE)
OLD(pthread_setspecific, BASE)
OLD(pthread_sigmask, BASE)

/* stat() was an inline function around these until 2.33. */
int old_xstat(int version, const char *path, void *st);
int old_fxstat(int version, int fd, void *st);
int old_lxstat(int version, const char *path, void *st);
__asm__(".symver old_xstat,__xstat@" BASE "\n.symver old_fxstat,__fxstat@" BASE "\n.symver old_lxstat,__lxstat@" BASE);

#define HIDDEN(name) __asm__(name) __attribute__((visibility("hidden")))
int by_path(const char *path, void *st) HIDDEN("stat");
int by_path64(const char *path, void *st) HIDDEN("stat64");
int by_fd(int fd, void *st) HIDDEN("fstat");
int by_fd64(int fd, void *st) HIDDEN("fstat64");
int by_link(const char *path, void *st) HIDDEN("lstat");
int by_link64(const char *path, void *st) HIDDEN("lstat64");

int by_path(const char *path, void *st)
{
    return old_xstat(STAT_VERSION, path, st);
}

int by_path64(const char *path, void *st)
{
    return old_xstat(STAT_VERSION, path, st);
}

int by_fd(int fd, void *st)
{
    return old_fxstat(STAT_VERSION, fd, st);
}

int by_fd64(int fd, void *st)
{
    return old_fxstat(STAT_VERSION, fd, st);
}

int by_link(const char *path, void *st)
{
    return old_lxstat(STAT_VERSION, path, st);
}

int by_link64(const char *path, void *st)
{
    return old_lxstat(STAT_VERSION, path, st);
}
