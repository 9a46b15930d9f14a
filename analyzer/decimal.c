/* decimal.c - decimal text to integers.
 *
 *     1 7 0 0 . 1 2 5 5 e 2        digits behind the point move by exponent + shift; what is left of the new point is
 *     whole     fraction  exp      the value, what is right of it decides the rounding
 */
#include "analyzer/decimal.h"

struct parts {
    const char *whole, *fraction; /* digits */
    size_t nwhole, nfraction;
    int64_t exponent;
    bool negative, counts_thousandths; /* "-0.-12" */
};

static size_t digits(const char *s, const char *end)
{
    const char *p = s;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return (size_t)(p - s);
}

/* v * 10 + d, false when that leaves int64. */
static bool push(int64_t *v, int d)
{
    return !__builtin_mul_overflow(*v, 10, v) && !__builtin_add_overflow(*v, d, v);
}

static bool take_exponent(const char *p, const char *end, int64_t *exponent)
{
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    size_t n = digits(p, end);
    if (n == 0 || n > 6 || p + n != end)
        return false;
    int64_t v = 0;
    for (size_t i = 0; i < n; i++)
        push(&v, p[i] - '0');
    *exponent = negative ? -v : v;
    return true;
}

static bool split(const char *s, size_t n, struct parts *x)
{
    const char *p = s, *end = s + n;
    *x = (struct parts){.negative = n && *s == '-'};
    p += n && (*s == '-' || *s == '+');
    x->whole = p;
    p += x->nwhole = digits(p, end);
    x->fraction = p;
    if (p < end && *p == '.') {
        x->counts_thousandths = p + 1 < end && p[1] == '-';
        x->fraction = p += 1 + x->counts_thousandths;
        p += x->nfraction = digits(p, end);
    }
    if (x->nwhole + x->nfraction == 0)
        return false;
    return p == end || ((*p == 'e' || *p == 'E') && take_exponent(p + 1, end, &x->exponent));
}

static int digit_at(const struct parts *x, int64_t i)
{
    int64_t nwhole = (int64_t)x->nwhole;
    return i < nwhole ? x->whole[i] - '0' : i < nwhole + (int64_t)x->nfraction ? x->fraction[i - nwhole] - '0' : 0;
}

/* Does what is right of digit `keep` round `v` up? */
static bool rounds_up(const struct parts *x, int64_t keep, int64_t v)
{
    int64_t n = (int64_t)(x->nwhole + x->nfraction);
    int first = keep < 0 ? 0 : digit_at(x, keep);
    if (first != 5)
        return first > 5;
    for (int64_t i = keep + 1; i < n; i++)
        if (digit_at(x, i))
            return true;
    return v % 2 != 0;
}

static bool scale(const struct parts *x, int64_t keep, int64_t *value)
{
    int64_t v = 0, n = (int64_t)(x->nwhole + x->nfraction);
    for (int64_t i = 0; i < keep; i++) {
        if (i >= n && v == 0)
            break; /* zeros times a power of ten */
        if (!push(&v, digit_at(x, i)))
            return false;
    }
    if (rounds_up(x, keep, v) && __builtin_add_overflow(v, 1, &v))
        return false;
    *value = x->negative ? -v : v;
    return true;
}

/* "-5.-012": -5 and 12 thousandths below it. */
static bool thousandths(const struct parts *x, int shift, int64_t *value)
{
    int64_t whole, part;
    bool ok = shift == 3 && !x->exponent && decimal_int(x->whole, x->nwhole, &whole) && decimal_int(x->fraction, x->nfraction, &part) &&
              !__builtin_mul_overflow(whole, 1000, &whole) && !__builtin_add_overflow(whole, part, &whole);
    if (ok)
        *value = -whole;
    return ok;
}

bool decimal_scaled(const char *s, size_t n, int shift, int64_t *value)
{
    struct parts x;
    if (!split(s, n, &x))
        return false;
    if (x.counts_thousandths)
        return thousandths(&x, shift, value);
    return scale(&x, (int64_t)x.nwhole + x.exponent + shift, value);
}

bool decimal_int(const char *s, size_t n, int64_t *value)
{
    bool negative = n && *s == '-';
    size_t i = negative;
    int64_t v = 0;
    if (i == n || digits(s + i, s + n) != n - i)
        return false;
    for (; i < n; i++)
        if (!push(&v, s[i] - '0'))
            return false;
    *value = negative ? -v : v;
    return true;
}

bool decimal_whole(const char *s, size_t n, int64_t *value)
{
    struct parts x;
    if (decimal_int(s, n, value))
        return true;
    if (!split(s, n, &x) || x.counts_thousandths)
        return false;
    int64_t keep = (int64_t)x.nwhole + x.exponent, all = (int64_t)(x.nwhole + x.nfraction);
    for (int64_t i = keep > 0 ? keep : 0; i < all; i++)
        if (digit_at(&x, i))
            return false;
    return scale(&x, keep, value);
}
