/* pool.c - a stack of free chunks; the tag in its head tells a chunk that left and came back from one that stayed. */
#include "collector/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LEAST = 1 << 20, GROUP = 16, AHEAD = 256 };

static bool reserve(struct pool *p, size_t bytes)
{
    size_t want = bytes < CHUNK_BYTES ? CHUNK_BYTES : bytes / CHUNK_BYTES * CHUNK_BYTES;
    for (; !p->base; want /= 2) {
        void *m = mmap(NULL, want + CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (m != MAP_FAILED) {
            p->base = m;
            p->limit = want / CHUNK_BYTES;
        } else if (want <= LEAST)
            return false;
    }
    return true;
}

/* Zeros in bytes from .. to of the file. A signal would come of a limit of its size, and of a full disk at a later write into
 * the map. They are written, not only promised: to touch a page that is in memory costs a small part of touching one that is not;
 * and many at a time, so that the kernel takes large pages: from one page that stays in the cache. */
static int allocate(int fd, off_t from, off_t to)
{
    enum { ZEROS = 4096, PIECES = 64 };
    static const char zeros[ZEROS];
    struct iovec v[PIECES];
    struct rlimit l;
    if (getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur != RLIM_INFINITY && (rlim_t)to > l.rlim_cur)
        return EFBIG;
    while (from < to) {
        int n = 0;
        for (off_t left = to - from; n < PIECES && left > 0; n++, left -= ZEROS)
            v[n] = (struct iovec){(void *)zeros, left < ZEROS ? (size_t)left : ZEROS};
        ssize_t wrote = pwritev(fd, v, n, from);
        if (wrote < 0 && errno != EINTR)
            return errno;
        from += wrote > 0 ? wrote : 0;
    }
    return 0;
}

/* Puts the file under bytes from .. to of the pool. */
static int back(struct pool *p, int fd, off_t from, off_t to)
{
    int why = allocate(fd, from, to);
    if (why)
        return why;
    void *at = (char *)p->base + from;
    return mmap(at, (size_t)(to - from), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, from) == MAP_FAILED ? errno : 0;
}

static void plain_from_here(struct pool *p, int why)
{
    free(p->path);
    p->path = NULL;
    p->why = why;
    atomic_store_explicit(&p->backed, (uint32_t)p->limit, memory_order_release);
}

/* The next GROUP chunks may be used. Under the lock. */
static void grow(struct pool *p)
{
    uint32_t n = atomic_load(&p->backed), to = n + GROUP < p->limit ? n + GROUP : (uint32_t)p->limit;
    struct stat st;
    int fd = open(p->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW), why = fd < 0 ? errno : 0;
    if (!why && (fstat(fd, &st) != 0 || st.st_dev != p->device || st.st_ino != p->inode))
        why = ESTALE;
    why = why ? why : back(p, fd, (off_t)(n + 1) * CHUNK_BYTES, (off_t)(to + 1) * CHUNK_BYTES);
    if (fd >= 0)
        close(fd);
    if (why)
        plain_from_here(p, why);
    else
        atomic_store_explicit(&p->backed, to, memory_order_release);
}

static int make_file(struct pool *p, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666), why = fd < 0 ? errno : 0;
    if (fd < 0)
        return why;
    uint32_t n = p->limit < GROUP ? (uint32_t)p->limit : GROUP;
    why = fstat(fd, &st) != 0 ? errno : back(p, fd, 0, (off_t)(n + 1) * CHUNK_BYTES);
    close(fd);
    if (why || !(p->path = strdup(path))) {
        unlink(path);
        return why ? why : ENOMEM;
    }
    p->device = st.st_dev;
    p->inode = st.st_ino;
    atomic_store(&p->backed, n);
    return 0;
}

