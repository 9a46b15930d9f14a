/* diff.c - folding the tables of two traces onto common keys. */
#include "analyzer/diff.h"
#include "analyzer/facts.h"
#include "analyzer/syncs.h"
#include "analyzer/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *diff_obstacle(const struct diff_side *s, struct arena *a)
{
    struct facts x = facts_of(s->before, a), y = facts_of(s->after, a);
    const char *why = facts_differ(&x, &y, a);
    struct units u = units_count(s->before), v = units_count(s->after);
    if (!why && s->before->nranks != s->after->nranks)
        why = arena_printf(a, "not comparable: %zu ranks against %zu", s->after->nranks, s->before->nranks);
    if (!why && u.tokens && v.tokens && u.tokens * v.n[UNIT_STEPS] != v.tokens * u.n[UNIT_STEPS])
        why = arena_printf(a, "not comparable: tokens of a step differ (%" PRId64 " in %" PRId64 " steps against %" PRId64 " in %" PRId64 ")",
                           v.tokens, v.n[UNIT_STEPS], u.tokens, u.n[UNIT_STEPS]);
    return why;
}

/* ---- keys ---- */

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct diff_key *)x)->key, ((const struct diff_key *)y)->key);
}

/* What changed of one quantity, from before to after, in a step. */
static double change(const int64_t v[2], const double divisor[2])
{
    return (double)v[1] / divisor[1] - (double)v[0] / divisor[0];
}

static int by_effect(const void *x, const void *y, void *divisor)
{
    const struct diff_key *a = x, *b = y;
    double p = fabs(change(a->ns, divisor)), q = fabs(change(b->ns, divisor));
    if (p != q)
        return p < q ? 1 : -1;
    p = fabs(change(a->count, divisor));
    q = fabs(change(b->count, divisor));
    return p != q ? (p < q ? 1 : -1) : strcmp(a->key, b->key);
}

const char *diff_status(const struct diff_key *k, const double divisor[2])
{
    if (!k->count[0] || !k->count[1])
        return k->count[1] ? "new" : k->count[0] ? "gone" : "same";
    /* a tenth: less is not told from noise with one run on a side */
    bool slower = fabs(change(k->ns, divisor)) * 10 > (double)k->ns[0] / divisor[0];
    return (double)k->count[0] * divisor[1] != (double)k->count[1] * divisor[0] || slower ? "changed" : "same";
}

static int64_t whole(struct cell c)
{
    return c.kind == CELL_INT ? c.i : 0;
}

/* Builds the table of one side; absent is not a failure: that side has no rows. */
static bool side_table(const struct diff_side *s, const char *name, int side, struct table *t, struct err *e)
{
    struct syncs_args args = {.ledger = s->ledger};
    const struct table_desc *d = table_find(name);
    bool syncs = strcmp(name, "syncs") == 0;
    return table_build(d, side ? s->after : s->before, syncs ? &args : NULL, t, e);
}

static void add_rows(const struct table *t, int side, const char *key, const char *count, const char *ns, struct diff_keys *out)
{
    int k = table_column(t, key), c = table_column(t, count), d = table_column(t, ns);
    for (size_t i = 0; i < t->nrows; i++) {
        const struct cell *row = table_at(t, i);
        struct diff_key *v = &out->v[out->n++];
        *v = (struct diff_key){.key = arena_strdup(&out->arena, row[k].kind == CELL_TEXT ? row[k].s : "-")};
        v->count[side] = whole(row[c]);
        v->ns[side] = whole(row[d]);
    }
}

static void merge(struct diff_keys *k)
{
    size_t n = 0;
    qsort(k->v, k->n, sizeof *k->v, by_name);
    for (size_t i = 0; i < k->n; i++) {
        if (n && strcmp(k->v[n - 1].key, k->v[i].key) == 0) {
            for (int side = 0; side < 2; side++) {
                k->v[n - 1].count[side] += k->v[i].count[side];
                k->v[n - 1].ns[side] += k->v[i].ns[side];
            }
        } else
            k->v[n++] = k->v[i];
    }
    k->n = n;
    qsort_r(k->v, k->n, sizeof *k->v, by_effect, k->divisor);
}

bool diff_fold(const struct diff_side *s, const char *table, const char *key, const char *count, const char *ns, struct diff_keys *out, struct err *e)
{
    struct table t[2] = {0};
    *out = (struct diff_keys){0};
    units_divisors(s->before, s->after, out->divisor);
    bool ok = side_table(s, table, 0, &t[0], e) && side_table(s, table, 1, &t[1], e);
    if (ok) {
        out->v = arena_array(&out->arena, struct diff_key, t[0].nrows + t[1].nrows + 1);
        add_rows(&t[0], 0, key, count, ns, out);
        add_rows(&t[1], 1, key, count, ns, out);
        merge(out);
    }
    table_free(&t[0]);
    table_free(&t[1]);
    return ok;
}

void diff_keys_free(struct diff_keys *k)
{
    arena_free(&k->arena);
    *k = (struct diff_keys){0};
}

