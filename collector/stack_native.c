/* stack_native.c - return addresses: by frame pointers where all code on the way keeps them, else by the unwinder.
 *
 *   frame pointer -> | saved frame pointer | return address |      each saved one lies further out in the thread's own stack
 *
 * A function that keeps none is stepped over together with the address in its caller, which may be the very call site. Whether
 * a function keeps one is a property of the code, so a chain of addresses that was the unwinder's answer once is so for good:
 * each chain is compared when it is seen for the first time. A walk by frame pointers costs some 0.1 us, one by the unwinder
 * up to some 4 us (make bench).
 */
#include "collector/stack_parts.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODULES = 4096 };

struct mapping {
    uint64_t from, last;
};

/* By address; replaced as a whole under the caller's lock. `version` is odd meanwhile, and other afterwards: who looked during a
 * change notices, and takes it that nothing is known. */
static struct {
    _Atomic uint64_t from, last;
} mappings[MODULES];
static _Atomic size_t nmappings;
static _Atomic uint32_t version;

static __thread struct thread_stack bounds __attribute__((tls_model("initial-exec")));

static bool find_bounds(void)
{
    pthread_attr_t a;
    void *low;
    size_t size;
    if (bounds.high)
        return true;
    if (pthread_getattr_np(pthread_self(), &a) != 0)
        return false;
    if (pthread_attr_getstack(&a, &low, &size) == 0) {
        bounds.low = (uint64_t)(uintptr_t)low;
        bounds.high = bounds.low + size;
    }
    pthread_attr_destroy(&a);
    return bounds.high != 0;
}

/* The number of the mapping that holds the address; -1: none that is known. */
static long mapping_of(uint64_t pc)
{
    uint32_t before = atomic_load_explicit(&version, memory_order_acquire);
    size_t low = 0, n = atomic_load_explicit(&nmappings, memory_order_acquire), high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (atomic_load_explicit(&mappings[mid].last, memory_order_acquire) < pc)
            low = mid + 1;
        else
            high = mid;
    }
    bool holds = low < n && atomic_load_explicit(&mappings[low].from, memory_order_acquire) <= pc;
    bool still = !(before & 1) && atomic_load_explicit(&version, memory_order_relaxed) == before;
    return holds && still ? (long)low : -1;
}

bool native_known(uint64_t pc)
{
    return mapping_of(pc) >= 0;
}

/* The frame pointers may lead anywhere within the stack. */
__attribute__((noinline, no_sanitize("address", "thread"))) static size_t by_frame_pointers(uint64_t *pcs, size_t most)
{
    uint64_t fp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    size_t n = 0;
    if (!find_bounds())
        return 0;
    while (n < most && fp >= bounds.low && fp + 16 <= bounds.high && fp % 8 == 0) {
        const uint64_t *frame = (const uint64_t *)(uintptr_t)fp;
        if (!frame[1])
            break;
        pcs[n++] = frame[1];
        if (frame[0] <= fp)
            break;
        fp = frame[0];
    }
    return n;
}

/* Chains that were compared: which answer they got, by hash; direct mapped, so that it needs no lock. */
enum { CHAINS = 4096, WHOLE = 1, BROKEN = 2 };
static _Atomic uint64_t chains[CHAINS];

