/* bytes.c - writing and reading of packed numbers. */
#include "analyzer/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void room(struct bytes *b, size_t more)
{
    if (b->n + more > b->cap)
        b->v = array_grow(b->v, &b->cap, b->n + more, 1);
}

enum { MOST_OF_INT = 10 };

static inline uint8_t *put_int(uint8_t *to, int64_t v)
{
    uint64_t u = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
    for (; u >= 0x80; u >>= 7)
        *to++ = (uint8_t)(u | 0x80);
    *to++ = (uint8_t)u;
    return to;
}

void bytes_int(struct bytes *b, int64_t v)
{
    room(b, MOST_OF_INT);
    b->n = (size_t)(put_int(b->v + b->n, v) - b->v);
}

void bytes_text(struct bytes *b, const char *s, size_t n)
{
    bytes_int(b, (int64_t)n);
    room(b, n);
    if (n)
        memcpy(b->v + b->n, s, n);
    b->n += n;
}

void bytes_string(struct bytes *b, const char *s)
{
    bytes_int(b, s != NULL);
    if (s)
        bytes_text(b, s, strlen(s));
}

void bytes_free(struct bytes *b)
{
    free(b->v);
    *b = (struct bytes){0};
}

struct bytes bytes_pack(const struct bytes *from, int level)
{
    struct bytes to = {0};
    room(&to, ZSTD_compressBound(from->n));
    to.n = ZSTD_compress(to.v, to.cap, from->v, from->n, level);
    return to;
}

bool bytes_unpack(const void *packed, size_t n, struct bytes *out)
{
    enum { MOST_PACKED = 1 << 16 }; /* zstd packs no more bytes than so many into one */
    *out = (struct bytes){0};
    unsigned long long size = packed ? ZSTD_getFrameContentSize(packed, n) : 0;
    if (!size || size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size / MOST_PACKED > n)
        return false;
    room(out, size);
    out->n = size;
    bool ok = ZSTD_decompress(out->v, size, packed, n) == size;
    if (!ok)
        bytes_free(out);
    return ok;
}

int64_t read_int(struct reading *r)
{
    uint64_t u = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (r->at == r->n)
            break;
        uint8_t c = r->v[r->at++];
        u |= shift < 64 ? (uint64_t)(c & 0x7f) << shift : 0;
        if (!(c & 0x80))
            return (int64_t)(u >> 1 ^ (~(u & 1) + 1));
    }
    r->bad = true;
    return 0;
}

size_t read_count(struct reading *r, size_t most)
{
    int64_t n = read_int(r);
    r->bad |= n < 0 || (uint64_t)n > most;
    return r->bad ? 0 : (size_t)n;
}

const char *read_text(struct reading *r, size_t *n)
{
    *n = read_count(r, r->n - r->at);
    *n = *n <= r->n - r->at ? *n : 0;
    const char *s = (const char *)r->v + r->at;
    r->at += *n;
    return *n ? s : "";
}

const char *read_string(struct reading *r, struct arena *a)
{
    size_t n;
    if (!read_int(r))
        return NULL;
    const char *s = read_text(r, &n);
    return arena_strndup(a, s, n);
}

/* ---- fields ---- */

static uint64_t load(const void *element, struct field f)
{
    int32_t small;
    uint64_t large;
    if (f.size == sizeof small) {
        memcpy(&small, (const char *)element + f.offset, sizeof small);
        return (uint64_t)(int64_t)small;
    }
    memcpy(&large, (const char *)element + f.offset, sizeof large);
    return large;
}

static void store(void *element, struct field f, uint64_t v)
{
    int32_t small = (int32_t)v;
    if (f.size == sizeof small)
        memcpy((char *)element + f.offset, &small, sizeof small);
    else
        memcpy((char *)element + f.offset, &v, sizeof v);
}

void bytes_fields(struct bytes *b, const void *v, size_t size, const uint32_t *at, size_t n, const struct field *f)
{
    enum { AT_ONCE = 1024 };
    for (; f->size; f++) {
        uint64_t last = 0;
        for (size_t i = 0; i < n;) {
            size_t until = n - i < AT_ONCE ? n : i + AT_ONCE;
            room(b, AT_ONCE * MOST_OF_INT);
            uint8_t *to = b->v + b->n;
            for (; i < until; i++) {
                uint64_t x = load((const char *)v + size * (at ? at[i] : i), *f);
                to = put_int(to, (int64_t)(x - last));
                last = f->delta ? x : 0;
            }
            b->n = (size_t)(to - b->v);
        }
    }
}

void read_fields(struct reading *r, void *v, size_t size, const uint32_t *at, size_t n, const struct field *f)
{
    for (; f->size; f++) {
        uint64_t last = 0;
        for (size_t i = 0; i < n && !r->bad; i++) {
            uint64_t x = last + (uint64_t)read_int(r);
            store((char *)v + size * (at ? at[i] : i), *f, x);
            last = f->delta ? x : 0;
        }
    }
}