/* ---- headline ---- */

/* The figures, in the order of seeds/000 3.2; each is folded over the rows of one side's table. */
enum folding { FOLD_MAX, FOLD_SUM, FOLD_SHARE };
static const struct {
    const char *name, *table, *column, *base, *ledger;
    enum folding folding;
    enum unit unit;
} figures[] = {
    {"step_ns", "summary", "span_ns", NULL, NULL, FOLD_MAX, UNIT_NS},
    {"busy_pct", "summary", "busy_ns", "span_ns", NULL, FOLD_SHARE, UNIT_PERCENT},
    {"useful_busy_pct", "summary", "useful_busy_ns", "span_ns", NULL, FOLD_SHARE, UNIT_PERCENT},
    {"kernel_sum_ns", "summary", "kernel_sum_ns", NULL, NULL, FOLD_SUM, UNIT_NS},
    {"compute_sum_ns", "summary", "compute_sum_ns", NULL, NULL, FOLD_SUM, UNIT_NS},
    {"comm_sum_ns", "summary", "comm_sum_ns", NULL, NULL, FOLD_SUM, UNIT_NS},
    {"comm_wait_ns", "summary", "comm_wait_ns", NULL, NULL, FOLD_SUM, UNIT_NS},
    {"exposed_comm_ns", "summary", "exposed_comm_ns", NULL, NULL, FOLD_SUM, UNIT_NS},
    {"memcpy_ns", "summary", "memcpy_ns", NULL, NULL, FOLD_SUM, UNIT_NS},
    {"memset_ns", "summary", "memset_ns", NULL, NULL, FOLD_SUM, UNIT_NS},
    {"kernels", "summary", "kernels", NULL, NULL, FOLD_SUM, UNIT_COUNT},
    {"comm_kernels", "summary", "comm_kernels", NULL, NULL, FOLD_SUM, UNIT_COUNT},
    {"op_syncs", "syncs", "count", NULL, "op", FOLD_SUM, UNIT_COUNT},
    {"op_syncs_ns", "syncs", "blocked_ns", NULL, "op", FOLD_SUM, UNIT_NS},
    {"wait_syncs", "syncs", "count", NULL, "wait", FOLD_SUM, UNIT_COUNT},
    {"wait_syncs_blocked_ns", "syncs", "blocked_ns", NULL, "wait", FOLD_SUM, UNIT_NS},
    {"wait_syncs_bubble_ns", "syncs", "bubble_ns", NULL, "wait", FOLD_SUM, UNIT_NS},
};

/* Folds a column; false when no row has it. */
static bool folded(const struct table *t, const char *column, bool max, int64_t *v)
{
    int c = table_column(t, column);
    bool any = false;
    *v = 0;
    for (size_t i = 0; c >= 0 && i < t->nrows; i++) {
        struct cell cell = table_at(t, i)[c];
        if (cell.kind != CELL_INT)
            continue;
        any = true;
        *v = max ? (cell.i > *v ? cell.i : *v) : *v + cell.i;
    }
    return any;
}

static void figure(size_t i, const struct table *t, int side, double divisor, struct diff_metric *m)
{
    int64_t v, base;
    m->there[side] = folded(t, figures[i].column, figures[i].folding == FOLD_MAX, &v);
    if (figures[i].ledger && !t->nrows) { /* the ledger is recorded and empty: a count of 0, no time */
        m->there[side] = true;
        v = 0;
    }
    m->value[side] = (double)v / divisor;
    if (figures[i].folding != FOLD_SHARE || !m->there[side])
        return;
    m->there[side] = folded(t, figures[i].base, false, &base) && base > 0;
    m->value[side] = m->there[side] ? 100.0 * (double)v / (double)base : 0;
}

bool diff_headline(const struct diff_side *s, struct diff_metric metrics[DIFF_METRICS_MAX], size_t *n, struct err *e)
{
    struct table t = {0};
    double divisor[2], step[2] = {fmax(1, units_steps(s->before)), fmax(1, units_steps(s->after))};
    units_divisors(s->before, s->after, divisor);
    *n = sizeof figures / sizeof *figures;
    for (size_t i = 0; i < *n; i++)
        metrics[i] = (struct diff_metric){.name = figures[i].name, .unit = figures[i].unit};
    for (int side = 0; side < 2; side++) {
        bool have = false;
        for (size_t i = 0; i < *n; i++) {
            struct err why = {0};
            bool again = i && strcmp(figures[i].table, figures[i - 1].table) == 0 && figures[i].ledger == figures[i - 1].ledger;
            if (!again) {
                struct diff_side one = {s->before, s->after, figures[i].ledger, NULL};
                table_free(&t);
                have = side_table(&one, figures[i].table, side, &t, &why);
            }
            if (why.kind && why.kind != ERR_UNDECIDED)
                return fail(e, why.kind, "%s", why.msg);
            if (have)
                figure(i, &t, side, figures[i].folding == FOLD_MAX ? step[side] : divisor[side], &metrics[i]);
        }
    }
    table_free(&t);
    return true;
}