static uint64_t hash_chain(const uint64_t *pcs, size_t n)
{
    uint64_t h = n;
    for (size_t i = 1; i < n; i++) /* the first one is here */
        h = (h ^ pcs[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 32;
    return h & ~UINT64_C(3);
}

/* The unwinder goes on into the code that called the program's first function. */
static bool same_chain(const uint64_t *x, size_t nx, const uint64_t *y, size_t ny)
{
    enum { OUTER = 4, LEAST = 4 };
    return nx >= LEAST && nx <= ny && ny - nx <= OUTER && memcmp(x + 2, y + 2, (nx - 2) * sizeof *x) == 0;
}

__attribute__((noinline)) size_t native_walk(uint64_t *pcs, size_t most)
{
    uint64_t fast[NATIVE_FRAMES + 2], slow[NATIVE_FRAMES + 2], *from = fast;
    size_t nfast = by_frame_pointers(fast, NATIVE_FRAMES + 2), n = nfast;
    uint64_t hash = hash_chain(fast, n);
    _Atomic uint64_t *seen = &chains[hash >> 8 & (CHAINS - 1)];
    uint64_t known = atomic_load_explicit(seen, memory_order_relaxed);
    if (known != (hash | WHOLE)) {
        size_t nslow = unwind_walk(slow, NATIVE_FRAMES + 2, bounds);
        bool whole = known != (hash | BROKEN) && same_chain(fast, nfast, slow, nslow);
        if (known != (hash | BROKEN))
            atomic_store_explicit(seen, hash | (whole ? WHOLE : BROKEN), memory_order_relaxed);
        from = whole ? fast : slow; /* as the next time: an equal stack is the same stack */
        n = whole ? nfast : nslow;
    }
    n = n > 1 ? n - 1 : 0; /* without this function */
    n = n < most ? n : most;
    memcpy(pcs, from + 1, n * sizeof *pcs);
    return n;
}

void native_prepare(void)
{
    uint64_t v[4];
    unwind_prepare();
    unwind_walk(v, 4, (struct thread_stack){0, 0}); /* the first one may allocate */
}

/* ---- mappings ---- */

static char *read_maps(size_t *size)
{
    size_t cap = 1 << 18, n = 0;
    char *text = malloc(cap);
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; text && fd >= 0 && got > 0; n += got > 0 ? (size_t)got : 0) {
        if (cap - n < 4096) {
            char *larger = realloc(text, cap *= 2);
            if (!larger)
                free(text);
            text = larger;
        }
        got = text ? read(fd, text + n, cap - n - 1) : 0;
    }
    if (fd >= 0)
        close(fd);
    if (text)
        text[n] = '\0';
    *size = n;
    return text;
}

/* One line of maps: 55d0..-55d1.. r-xp 00002000 fe:00 1234   /usr/bin/x */
static bool take_line(const char *line, struct mapping *m, uint64_t *bias, const char **path)
{
    unsigned long long from, to, offset;
    char mode[8];
    int at = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &from, &to, mode, &offset, &at) < 4 || mode[2] != 'x')
        return false;
    *path = at && line[at] == '/' ? line + at : "";
    *m = (struct mapping){from, to - 1};
    *bias = from - offset;
    return true;
}

static void replace(const struct mapping *found, size_t n)
{
    atomic_fetch_add(&version, 1);
    for (size_t i = 0; i < n; i++) {
        atomic_store_explicit(&mappings[i].from, found[i].from, memory_order_release);
        atomic_store_explicit(&mappings[i].last, found[i].last, memory_order_release);
    }
    atomic_store_explicit(&nmappings, n, memory_order_release);
    atomic_fetch_add(&version, 1);
}

void native_modules(module_fn *fn, void *ctx)
{
    static struct mapping found[MODULES];
    size_t size, n = 0;
    char *text = read_maps(&size), *rest = text;
    for (char *line; text && n < MODULES && (line = strsep(&rest, "\n"));) {
        uint64_t bias;
        const char *path;
        if (!take_line(line, &found[n], &bias, &path))
            continue;
        long old = mapping_of(found[n].from);
        if (*path && (old < 0 || mappings[old].from != found[n].from || mappings[old].last != found[n].last))
            fn(ctx, found[n].from, found[n].last, bias, path);
        n++;
    }
    free(text);
    replace(found, n);
}

bool native_same(uint64_t pc, uint64_t other)
{
    long m = mapping_of(pc);
    return m >= 0 && m == mapping_of(other);
}

void native_forget(void)
{
    atomic_store(&nmappings, 0);
    unwind_forked();
}
