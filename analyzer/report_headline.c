/* report_headline.c - the step in ten numbers: means per rank and step, so that parts add up. */
#include "analyzer/report.h"
#include "reports/human.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct cell sum(const struct side *s, enum report_table of, const char *column)
{
    const struct table *t = &s->tables[of];
    int c = s->missing[of] ? -1 : table_column(t, column);
    struct cell all = {0};
    for (size_t r = 0; c >= 0 && r < t->nrows; r++)
        if (table_at(t, r)[c].kind == CELL_INT)
            all = cell_int((all.kind ? all.i : 0) + table_at(t, r)[c].i);
    return c >= 0 && !t->nrows ? cell_int(0) : all;
}

static int by_ns(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* The lower of the two middle ones where there is none in the middle. */
static struct cell median_step(const struct side *s)
{
    const struct table *t = &s->tables[RT_STEPS];
    int c = s->missing[RT_STEPS] ? -1 : table_column(t, "duration_ns");
    struct arena a = {0};
    int64_t *v = arena_array(&a, int64_t, c < 0 ? 1 : t->nrows + 1);
    size_t n = 0;
    for (size_t r = 0; c >= 0 && r < t->nrows; r++)
        if (table_at(t, r)[c].kind == CELL_INT)
            v[n++] = table_at(t, r)[c].i;
    qsort(v, n, sizeof *v, by_ns);
    struct cell median = n > s->t.nranks ? cell_int(v[(n - 1) / 2]) : (struct cell){0};
    arena_free(&a);
    return median;
}

struct totals report_totals(const struct side *s)
{
    struct totals t = {
        .one = cell_int(1),
        .median_ns = median_step(s),
        .span_ns = sum(s, RT_SUMMARY, "span_ns"),
        .busy_ns = sum(s, RT_SUMMARY, "busy_ns"),
        .useful_ns = sum(s, RT_SUMMARY, "useful_busy_ns"),
        .comm_wait_ns = sum(s, RT_SUMMARY, "comm_wait_ns"),
        .kernel_ns = sum(s, RT_SUMMARY, "kernel_sum_ns"),
        .compute_ns = sum(s, RT_SUMMARY, "compute_sum_ns"),
        .comm_ns = sum(s, RT_SUMMARY, "comm_sum_ns"),
        .exposed_ns = sum(s, RT_SUMMARY, "exposed_comm_ns"),
        .copy_ns = sum(s, RT_SUMMARY, "memcpy_ns"),
        .set_ns = sum(s, RT_SUMMARY, "memset_ns"),
        .ops = sum(s, RT_OPS, "count"),
        .op_ns = sum(s, RT_OPS, "blocked_ns"),
        .waits = sum(s, RT_WAITS, "count"),
        .wait_ns = sum(s, RT_WAITS, "blocked_ns"),
        .bubble_ns = sum(s, RT_WAITS, "bubble_ns"),
    };
    if (s->units.n[UNIT_STEPS] > 0 && s->t.nranks) {
        t.steps = cell_int(s->units.n[UNIT_STEPS]);
        t.device_steps = cell_int(s->units.n[UNIT_STEPS] * (int64_t)s->t.nlanes / (int64_t)s->t.nranks);
    }
    return t;
}

bool report_oversubscribed(const struct side *s)
{
    for (size_t i = 0; i < s->t.nfiles; i++) {
        const char *said = tracedata_meta_get(&s->t.files[i].d, "oversubscribed");
        if (said && strcmp(said, "0") != 0)
            return true;
    }
    return false;
}

enum form { FORM_COUNT, FORM_TIME, FORM_SHARE };

struct line {
    const char *metric, *whole; /* whole: what it is called where no steps are marked and a window counts as one; NULL: the same */
    enum form form;
    size_t value, of; /* offsets in struct totals: value / of, in percent for a share */
};

#define AT(field) offsetof(struct totals, field)
static const struct line lines[] = {
    {"step, wall clock as recorded", "window, wall clock as recorded", FORM_TIME, AT(span_ns), AT(device_steps)},
    {"step, median of all steps", "stretch of kernels that repeats, median", FORM_TIME, AT(median_ns), AT(one)},
    {"host syncs, op ledger", NULL, FORM_COUNT, AT(ops), AT(steps)},
    {"host syncs, wait ledger", NULL, FORM_COUNT, AT(waits), AT(steps)},
    {"host time blocked (wait ledger)", NULL, FORM_TIME, AT(wait_ns), AT(steps)},
    {"device idle charged to syncs (bubble)", NULL, FORM_TIME, AT(bubble_ns), AT(steps)},
    {"device busy, % of the window", NULL, FORM_SHARE, AT(busy_ns), AT(span_ns)},
    {"device useful (compute and copies), % of the window", NULL, FORM_SHARE, AT(useful_ns), AT(span_ns)},
    {"kernels, sum", NULL, FORM_TIME, AT(kernel_ns), AT(device_steps)},
    {"of these compute (not communication)", NULL, FORM_TIME, AT(compute_ns), AT(device_steps)},
    {"of these communication", NULL, FORM_TIME, AT(comm_ns), AT(device_steps)},
    {"communication exposed (not behind compute)", NULL, FORM_TIME, AT(exposed_ns), AT(device_steps)},
    {"communication waiting for a peer", NULL, FORM_TIME, AT(comm_wait_ns), AT(device_steps)},
    {"copies, sum", NULL, FORM_TIME, AT(copy_ns), AT(device_steps)},
    {"fills (memset), sum", NULL, FORM_TIME, AT(set_ns), AT(device_steps)},
};

static struct cell field(const struct totals *t, size_t offset)
{
    struct cell c;
    memcpy(&c, (const char *)t + offset, sizeof c);
    return c;
}

/* The number of a line, in ns, calls or percent; absent where a part of it is. */
static struct cell number(const struct line *l, const struct totals *t)
{
    struct cell v = field(t, l->value), of = field(t, l->of);
    if (!v.kind || !of.kind || of.i == 0)
        return (struct cell){0};
    return cell_real((l->form == FORM_SHARE ? 100.0 : 1.0) * (double)v.i / (double)of.i);
}

static struct cell shown(const struct line *l, struct cell v, struct table *out)
{
    char buf[HUMAN_SIZE];
    if (!v.kind)
        return v;
    if (l->form == FORM_SHARE)
        return cell_text(table_text(out, "%.1f %%", v.r));
    if (l->form == FORM_TIME)
        return cell_text(table_text(out, "%s", human_ns((int64_t)v.r, buf)));
    struct human h = {UNIT_REAL, 0, "", true};
    return cell_text(table_text(out, "%s", human_cell(&h, v, buf)));
}

static struct cell change(const struct line *l, struct cell b, struct cell a, struct table *out)
{
    if (!b.kind || !a.kind)
        return (struct cell){0};
    if (l->form == FORM_SHARE)
        return cell_text(table_text(out, "%+.1f points", a.r - b.r));
    if (b.r == 0)
        return a.r == 0 ? cell_text("0 %") : (struct cell){0};
    return cell_text(table_text(out, "%+.1f %%", 100.0 * (a.r - b.r) / b.r));
}

static const struct column pair_columns[] = {
    {"metric", UNIT_TEXT}, {"before", UNIT_TEXT}, {"after", UNIT_TEXT}, {"change", UNIT_TEXT, .what = "of the value before"}, {0}};
static const struct column apart_columns[] = {{"metric", UNIT_TEXT}, {"before", UNIT_TEXT}, {"after", UNIT_TEXT}, {0}};
static const struct column one_columns[] = {{"metric", UNIT_TEXT}, {"this run", UNIT_TEXT}, {0}};

/* A line that neither side has is left out; absent on one side is "-". */
static void put_line(const struct report *r, const struct line *l, bool whole, const struct totals *b, const struct totals *a, struct table *out)
{
    struct cell before = number(l, b), after = number(l, a);
    if (!before.kind && !after.kind)
        return;
    struct cell *row = table_row(out);
    row[0] = cell_text(whole && l->whole ? l->whole : l->metric);
    if (!r->pair) {
        row[1] = shown(l, after, out);
        return;
    }
    row[1] = shown(l, before, out);
    row[2] = shown(l, after, out);
    if (!r->differ)
        row[3] = change(l, before, after, out);
}

static const struct column *columns_of(const struct report *r)
{
    return !r->pair ? one_columns : r->differ ? apart_columns : pair_columns;
}

static void said_of_times(const struct report *r, struct table *out)
{
    for (int i = r->pair ? 0 : 1; i < 2; i++) {
        const struct side *s = i ? &r->after : &r->before;
        if (side_simulated(s))
            table_note(out, "%s: SIMULATED: times come from a cost model, not from a measurement", s->label);
        if (report_oversubscribed(s))
            table_note(out, "%s: more threads than cores: times are oversubscribed and not for judging", s->label);
    }
}

void report_headline(struct report *r, struct table *out)
{
    struct totals b = r->pair ? report_totals(&r->before) : (struct totals){0}, a = report_totals(&r->after);
    bool whole = report_whole(r);
    table_init(out, "headline", whole ? "Means of a rank in its window" : "Means of a rank in a step", columns_of(r));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        put_line(r, &lines[i], whole, &b, &a, out);
    table_note(out, "host values are of a rank, those of device work of a device%s", whole ? "; no steps are marked, so a window counts as one" : "");
    said_of_times(r, out);
    if (r->pair && !r->differ)
        table_note(out, "change is %% of the value before; of a percentage it is the difference in percentage points");
}
