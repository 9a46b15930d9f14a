/* human.c - integers are scaled as integers: no rounding but the last one. */
#include "reports/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *grouped(uint64_t n, char buf[HUMAN_SIZE])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = 0;
    return buf;
}

static uint64_t magnitude(int64_t n)
{
    return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

const char *human_count(int64_t n, char buf[HUMAN_SIZE])
{
    char rest[HUMAN_SIZE];
    snprintf(buf, HUMAN_SIZE, "%s%.*s", n < 0 ? "-" : "", HUMAN_SIZE - 2, grouped(magnitude(n), rest));
    return buf;
}

static const char *scaled(int64_t n, int64_t thousandth, char buf[HUMAN_SIZE])
{
    uint64_t m = magnitude(n), t = (uint64_t)thousandth, q = m / t + (m % t >= t / 2 + t % 2);
    char whole[HUMAN_SIZE];
    if (n && !q)
        snprintf(buf, HUMAN_SIZE, n < 0 ? ">-0.001" : "<0.001");
    else
        snprintf(buf, HUMAN_SIZE, "%s%.*s.%03u", n < 0 ? "-" : "", HUMAN_SIZE - 8, grouped(q / 1000, whole), (unsigned)(q % 1000));
    return buf;
}

static struct human unit_bytes(int64_t largest)
{
    if (largest < 10000)
        return (struct human){UNIT_BYTES, 0, "B", true, true};
    if (largest < 10000000)
        return (struct human){UNIT_BYTES, 1, "kB", true, true};
    if (largest < INT64_C(10000000000))
        return (struct human){UNIT_BYTES, 1000, "MB", true, true};
    return (struct human){UNIT_BYTES, 1000000, "GB", true, true};
}

struct human human_time(int64_t largest)
{
    if (largest < 1000000)
        return (struct human){UNIT_NS, 1, "us", true, true};
    if (largest < INT64_C(100000000000))
        return (struct human){UNIT_NS, 1000, "ms", true, true};
    return (struct human){UNIT_NS, 1000000, "s", true, true};
}

const char *human_ns(int64_t ns, char buf[HUMAN_SIZE])
{
    struct human h = human_time(ns < 0 ? (int64_t)magnitude(ns + (ns == INT64_MIN)) : ns);
    char number[HUMAN_SIZE];
    snprintf(buf, HUMAN_SIZE, "%.*s %s", HUMAN_SIZE - 4, scaled(ns, h.thousandth, number), h.symbol);
    return buf;
}

const char *human_brief(int64_t ns, char buf[HUMAN_SIZE])
{
    static const struct {
        double size;
        const char *symbol;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t u = 0;
    double m = fabs((double)ns);
    while (u < 3 && m < 0.9995 * units[u].size)
        u++;
    double v = (double)ns / units[u].size;
    int decimals = u == 3 || fabs(v) >= 99.95 ? 0 : fabs(v) >= 9.995 ? 1 : 2;
    char whole[HUMAN_SIZE];
    if (!ns)
        snprintf(buf, HUMAN_SIZE, "0 ms");
    else if (fabs(v) >= 1000)
        snprintf(buf, HUMAN_SIZE, "%.*s %s", HUMAN_SIZE - 4, human_count(llround(v), whole), units[u].symbol);
    else
        snprintf(buf, HUMAN_SIZE, "%.*f %s", decimals, v, units[u].symbol);
    return buf;
}

static int64_t cell_whole(struct cell c)
{
    if (c.kind == CELL_REAL)
        return fabs(c.r) < 9e18 ? llround(c.r) : INT64_MAX;
    return c.kind == CELL_INT ? c.i : 0;
}

static int64_t larger(int64_t most, struct cell c)
{
    uint64_t m = magnitude(cell_whole(c));
    return m > INT64_MAX ? INT64_MAX : (int64_t)m > most ? (int64_t)m : most;
}

static int64_t largest(const struct table *t, size_t c)
{
    int64_t most = 0;
    for (size_t r = 0; r < t->nrows; r++)
        most = larger(most, table_at(t, r)[c]);
    return most;
}

enum { BRIEF = 26 };

/* What the texts of a column have in common. */
static struct human text_column(const struct table *t, size_t c)
{
    struct human h = {UNIT_TEXT, 0, "", t->nrows > 0, true};
    bool any = false;
    for (size_t r = 0; r < t->nrows; r++) {
        struct cell x = table_at(t, r)[c];
        if (x.kind != CELL_TEXT)
            continue;
        any = true;
        h.brief = h.brief && strnlen(x.s, BRIEF + 1) <= BRIEF;
        h.right = h.right && *x.s && strchr("+-0123456789", *x.s);
    }
    h.right = h.right && h.brief && any;
    return h;
}

static struct human human_of(enum unit u, int64_t largest)
{
    if (u == UNIT_POINTS)
        return (struct human){UNIT_PERCENT, 0, "points", true, true};
    return u == UNIT_NS      ? human_time(largest)
           : u == UNIT_BYTES ? unit_bytes(largest)
                             : (struct human){u, 0, u == UNIT_PERCENT ? "%" : "", true, true};
}

/* blocked_before_ns and blocked_after_ns are to be compared, so they share a unit: the twin of c, or c itself. */
static size_t twin(const struct table *t, size_t c)
{
    static const char *const sides[] = {"before", "after"};
    const char *name = t->columns[c].name;
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(name, sides[i]);
        for (size_t k = 0; at && k < t->ncolumns; k++) {
            const char *other = t->columns[k].name;
            size_t head = (size_t)(at - name), mine = strlen(sides[i]), theirs = strlen(sides[1 - i]);
            if (strncmp(other, name, head) == 0 && strncmp(other + head, sides[1 - i], theirs) == 0 && strcmp(other + head + theirs, at + mine) == 0)
                return k;
        }
    }
    return c;
}

struct human human_column(const struct table *t, size_t c)
{
    enum unit u = t->columns[c].unit;
    if (u == UNIT_TEXT)
        return text_column(t, c);
    int64_t here = largest(t, c), there = largest(t, twin(t, c));
    return human_of(u, here > there ? here : there);
}

static const char *real(double r, int decimals, char buf[HUMAN_SIZE])
{
    double m = fabs(r);
    if (m >= 1e15 || (m > 0 && m < 0.5 * pow(10, -decimals))) {
        snprintf(buf, HUMAN_SIZE, "%.3g", r);
        return buf;
    }
    char whole[HUMAN_SIZE];
    uint64_t one = decimals == 1 ? 10 : 1000, q = (uint64_t)llround(m * (double)one);
    grouped(q / one, whole);
    if (q % one == 0 && decimals != 1)
        snprintf(buf, HUMAN_SIZE, "%s%.*s", r < 0 ? "-" : "", HUMAN_SIZE - 8, whole);
    else
        snprintf(buf, HUMAN_SIZE, "%s%.*s.%0*u", r < 0 && q ? "-" : "", HUMAN_SIZE - 8, whole, decimals, (unsigned)(q % one));
    return buf;
}

const char *human_cell(const struct human *h, struct cell c, char buf[HUMAN_SIZE])
{
    if (c.kind == CELL_ABSENT)
        return "-";
    if (c.kind == CELL_TEXT)
        return c.s;
    if (h->thousandth)
        return scaled(cell_whole(c), h->thousandth, buf);
    if (h->unit == UNIT_ID && c.kind == CELL_INT) {
        snprintf(buf, HUMAN_SIZE, "%" PRId64, c.i);
        return buf;
    }
    if (h->unit == UNIT_PERCENT)
        return real(c.kind == CELL_REAL ? c.r : (double)c.i, 1, buf);
    return c.kind == CELL_INT ? human_count(c.i, buf) : real(c.r, 3, buf);
}

const char *human_name(const char *column, char buf[HUMAN_SIZE])
{
    static const char *const units[] = {"_ns", "_pct", "_gbps", NULL};
    size_t n = strlen(column);
    for (size_t i = 0; units[i]; i++) {
        size_t u = strlen(units[i]);
        if (n > u && strcmp(column + n - u, units[i]) == 0) {
            n -= u;
            break;
        }
    }
    n = n < HUMAN_SIZE - 1 ? n : HUMAN_SIZE - 1;
    for (size_t i = 0; i < n; i++)
        buf[i] = column[i] == '_' ? ' ' : column[i];
    buf[n] = 0;
    return buf;
}

const char *human_measure(const struct table *t, size_t row, struct cell c, char buf[HUMAN_SIZE])
{
    char number[HUMAN_SIZE];
    int64_t most = 0;
    for (size_t i = 0; i < t->ncolumns; i++)
        if (table_at(t, row)[i].unit == c.unit)
            most = larger(most, table_at(t, row)[i]);
    struct human h = human_of(c.unit, most);
    snprintf(buf, HUMAN_SIZE, *h.symbol ? "%.*s %s" : "%.*s", HUMAN_SIZE - 10, human_cell(&h, c, number), h.symbol);
    return buf;
}

const char *human_heading(const struct table *t, size_t c, char buf[2 * HUMAN_SIZE])
{
    struct human h = human_column(t, c);
    const char *column = t->columns[c].name, *gbps = strstr(column, "_gbps");
    char name[HUMAN_SIZE];
    const char *symbol = gbps && !gbps[5] ? "GB/s" : h.symbol;
    snprintf(buf, 2 * HUMAN_SIZE, *symbol ? "%s (%s)" : "%s", human_name(column, name), symbol);
    return buf;
}
