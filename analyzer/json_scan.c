/* json_scan.c - the tokenizer.
 *
 * Why not yajl, the library that reads JSON elsewhere in this project? On a trace of 300 MB yajl with callbacks that do
 * nothing takes 1.5 times the CPU time of the whole import through this tokenizer (0.79 s, 378 MB/s, against 0.53 s), and
 * it gives up at NaN and at raw control characters. Strings are looked at 16 bytes at a time, and keys that nobody wants are only skipped.
 */
#include "analyzer/json_scan.h"
#include "analyzer/json_text.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const char *stop(struct json_scan *s, const char *p, const char *why)
{
    s->more = p >= s->end;
    if (!s->more && !s->bad) {
        s->bad = why;
        s->bad_at = p;
    }
    return NULL;
}

static unsigned key_hash(const char *s, size_t n)
{
    return n ? ((unsigned)n * 37u + (unsigned char)s[0] * 5u + (unsigned char)s[n / 2] * 11u + (unsigned char)s[n - 1] * 17u) & 255u : 0;
}

void json_keys_init(struct json_keys *k, const struct json_key *rows)
{
    memset(k, 0, sizeof *k);
    k->rows = rows;
    for (unsigned i = 0; rows[i].name; i++) {
        unsigned h = key_hash(rows[i].name, strlen(rows[i].name));
        while (k->at[h])
            h = (h + 1) & 255u;
        k->at[h] = (uint8_t)(i + 1);
    }
}

const struct json_key *json_keys_find(const struct json_keys *k, const char *s, size_t n)
{
    for (unsigned h = key_hash(s, n); k->at[h]; h = (h + 1) & 255u) {
        const struct json_key *r = &k->rows[k->at[h] - 1];
        if (strlen(r->name) == n && memcmp(r->name, s, n) == 0) /* a key may hold NUL */
            return r;
    }
    return NULL;
}

/* The first byte from p on that ends or marks a string: quote, backslash, control character. *raw collects bytes >= 0x80. */
static inline const char *string_stop(const char *p, bool *raw)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), last = _mm_set1_epi8(0x1f);
    for (;; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash));
        hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(x, last), x));
        unsigned hits = (unsigned)_mm_movemask_epi8(hit), high = (unsigned)_mm_movemask_epi8(x);
        if (hits) {
            unsigned i = (unsigned)__builtin_ctz(hits);
            *raw |= (high & ((1u << i) - 1)) != 0;
            return p + i;
        }
        *raw |= high != 0;
    }
#else
    for (; (unsigned char)*p > 0x1f && *p != '"' && *p != '\\'; p++)
        *raw |= (unsigned char)*p >= 0x80;
    return p;
#endif
}

static bool is_hex(const char *p, int n)
{
    for (; n > 0; n--, p++)
        if (!((*p >= '0' && *p <= '9') || ((*p | 32) >= 'a' && (*p | 32) <= 'f')))
            return false;
    return true;
}

/* p at a backslash: how long the escape is; 1 where it escapes nothing and stands for itself. */
static int escape_length(const char *p)
{
    if (p[1] == 'u')
        return is_hex(p + 2, 4) ? 6 : 1;
    return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 1;
}

const char *json_string(struct json_scan *s, const char *p, struct json_value *v)
{
    bool raw = false;
    const char *q = p + 1;
    for (;;) {
        q = string_stop(q, &raw);
        if (*q == '"')
            break;
        if (q >= s->end)
            return stop(s, s->end, NULL);
        raw = true;
        if (*q == '\\') {
            if (s->end - q < 6 && memchr(q, '"', (size_t)(s->end - q)) == NULL)
                return stop(s, s->end, NULL); /* the escape may be cut */
            int n = escape_length(q);
            s->repairs.backslashes += n == 1;
            q += n;
        } else {
            s->repairs.controls++;
            q++;
        }
    }
    if (q - p > UINT32_MAX)
        return stop(s, p, "a string of over 4 GB");
    *v = (struct json_value){p + 1, (uint32_t)(q - p - 1), JSON_STRING, raw};
    return q + 1;
}

/* Bytes of numbers and bare words. */
static const bool is_word[256] = {
    ['0' ... '9'] = true, ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['-'] = true, ['+'] = true, ['.'] = true, ['_'] = true, ['/'] = true};

