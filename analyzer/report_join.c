/* report_join.c - a table of each side as one table, summed over ranks.
 *
 *     before: rank site    count          site     count before  count after  change
 *               0  swap      8     -->    swap               16            -  gone
 *               1  swap      8            resolve             -            2  new
 */
#include "analyzer/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct join join_ops = {RT_OPS, {"site"}, {"count", "blocked_ns"}, 0, true};
const struct join join_ops_by_api = {RT_OPS, {"site", "api"}, {"count", "blocked_ns"}, 0, true};
const struct join join_waits = {RT_WAITS, {"site", "api"}, {"count", "blocked_ns", "bubble_ns"}, 1, true};
const struct join join_classes = {RT_CLASSES, {"name"}, {"calls", "total_ns"}, 1, false};
const struct join join_kernels = {RT_KERNELS, {"name"}, {"calls", "total_ns"}, 1, false};
const struct join join_comm = {RT_COMM, {"group", "op"}, {"calls", "bytes", "total_ns", "wait_ns", "transfer_ns"}, 2, false};
const struct join join_idle = {RT_IDLE, {"cause", "site"}, {"gaps", "idle_ns"}, 1, false};
const struct join join_op_lines = {RT_OP_LINES, {"site", "api"}, {"count", "blocked_ns"}, 0, true};
const struct join join_wait_lines = {RT_WAIT_LINES, {"site", "api"}, {"count", "blocked_ns", "bubble_ns"}, 1, true};
const struct join join_wait_stacks = {RT_WAIT_STACKS, {"site"}, {"count", "blocked_ns", "bubble_ns"}, 1, true};
const struct join join_critical = {RT_CRITICAL, {"kind", "name", "site"}, {"count", "total_ns"}, 1, false};

enum { BEFORE, AFTER };

struct jrow {
    const char *key[JOIN_KEYS];
    struct cell value[2][JOIN_VALUES];
};

struct joiner {
    const struct join *j;
    struct jrow *v;
    size_t n, cap;
    size_t nkeys, nvalues;
    bool known[2][JOIN_VALUES]; /* the side has this value for the rows it has */
};

static int key_cmp(const void *x, const void *y)
{
    const struct jrow *a = x, *b = y;
    for (size_t i = 0; i < JOIN_KEYS; i++) {
        int c = strcmp(a->key[i] ? a->key[i] : "", b->key[i] ? b->key[i] : "");
        if (c)
            return c;
    }
    return 0;
}

static void add(struct cell *to, struct cell more)
{
    if (more.kind == CELL_ABSENT)
        return;
    int64_t value = more.kind == CELL_REAL ? (int64_t)more.r : more.i;
    *to = cell_int(to->kind == CELL_ABSENT ? value : to->i + value);
}

static void collect(struct joiner *w, const struct side *s, int which)
{
    const struct table *t = &s->tables[w->j->of];
    if (s->missing[w->j->of] || !t->columns)
        return;
    for (size_t i = 0; i < w->nvalues; i++)
        w->known[which][i] = t->nrows == 0;
    for (size_t r = 0; r < t->nrows; r++) {
        const struct cell *row = table_at(t, r);
        struct jrow row_out = {0};
        for (size_t i = 0; i < w->nkeys; i++) {
            int c = table_column(t, w->j->keys[i]);
            row_out.key[i] = c >= 0 && row[c].kind == CELL_TEXT ? row[c].s : NULL;
        }
        for (size_t i = 0; i < w->nvalues; i++) {
            int c = table_column(t, w->j->values[i]);
            if (c >= 0 && row[c].kind != CELL_TEXT)
                add(&row_out.value[which][i], row[c]);
            w->known[which][i] |= row_out.value[which][i].kind != CELL_ABSENT;
        }
        ARRAY_PUSH(w->v, w->n, w->cap, row_out);
    }
}

static void merge_equal(struct joiner *w)
{
    size_t kept = 0;
    if (w->n)
        qsort(w->v, w->n, sizeof *w->v, key_cmp);
    for (size_t i = 0; i < w->n; i++) {
        if (kept && key_cmp(&w->v[kept - 1], &w->v[i]) == 0) {
            for (int side = 0; side < 2; side++)
                for (size_t k = 0; k < w->nvalues; k++)
                    add(&w->v[kept - 1].value[side][k], w->v[i].value[side][k]);
        } else {
            w->v[kept++] = w->v[i];
        }
    }
    w->n = kept;
}

/* A side that records such rows and has none of this key has zero of it: that is not "not in this trace". */
static void fill_zeros(struct joiner *w)
{
    for (size_t i = 0; i < w->n; i++)
        for (int side = 0; side < 2; side++)
            for (size_t k = 0; k < w->nvalues && !w->v[i].value[side][0].kind; k++)
                if (w->known[side][w->nvalues - 1 - k])
                    w->v[i].value[side][w->nvalues - 1 - k] = cell_int(0);
}

