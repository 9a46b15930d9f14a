/* text.c - open addressing over atomic pointers. A full table is replaced by a larger one; readers may still be in the old
 * one, so it stays (all old ones together are smaller than the new one). */
#include "collector/text.h"
#include "schemas/utf8.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <xxhash.h>

enum { FIRST_SLOTS = 1 << 12, BYTES_MAX = 64 << 20 };

struct text {
    uint64_t hash;
    size_t n;
    char s[];
};

struct texts {
    struct texts *older; /* somebody may still read in it */
    size_t nslots, used;
    _Atomic(struct text *) slots[];
};

static _Atomic(struct texts *) texts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t bytes;
static const char full[] = "(a name that was not kept: 64 MB of different names)";

/* The text, or the free slot where it belongs (in *at). */
static struct text *find(struct texts *t, uint64_t hash, const char *s, size_t n, size_t *at)
{
    for (size_t i = hash & (t->nslots - 1);; i = (i + 1) & (t->nslots - 1)) {
        struct text *x = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        *at = i;
        if (!x || (x->hash == hash && x->n == n && memcmp(x->s, s, n) == 0))
            return x;
    }
}

static struct texts *grow(struct texts *old)
{
    size_t n = old ? old->nslots * 2 : FIRST_SLOTS, at;
    struct texts *t = calloc(1, sizeof *t + n * sizeof t->slots[0]);
    if (!t)
        return NULL;
    t->older = old;
    t->nslots = n;
    for (size_t i = 0; old && i < old->nslots; i++) {
        struct text *x = atomic_load(&old->slots[i]);
        if (!x)
            continue;
        find(t, x->hash, x->s, x->n, &at);
        atomic_store(&t->slots[at], x);
        t->used++;
    }
    atomic_store_explicit(&texts, t, memory_order_release);
    return t;
}

static const char *add(uint64_t hash, const char *s, size_t n)
{
    size_t at;
    struct texts *t = atomic_load(&texts);
    if (!t || (t->used + 1) * 2 > t->nslots)
        t = grow(t);
    struct text *x = t ? find(t, hash, s, n, &at) : NULL;
    if (!t || x)
        return x ? x->s : full;
    x = bytes + n < BYTES_MAX ? malloc(sizeof *x + n + 1) : NULL;
    if (!x)
        return full;
    *x = (struct text){hash, n};
    memcpy(x->s, s, n);
    x->s[n] = '\0';
    bytes += n;
    t->used++;
    atomic_store_explicit(&t->slots[at], x, memory_order_release);
    return x->s;
}

const char *text_keep_n(const char *s, size_t n)
{
    size_t at;
    uint64_t hash = XXH3_64bits(s, n);
    struct texts *t = atomic_load_explicit(&texts, memory_order_acquire);
    struct text *x = t ? find(t, hash, s, n, &at) : NULL;
    if (x)
        return x->s;
    int saved = errno;
    pthread_mutex_lock(&lock);
    const char *kept = add(hash, s, n);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return kept;
}

/* Most texts are literals, which come again and again from the same address; but what stands there may have changed. */
const char *text_keep(const char *s)
{
    enum { LATELY = 8 };
    static __thread struct {
        const char *s, *kept;
    } lately[LATELY] __attribute__((tls_model("initial-exec")));
    size_t i = ((uintptr_t)s ^ (uintptr_t)s >> 4) % LATELY;
    if (!s)
        return NULL;
    if (lately[i].s != s || strcmp(lately[i].kept, s) != 0) {
        lately[i].kept = text_keep_n(s, strlen(s));
        lately[i].s = s;
    }
    return lately[i].kept;
}

const char *text_keep_wide(const wchar_t *s)
{
    char buf[4096], *end = buf;
    int64_t bad = 0;
    if (!s)
        return NULL;
    for (; *s && end + UTF8_MAX < buf + sizeof buf; s++)
        end = utf8_put(end, (uint32_t)*s, &bad);
    return text_keep_n(buf, (size_t)(end - buf));
}

void text_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}
