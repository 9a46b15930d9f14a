/* json_text.c - escapes, numbers, small arrays. */
#include "analyzer/json_text.h"
#include "analyzer/decimal.h"
#include "schemas/utf8.h"

#include <string.h>

struct writer {
    char *p;
    int64_t bad;
};

static void put_code(struct writer *w, uint32_t c)
{
    w->p = utf8_put(w->p, c, &w->bad);
}

static bool hex4(const char *p, const char *end, uint32_t *c)
{
    *c = 0;
    for (int i = 0; i < 4; i++, p++) {
        int d = p >= end ? -1 : *p >= '0' && *p <= '9' ? *p - '0' : (*p | 32) >= 'a' && (*p | 32) <= 'f' ? (*p | 32) - 'a' + 10 : -1;
        if (d < 0)
            return false;
        *c = *c << 4 | (uint32_t)d;
    }
    return true;
}

/* p behind "\u"; gives the byte behind the escape, NULL when it is none. */
static const char *unicode(struct writer *w, const char *p, const char *end)
{
    uint32_t c, low;
    if (!hex4(p, end, &c))
        return NULL;
    p += 4;
    if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
        p += 6;
    }
    put_code(w, c);
    return p;
}

/* p at a backslash. */
static const char *escape(struct writer *w, const char *p, const char *end)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = p + 1 < end && p[1] ? strchr(from, p[1]) : NULL;
    const char *behind = p + 1 < end && p[1] == 'u' ? unicode(w, p + 2, end) : NULL;
    if (behind)
        return behind;
    *w->p++ = at ? to[at - from] : '\\';
    return p + (at ? 2 : 1);
}

const char *json_text(const struct json_value *v, struct arena *a, size_t *n, int64_t *bad)
{
    bool has_text = v->type == JSON_STRING || v->type == JSON_NUMBER || v->type == JSON_WORD;
    *n = has_text ? v->n : 0;
    if (!v->raw || !has_text)
        return has_text ? v->s : "";
    char *text = arena_alloc(a, 3 * (size_t)v->n + UTF8_MAX); /* a bad byte takes three */
    struct writer w = {text, 0};
    for (const char *p = v->s, *end = p + v->n; p < end;) {
        int used;
        if (*p == '\\') {
            p = escape(&w, p, end);
            continue;
        }
        put_code(&w, utf8_get((const unsigned char *)p, (const unsigned char *)end, &used));
        p += used;
    }
    *n = (size_t)(w.p - text);
    if (bad)
        *bad += w.bad;
    return text;
}

uint32_t json_intern(const struct json_value *v, struct intern *t, struct arena *scratch, int64_t *bad)
{
    size_t n;
    const char *text = json_text(v, scratch, &n, bad);
    return intern_id_n(t, text, n);
}

int64_t json_int(const struct json_value *v, int64_t none)
{
    int64_t i;
    bool may = v->type == JSON_NUMBER || v->type == JSON_STRING;
    return may && decimal_whole(v->s, v->n, &i) ? i : none;
}

static const int64_t TEXTS = -(INT64_C(1) << 40); /* no process or thread has such a number */

int64_t json_id(const struct json_value *v, struct intern *t, struct arena *scratch)
{
    int64_t n = json_int(v, INT64_MIN);
    uint32_t text = n == INT64_MIN && v->type == JSON_STRING ? json_intern(v, t, scratch, NULL) : 0;
    return text ? TEXTS - (int64_t)text : n < TEXTS ? -1 : n;
}

uint32_t json_id_text(int64_t id)
{
    return id < TEXTS && id >= TEXTS - UINT32_MAX ? (uint32_t)(TEXTS - id) : 0;
}

bool json_scaled(const struct json_value *v, int shift, int64_t *to)
{
    return (v->type == JSON_NUMBER || v->type == JSON_STRING) && decimal_scaled(v->s, v->n, shift, to);
}

void json_ints(const struct json_value *v, int32_t *to, size_t n)
{
    if (v->type != JSON_ARRAY)
        return;
    const char *p = v->s + 1, *end = v->s + v->n - 1;
    for (size_t i = 0; i < n && p < end; i++) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        p = json_space(p);
        const char *last = stop;
        while (last > p && (unsigned char)last[-1] <= ' ')
            last--;
        int64_t x;
        if (p < last && decimal_whole(p, (size_t)(last - p), &x) && x >= 0 && x <= INT32_MAX)
            to[i] = (int32_t)x;
        p = stop + 1;
    }
}

bool json_is(const struct json_value *v, const char *text)
{
    return (v->type == JSON_STRING || v->type == JSON_WORD) && strlen(text) == v->n && memcmp(v->s, text, v->n) == 0;
}