static bool beyond_int64(const char *p, size_t n)
{
    bool negative = *p == '-';
    p += negative, n -= negative;
    for (size_t i = 0; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return n > 19 || (n == 19 && memcmp(p, "9223372036854775807", 19) > 0);
}

static bool is_literal(const char *p, size_t n)
{
    return (n == 4 && (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0)) || (n == 5 && memcmp(p, "false", 5) == 0);
}

static const char *word(struct json_scan *s, const char *p, struct json_value *v)
{
    const char *q = p;
    while (is_word[(unsigned char)*q])
        q++;
    size_t n = (size_t)(q - p);
    if (q >= s->end)
        return stop(s, s->end, NULL);
    if (n == 0)
        return stop(s, p, "a value is missing");
    char first = p[*p == '-' && n > 1];
    *v = (struct json_value){p, (uint32_t)n, first >= '0' && first <= '9' ? JSON_NUMBER : JSON_WORD, false};
    if (v->type == JSON_NUMBER)
        s->repairs.integers += n >= 19 && beyond_int64(p, n);
    else
        s->repairs.words += !is_literal(p, n);
    return q;
}

/* Brackets that are open. */
struct nest {
    int depth;
    char closer[JSON_DEPTH];
};

static const char *bracket(struct json_scan *s, const char *p, struct nest *n)
{
    if (*p == '[' || *p == '{') {
        if (n->depth == JSON_DEPTH)
            return stop(s, p, "nested too deeply");
        n->closer[n->depth++] = *p == '[' ? ']' : '}';
        return p + 1;
    }
    return *p == n->closer[--n->depth] ? p + 1 : stop(s, p, "brackets do not match");
}

static bool is_bracket(char c)
{
    return c == '[' || c == '{' || c == ']' || c == '}';
}

/* p at '[' or '{': over everything inside, without a look at its grammar but for the brackets. */
static const char *nested(struct json_scan *s, const char *p, struct json_value *v)
{
    struct nest n;
    const char *from = p;
    struct json_value skipped;
    n.depth = 0;
    do {
        p = json_space(p);
        if (is_bracket(*p))
            p = bracket(s, p, &n);
        else if (*p == ',' || *p == ':')
            p++;
        else
            p = *p == '"' ? json_string(s, p, &skipped) : word(s, p, &skipped);
        if (!p)
            return NULL;
    } while (n.depth);
    *v = (struct json_value){from, (uint32_t)(p - from), *from == '[' ? JSON_ARRAY : JSON_OBJECT, false};
    return p;
}

const char *json_value(struct json_scan *s, const char *p, struct json_value *v)
{
    switch (*p) {
    case '"':
        return json_string(s, p, v);
    case '{':
    case '[':
        return nested(s, p, v);
    default:
        return word(s, p, v);
    }
}

/* A key may be written with escapes: "\u0070h". */
static const struct json_key *find_key(const struct json_keys *k, const struct json_value *name)
{
    struct arena a = {0};
    const char *s = name->s;
    size_t n = name->n;
    bool escaped = name->raw && memchr(s, '\\', n);
    if (escaped)
        s = json_text(name, &a, &n, NULL);
    const struct json_key *row = json_keys_find(k, s, n);
    if (escaped)
        arena_free(&a);
    return row;
}

/* The value of a key whose row may be NULL: kept, looked into, or skipped. */
static const char *member(struct json_scan *s, const char *p, const struct json_key *k, struct json_value *values)
{
    struct json_value skipped;
    if (k && k->inside && *p == '{')
        return json_object(s, p, k->inside, values);
    struct json_value *v = k && !k->inside ? &values[k->slot] : &skipped;
    const char *behind = json_value(s, p, v);
    s->escaped |= behind && v != &skipped && v->raw && v->n <= JSON_WORD_MAX && memchr(v->s, '\\', v->n);
    return behind;
}

const char *json_object(struct json_scan *s, const char *p, const struct json_keys *keys, struct json_value *values)
{
    for (p = json_space(p + 1); *p != '}'; p = json_space(p)) {
        struct json_value name;
        if (*p == ',') {
            p++;
            continue;
        }
        if (*p != '"')
            return stop(s, p, "expected a key in quotes");
        if (!(p = json_string(s, p, &name)))
            return NULL;
        p = json_space(p);
        if (*p != ':')
            return stop(s, p, "expected ':' behind a key");
        p = member(s, json_space(p + 1), find_key(keys, &name), values);
        if (!p)
            return NULL;
    }
    return p + 1;
}
