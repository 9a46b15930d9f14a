/* measure.c - fills the rule's table, keeps the rows it speaks of, and folds their column. */
#include "analyzer/measure.h"
#include "analyzer/perbatch.h"
#include "analyzer/syncs.h"

#include <stdlib.h>
#include <string.h>

bool rule_counts(const struct rule *r)
{
    return r->table->columns[r->column].unit == UNIT_COUNT && (r->agg == AGG_SUM || r->agg == AGG_PER);
}

const char *rule_subject(const struct rule *r, struct arena *a)
{
    const char *p = r->text + strcspn(r->text, "\"<>=");
    while (*p == '"') { /* over the patterns, which may hold any character */
        for (p++; *p && *p != '"'; p++)
            p += *p == '\\' && p[1];
        p += *p == '"';
        p += strcspn(p, "\"<>=");
    }
    size_t n = (size_t)(p - r->text);
    char *s = arena_alloc(a, n + 1), *to = s;
    for (size_t i = 0; i < n; i++) /* one space where there is any */
        if (r->text[i] != ' ' && r->text[i] != '\t')
            *to++ = r->text[i];
        else if (to > s && to[-1] != ' ')
            *to++ = ' ';
    while (to > s && to[-1] == ' ')
        to--;
    *to = '\0';
    return s;
}

static double number_of(struct cell c)
{
    return c.kind == CELL_REAL ? c.r : (double)c.i;
}

static const char *text_of(struct cell c, enum unit u, struct arena *a)
{
    char buf[64];
    return arena_strdup(a, cell_csv(c, u, buf));
}

struct fold {
    const struct rule *r;
    const struct table *t;
    struct arena *a;
    double *values; /* of the rows kept, in their order */
    const struct cell **rows;
    size_t n;
    bool absent; /* a row it speaks of does not have the value */
};

static void keep_rows(struct fold *f)
{
    const struct rule *r = f->r;
    f->values = arena_array(f->a, double, f->t->nrows + 1);
    f->rows = arena_array(f->a, const struct cell *, f->t->nrows + 1);
    for (size_t i = 0; i < f->t->nrows; i++) {
        const struct cell *row = table_at(f->t, i);
        const char *w = r->where_column >= 0 ? text_of(row[r->where_column], f->t->columns[r->where_column].unit, f->a) : NULL;
        if (w && regexec(&r->where, w, 0, NULL, 0) != 0)
            continue;
        f->absent |= row[r->column].kind == CELL_ABSENT;
        f->rows[f->n] = row;
        f->values[f->n++] = number_of(row[r->column]);
    }
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double folded(const struct fold *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->n; i++)
        sum += f->values[i];
    if (f->r->agg == AGG_SUM)
        return sum;
    qsort(f->values, f->n, sizeof *f->values, by_value);
    size_t mid = f->n / 2;
    double median = f->n % 2 ? f->values[mid] : (f->values[mid - (f->n > 1)] + f->values[mid]) / 2;
    return f->r->agg == AGG_MIN ? f->values[0] : f->r->agg == AGG_MAX ? f->values[f->n - 1] : median;
}

static int by_key(const void *x, const void *y)
{
    const struct measured_key *a = x, *b = y;
    return strcmp(a->key, b->key);
}

/* One entry per row, then entries of equal keys added up. */
static void per_key(const struct fold *f, struct measured *m)
{
    int ns = table_column(f->t, "blocked_ns");
    for (size_t i = 0; i < f->n; i++) {
        const struct cell *row = f->rows[i];
        int64_t time = ns >= 0 && row[ns].kind == CELL_INT ? row[ns].i : -1;
        m->v[i] = (struct measured_key){text_of(row[f->r->key], f->t->columns[f->r->key].unit, f->a), f->values[i], time, 0};
    }
    qsort(m->v, f->n, sizeof *m->v, by_key);
    for (size_t i = 0; i < f->n; i++) {
        struct measured_key *last = m->n ? &m->v[m->n - 1] : NULL;
        if (!last || strcmp(last->key, m->v[i].key) != 0) {
            m->v[m->n++] = m->v[i];
            continue;
        }
        last->value += m->v[i].value;
        last->ns = last->ns < 0 || m->v[i].ns < 0 ? -1 : last->ns + m->v[i].ns;
    }
}

/* Counts of sync sites also by the micro-batch that met them most. */
static void add_largest(const struct rule *r, const struct trace *t, struct arena *a, struct measured *m)
{
    if (!m->n || strcmp(r->table->name, "syncs") != 0 || !rule_counts(r) || r->where_column >= 0 ||
        strcmp(r->table->columns[r->key].name, "site") != 0)
        return;
    struct perbatch p = perbatch_of(t, strcmp(r->table_name, "op_syncs") == 0, a);
    for (size_t i = 0; i < m->n; i++) {
        const struct perbatch_site *s = perbatch_find(&p, m->v[i].key);
        m->v[i].largest = s && (double)s->inside == m->v[i].value ? s->largest : 0;
    }
}

static void fold(struct fold *f, struct measured *m)
{
    m->v = arena_array(f->a, struct measured_key, f->n + 1);
    if (f->absent) { /* what is not known is not 0 */
        m->missing = arena_printf(f->a, "%s.%s: not in this trace for every row that the rule speaks of", f->r->table_name,
                                  f->r->table->columns[f->r->column].name);
        return;
    }
    if (f->r->agg == AGG_PER) {
        per_key(f, m);
        return;
    }
    if (!f->n && f->r->agg != AGG_SUM) {
        m->missing = arena_printf(f->a, "%s.%s: no row to measure", f->r->table_name, f->r->table->columns[f->r->column].name);
        return;
    }
    m->v[0] = (struct measured_key){"", folded(f), -1};
    m->n = 1;
}

bool measure(const struct rule *r, const struct trace *t, struct arena *a, struct measured *m, struct err *e)
{
    struct syncs_args syncs = {.ledger = strcmp(r->table_name, "op_syncs") == 0 ? "op" : "wait"};
    bool is_syncs = strcmp(r->table->name, "syncs") == 0;
    struct table out = {0};
    struct err why = {0};
    *m = (struct measured){0};
    if (!table_build(r->table, t, is_syncs ? &syncs : NULL, &out, &why)) {
        table_free(&out);
        if (why.kind != ERR_UNDECIDED)
            return fail(e, why.kind, "%s", why.msg);
        m->missing = arena_strdup(a, why.msg);
        return true;
    }
    struct fold f = {.r = r, .t = &out, .a = a};
    keep_rows(&f);
    fold(&f, m);
    if (r->agg == AGG_PER)
        add_largest(r, t, a, m);
    table_free(&out);
    return true;
}