static int64_t larger(const struct jrow *r, size_t value)
{
    int64_t b = r->value[BEFORE][value].kind ? r->value[BEFORE][value].i : -1, a = r->value[AFTER][value].kind ? r->value[AFTER][value].i : -1;
    return b > a ? b : a;
}

static int by_size(const void *x, const void *y, void *ctx)
{
    const struct join *j = ctx;
    for (size_t k = 0; k < 2; k++) {
        int64_t a = larger(x, k ? 0 : j->order), b = larger(y, k ? 0 : j->order);
        if (a != b)
            return a < b ? 1 : -1;
    }
    return key_cmp(x, y);
}

/* "blocked_ns" of before -> "blocked_before_ns": the unit stays last. */
static const char *named(const char *column, const char *side, struct arena *a)
{
    const char *cut = strrchr(column, '_');
    if (!cut || strcmp(cut, "_ns") != 0)
        return arena_printf(a, "%s_%s", column, side);
    return arena_printf(a, "%.*s_%s%s", (int)(cut - column), column, side, cut);
}

static struct column source_column(const struct report *r, const struct join *j, const char *name)
{
    const struct side *s = r->after.missing[j->of] ? &r->before : &r->after;
    const struct table *t = &s->tables[j->of];
    int c = t->columns ? table_column(t, name) : -1;
    struct column col = c >= 0 ? t->columns[c] : (struct column){.name = name};
    col.base = NULL;
    if (report_per_step(r) && col.unit == UNIT_COUNT)
        col.unit = UNIT_REAL; /* a mean */
    return col;
}

/* Where a window counts as one step, the count is all there is to say. */
static bool has_rate(const struct report *r, const struct join *j)
{
    return j->rate && !report_whole(r);
}

static const struct column *columns_of(struct report *r, const struct joiner *w)
{
    struct column *v = arena_array(&r->arena, struct column, JOIN_KEYS + 2 * JOIN_VALUES + 4);
    bool rated = has_rate(r, w->j);
    size_t n = 0;
    for (size_t i = 0; i < w->nkeys; i++)
        v[n++] = source_column(r, w->j, w->j->keys[i]);
    for (size_t i = 0; i < w->nvalues + rated; i++) {
        bool rate = rated && i == 1;
        struct column c = source_column(r, w->j, w->j->values[i - (rated && i > 0)]);
        if (rate)
            c = (struct column){"per_step", UNIT_REAL, .what = "the count of one rank in one step: divided by the steps of all ranks"};
        const char *name = c.name;
        if (r->pair) {
            c.name = named(name, "before", &r->arena);
            v[n++] = c;
            c.name = named(name, "after", &r->arena);
        }
        v[n++] = c;
    }
    if (r->pair && !r->differ)
        v[n++] = (struct column){"change", UNIT_TEXT, .what = "new, gone, more, fewer or the same, by count"};
    return v;
}

static struct cell rate_of(struct cell count, const struct side *s)
{
    int64_t steps = s->units.n[UNIT_STEPS];
    return count.kind && steps ? cell_real((double)count.i / (double)steps) : (struct cell){0};
}

/* By count, and where the sides have other numbers of steps by the count of a step. */
static const char *change_of(const struct report *r, const struct jrow *w)
{
    const struct cell *vb = &w->value[BEFORE][0], *va = &w->value[AFTER][0];
    double b = vb->kind ? (double)vb->i * r->after.divisor : 0, a = va->kind ? (double)va->i * r->before.divisor : 0;
    if (b == a)
        return "same";
    return b == 0 ? "new" : a == 0 ? "gone" : a > b ? "more" : "fewer";
}

static struct cell divided(struct cell v, double by, bool count)
{
    if (!v.kind || by == 1)
        return v;
    return count ? cell_real((double)v.i / by) : cell_int(llround((double)v.i / by));
}

/* One value of the sides there are, and behind it the rate of a step. */
static size_t put_value(const struct report *r, const struct jrow *from, size_t value, bool rate, const struct column *columns, struct cell *row)
{
    const struct side *sides[] = {&r->before, &r->after};
    size_t n = 0;
    for (int i = r->pair ? BEFORE : AFTER; i <= AFTER; i++, n++)
        row[n] = divided(from->value[i][value], sides[i]->divisor, columns[n].unit == UNIT_REAL);
    for (int i = r->pair ? BEFORE : AFTER; i <= AFTER && rate; i++)
        row[n++] = rate_of(from->value[i][value], sides[i]);
    return n;
}

