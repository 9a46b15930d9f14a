/* pb.c - see pb.h. */
#include "analyzer/pb.h"
#include "schemas/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, VARINT_MAX = 10 };

void pb_clear(struct pb *m)
{
    m->n = 0;
}

void pb_free(struct pb *m)
{
    free(m->p);
    *m = (struct pb){0};
}

static char *room(struct pb *m, size_t n)
{
    if (m->n + n > m->cap)
        m->p = array_grow(m->p, &m->cap, m->n + n, 1);
    return m->p + m->n;
}

static void varint(struct pb *m, uint64_t v)
{
    char *to = room(m, VARINT_MAX);
    for (; v >= 0x80; v >>= 7, m->n++)
        *to++ = (char)(v | 0x80);
    *to = (char)v;
    m->n++;
}

void pb_uint(struct pb *m, uint32_t field, uint64_t v)
{
    varint(m, field << 3 | VARINT);
    varint(m, v);
}

void pb_fixed64(struct pb *m, uint32_t field, uint64_t v)
{
    varint(m, field << 3 | FIXED64);
    char *to = room(m, 8);
    for (int i = 0; i < 8; i++)
        to[i] = (char)(v >> 8 * i);
    m->n += 8;
}

void pb_bytes(struct pb *m, uint32_t field, const void *s, size_t n)
{
    varint(m, field << 3 | BYTES);
    varint(m, n);
    memcpy(room(m, n + 1), s, n);
    m->n += n;
}

void pb_text(struct pb *m, uint32_t field, const char *s)
{
    size_t n = strlen(s);
    char *text = malloc(3 * n + UTF8_MAX), *to = text;
    const unsigned char *p = (const unsigned char *)s, *end = p + n;
    int64_t bad = 0;
    if (!text)
        return;
    for (int used; p < end; p += used)
        to = utf8_put(to, utf8_get(p, end, &used), &bad);
    pb_bytes(m, field, text, (size_t)(to - text));
    free(text);
}

void pb_message(struct pb *m, uint32_t field, const struct pb *inner)
{
    pb_bytes(m, field, inner->p ? inner->p : "", inner->n);
}

void pb_append(struct pb *m, const struct pb *fields)
{
    if (fields->n)
        memcpy(room(m, fields->n), fields->p, fields->n);
    m->n += fields->n;
}
