/* utf8.c - reading and writing UTF-8 (RFC 3629). */
#include "schemas/utf8.h"

#include <stdbool.h>

/* How many bytes follow this first one; -1: it starts no character. */
static int followers(unsigned char c)
{
    return c < 0x80 ? 0 : c < 0xc2 ? -1 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : -1;
}

static bool is_character(uint32_t c)
{
    return c && (c < 0xd800 || c >= 0xe000) && c <= 0x10ffff;
}

uint32_t utf8_get(const unsigned char *p, const unsigned char *end, int *n)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    int more = followers(*p);
    *n = 1;
    if (more < 0 || end - p <= more)
        return 0;
    uint32_t c = more ? *p & (0x3fu >> more) : *p;
    for (int i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    bool good = c >= least[more] && is_character(c);
    *n = good ? more + 1 : 1;
    return good ? c : 0;
}

size_t utf8_bytes(uint32_t c, char *to)
{
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    char *p = to;
    *p++ = (char)(lead[more] | c >> 6 * more);
    for (int left = more; left-- > 0;)
        *p++ = (char)(0x80 | (c >> 6 * left & 0x3f));
    return (size_t)more + 1;
}

char *utf8_put(char *to, uint32_t c, int64_t *bad)
{
    bool good = is_character(c);
    *bad += !good;
    return to + utf8_bytes(good ? c : 0xfffd, to);
}

uint32_t utf8_intern(struct intern *t, const char *s, size_t n, struct arena *scratch, int64_t *bad)
{
    size_t plain = 0;
    while (plain < n && s[plain] > 0)
        plain++;
    if (plain == n)
        return intern_id_n(t, s, n);
    char *text = arena_alloc(scratch, 3 * n + UTF8_MAX), *to = text; /* a bad byte takes three */
    const unsigned char *p = (const unsigned char *)s, *end = p + n;
    for (int used; p < end; p += used)
        to = utf8_put(to, utf8_get(p, end, &used), bad);
    return intern_id_n(t, text, (size_t)(to - text));
}