static void put_row(const struct report *r, const struct joiner *w, const struct jrow *from, struct table *out)
{
    struct cell *row = table_row(out);
    size_t n = 0;
    for (size_t i = 0; i < w->nkeys; i++)
        row[n++] = cell_text(from->key[i]);
    for (size_t i = 0; i < w->nvalues; i++)
        n += put_value(r, from, i, has_rate(r, w->j) && i == 0, &out->columns[n], &row[n]);
    if (r->pair && !r->differ)
        row[n++] = cell_text(change_of(r, from));
}

static bool noted(const struct side *s, enum report_table of, const char *note)
{
    for (size_t k = 0; !s->missing[of] && k < s->tables[of].nnotes; k++)
        if (strcmp(s->tables[of].notes[k], note) == 0)
            return true;
    return false;
}

/* What one side says and the other does not, in one line. */
static void own_notes(const struct side *s, const struct side *other, enum report_table of, struct table *out)
{
    const char *all = NULL;
    for (size_t k = 0; k < s->tables[of].nnotes; k++)
        if (!noted(other, of, s->tables[of].notes[k]))
            all = table_text(out, "%s%s%s", all ? all : "", all ? "; " : "", s->tables[of].notes[k]);
    if (all)
        table_note(out, "%s: %s", s->label, all);
}

static void shared_notes(const struct report *r, enum report_table of, struct table *out)
{
    const struct table *t = &r->after.tables[of];
    for (size_t k = 0; !r->after.missing[of] && k < t->nnotes; k++)
        if (!r->pair || noted(&r->before, of, t->notes[k]))
            table_note(out, "%s", t->notes[k]);
}

/* The notes of both sides; what both say is said once. */
static void notes(const struct report *r, const struct join *j, struct table *out)
{
    const struct side *sides[] = {&r->before, &r->after};
    const char *each = report_per_step(r) ? ", a step: the sides have other numbers of steps" : "";
    if (r->after.t.nranks > 1 || *each)
        table_note(out, "sums over all %zu ranks%s%s", r->after.t.nranks, each, has_rate(r, j) ? "; per step: one rank, one step" : "");
    if (r->pair && !r->differ && !has_rate(r, j) && out->nrows)
        table_note(out, "change is of the %s, not of the time", j->values[0]);
    shared_notes(r, j->of, out);
    for (int i = 0; i < 2 && r->pair; i++)
        if (sides[i]->missing[j->of])
            table_note(out, "%s: %s", sides[i]->label, sides[i]->missing[j->of]);
        else
            own_notes(sides[i], sides[1 - i], j->of, out);
}

bool report_join(struct report *r, const struct join *j, const char *title, struct table *out, const char **why)
{
    if (r->after.missing[j->of] && (!r->pair || r->before.missing[j->of])) {
        *why = r->after.missing[j->of];
        return false;
    }
    struct joiner w = {.j = j};
    while (w.nkeys < JOIN_KEYS && j->keys[w.nkeys])
        w.nkeys++;
    while (w.nvalues < JOIN_VALUES && j->values[w.nvalues])
        w.nvalues++;
    if (r->pair)
        collect(&w, &r->before, BEFORE);
    collect(&w, &r->after, AFTER);
    merge_equal(&w);
    fill_zeros(&w);
    if (w.n)
        qsort_r(w.v, w.n, sizeof *w.v, by_size, (void *)j);
    table_init(out, "joined", title, columns_of(r, &w));
    for (size_t i = 0; i < w.n; i++)
        put_row(r, &w, &w.v[i], out);
    notes(r, j, out);
    free(w.v);
    return true;
}

static double number(const struct table *t, size_t row, const char *column)
{
    int c = table_column(t, column);
    struct cell v = c >= 0 ? table_at(t, row)[c] : (struct cell){0};
    return v.kind == CELL_INT ? (double)v.i : v.kind == CELL_REAL ? v.r : -1;
}

size_t report_sites(const struct table *t, bool pair, struct arena *a, struct site_change **sites)
{
    *sites = arena_array(a, struct site_change, t->nrows + 1);
    int api = table_column(t, "api");
    for (size_t r = 0; r < t->nrows; r++) {
        const struct cell *row = table_at(t, r);
        (*sites)[r] = (struct site_change){
            .site = row[0].kind == CELL_TEXT ? row[0].s : "(no site)",
            .api = api >= 0 && row[api].kind == CELL_TEXT ? row[api].s : "",
            .before_count = pair ? number(t, r, "count_before") : -1,
            .after_count = number(t, r, pair ? "count_after" : "count"),
            .before_ns = pair ? (int64_t)number(t, r, "blocked_before_ns") : -1,
            .after_ns = (int64_t)number(t, r, pair ? "blocked_after_ns" : "blocked_ns"),
        };
    }
    return t->nrows;
}