bool pool_open(struct pool *p, size_t bytes, const char *path)
{
    *p = (struct pool){.lock = PTHREAD_MUTEX_INITIALIZER};
    if (!reserve(p, bytes))
        return false;
    int why = path ? make_file(p, path) : 0;
    if (why || !path)
        plain_from_here(p, why);
    return true;
}

void pool_close(struct pool *p)
{
    if (p->base)
        munmap(p->base, (p->limit + 1) * CHUNK_BYTES);
    free(p->path);
    *p = (struct pool){0};
}

static struct chunk *chunk_at(struct pool *p, uint32_t number)
{
    return (struct chunk *)((char *)p->base + ((size_t)number + 1) * CHUNK_BYTES);
}

static void grow_beyond(struct pool *p, uint32_t n)
{
    int saved = errno;
    pthread_mutex_lock(&p->lock);
    if (n >= atomic_load(&p->backed))
        grow(p);
    pthread_mutex_unlock(&p->lock);
    errno = saved;
}

void pool_ahead(struct pool *p)
{
    uint32_t used = atomic_load_explicit(&p->fresh, memory_order_relaxed), want = used + (used < AHEAD ? used : AHEAD), backed;
    want = want < p->limit ? want : (uint32_t)p->limit;
    while ((backed = atomic_load_explicit(&p->backed, memory_order_relaxed)) < want)
        grow_beyond(p, backed);
}

static struct chunk *take_fresh(struct pool *p)
{
    uint32_t n = atomic_load_explicit(&p->fresh, memory_order_relaxed);
    do {
        if (n >= p->limit)
            return NULL;
        if (n >= atomic_load_explicit(&p->backed, memory_order_acquire))
            grow_beyond(p, n);
    } while (!atomic_compare_exchange_weak_explicit(&p->fresh, &n, n + 1, memory_order_relaxed, memory_order_relaxed));
    struct chunk *c = chunk_at(p, n);
    c->number = n;
    return c;
}

static struct chunk *take(struct pool *p)
{
    uint64_t head = atomic_load_explicit(&p->head, memory_order_acquire);
    while ((uint32_t)head) {
        struct chunk *c = chunk_at(p, (uint32_t)head - 1);
        uint64_t tag = (head >> 32) + 1;
        uint64_t next = tag << 32 | atomic_load_explicit(&c->next_free, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&p->head, &head, next, memory_order_acquire, memory_order_acquire))
            return c;
    }
    return take_fresh(p);
}

struct chunk *pool_take(struct pool *p, uint32_t ring, int64_t base)
{
    struct chunk *c = take(p);
    if (!c)
        return NULL;
    atomic_store_explicit(&c->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&c->used, 0, memory_order_relaxed);
    c->base = base;
    atomic_store_explicit(&c->ring, ring, memory_order_release); /* whoever finds the file from now on sees an empty chunk of it */
    return c;
}

void pool_give(struct pool *p, struct chunk *c)
{
    uint64_t head = atomic_load_explicit(&p->head, memory_order_relaxed), next;
    atomic_store_explicit(&c->ring, RING_FREE_CHUNK, memory_order_release);
    do {
        atomic_store_explicit(&c->next_free, (uint32_t)head, memory_order_relaxed);
        next = ((head >> 32) + 1) << 32 | (c->number + 1);
    } while (!atomic_compare_exchange_weak_explicit(&p->head, &head, next, memory_order_release, memory_order_relaxed));
}

bool chunks_more(struct chunks *c, struct pool *p, uint32_t ring)
{
    struct chunk *next = pool_take(p, ring, c->total + c->at);
    if (!next)
        return false;
    if (c->write)
        atomic_store_explicit(&c->write->next, next, memory_order_release);
    else
        atomic_store_explicit(&c->first, next, memory_order_release);
    c->total += c->at;
    c->write = next;
    c->at = 0;
    return true;
}

size_t pool_peak(const struct pool *p)
{
    return (size_t)atomic_load_explicit(&p->fresh, memory_order_relaxed) * CHUNK_BYTES;
}
