/* glyph.c - what acts, and the widths of characters without a locale. */
#include "reports/glyph.h"
#include "schemas/utf8.h"

#include <string.h>

size_t glyph_next(const char *s, uint32_t *cp)
{
    const unsigned char *p = (const unsigned char *)s;
    int n;
    uint32_t c = utf8_get(p, p + strnlen(s, UTF8_MAX), &n);
    *cp = c ? c : GLYPH_BAD;
    return (size_t)n;
}

struct range {
    uint32_t first, last;
};

static bool within(uint32_t cp, const struct range *r)
{
    for (; r->last; r++)
        if (cp >= r->first && cp <= r->last)
            return true;
    return false;
}

bool glyph_acts(uint32_t cp)
{
    static const struct range acts[] = {
        {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E}, {0x200B, 0x200F},   {0x2028, 0x202E},
        {0x2060, 0x206F}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF}, {0},
    };
    return within(cp, acts);
}

int glyph_width(uint32_t cp)
{
    static const struct range none[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x1AB0, 0x1AFF},
                                        {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}, {0}};
    static const struct range wide[] = {
        {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xA960, 0xA97C},
        {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
        {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}, {0},
    };
    return within(cp, none) ? 0 : within(cp, wide) ? 2 : 1;
}

static int columns_of(const char *s)
{
    int all = 0;
    for (uint32_t cp; *s; all += glyph_acts(cp) ? 1 : glyph_width(cp))
        s += glyph_next(s, &cp);
    return all;
}

int glyph_line(const char *s, int columns, char *buf, size_t size)
{
    size_t at = 0;
    int used = 0;
    bool cut = columns_of(s) > columns;
    while (*s) {
        uint32_t cp;
        s += glyph_next(s, &cp);
        if (glyph_acts(cp) || cp == GLYPH_BAD)
            cp = '?';
        int w = glyph_width(cp);
        bool full = at + 8 > size;
        if (full || (cut && used + w > columns - 1)) {
            memcpy(buf + at, "\u2026", 3);
            at += 3;
            used++;
            break;
        }
        at += utf8_bytes(cp, buf + at);
        used += w;
    }
    buf[at] = 0;
    return used;
}

int glyph_middle(const char *s, int columns, char *buf, size_t size)
{
    int all = columns_of(s), tail = columns * 2 / 3;
    if (all <= columns)
        return glyph_line(s, columns, buf, size);
    int used = glyph_line(s, columns - tail, buf, size);
    size_t at = strlen(buf);
    for (uint32_t cp; all > tail; all -= glyph_acts(cp) ? 1 : glyph_width(cp))
        s += glyph_next(s, &cp);
    return at + 8 > size ? used : used + glyph_line(s, tail, buf + at, size - at);
}
