/* diff_tables.c - the tables of cpscope diff. */
#include "analyzer/diff.h"
#include "analyzer/places.h"
#include "analyzer/units.h"

#include <math.h>
#include <stdlib.h>

static const struct column headline_columns[] = {
    {"metric", UNIT_TEXT, .what = "step: the longest rank's window, by its steps; busy: of the windows; sums are over ranks"},
    {"before", UNIT_REAL},
    {"after", UNIT_REAL},
    {"delta", UNIT_REAL, .what = "after less before; of a percentage: points"},
    {"delta_pct", UNIT_PERCENT, "before", "delta as a share of before"},
    {0},
};

/* Integers stay integers up to the printer; a mean count is none. */
static struct cell figure_cell(enum unit unit, double v)
{
    return unit == UNIT_PERCENT || (unit == UNIT_COUNT && v != trunc(v)) ? cell_real(v) : cell_int(llround(v));
}

static struct cell figure(const struct diff_metric *m, double v, bool difference)
{
    return cell_measure(figure_cell(m->unit, v), difference && m->unit == UNIT_PERCENT ? UNIT_POINTS : m->unit);
}

static void note_steps(const struct diff_side *s, struct table *out)
{
    double divisor[2];
    if (units_divisors(s->before, s->after, divisor))
        table_note(out, "sums and counts are those of a step: %g steps before, %g after", divisor[0], divisor[1]);
}

static bool fill_headline(const struct diff_side *s, struct table *out, struct err *e)
{
    struct diff_metric m[DIFF_METRICS_MAX];
    size_t n;
    table_init(out, "diff", "Before and after", headline_columns);
    if (!diff_headline(s, m, &n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct cell *row = table_row(out);
        row[0] = cell_text(m[i].name);
        for (int side = 0; side < 2; side++)
            if (m[i].there[side])
                row[1 + side] = figure(&m[i], m[i].value[side], false);
        if (!m[i].there[0] || !m[i].there[1])
            continue;
        double delta = m[i].value[1] - m[i].value[0];
        row[3] = figure(&m[i], delta, true);
        if (m[i].value[0] != 0)
            row[4] = cell_real(100.0 * delta / m[i].value[0]);
    }
    note_steps(s, out);
    table_note(out, "before: %s; after: %s", trace_window_text(s->before, &out->arena), trace_window_text(s->after, &out->arena));
    return true;
}

static const struct column key_columns[] = {
    {"key", UNIT_TEXT},
    {"before_count", UNIT_COUNT},
    {"after_count", UNIT_COUNT},
    {"before_ns", UNIT_NS},
    {"after_ns", UNIT_NS},
    {"status", UNIT_TEXT, .what = "new, gone, changed (in count, or in time by more than a tenth), same"},
    {"in_changed_lines", UNIT_TEXT, .what = "yes: a line of the site changed since the commit given with --git", .asked = true},
    {0},
};

static bool fill_keys(const struct diff_side *s, const char *table, const char *key, const char *count, const char *ns, const char *title,
                      struct table *out, struct err *e)
{
    struct diff_keys keys;
    table_init(out, "diff", title, key_columns);
    bool ok = diff_fold(s, table, key, count, ns, &keys, e);
    for (size_t i = 0; ok && i < keys.n; i++) {
        const struct diff_key *k = &keys.v[i];
        struct cell *row = table_row(out);
        row[0] = cell_text(table_text(out, "%s", k->key));
        for (int side = 0; side < 2; side++) {
            row[1 + side] = figure_cell(UNIT_COUNT, (double)k->count[side] / keys.divisor[side]);
            if (k->count[side])
                row[3 + side] = figure_cell(UNIT_NS, (double)k->ns[side] / keys.divisor[side]);
        }
        row[5] = cell_text(diff_status(k, keys.divisor));
    }
    note_steps(s, out);
    diff_keys_free(&keys);
    return ok;
}

/* Marks the sites that lie in lines changed since the commit. */
static void mark_changed(const struct diff_side *s, struct table *out)
{
    struct places p = places_of(s->after, s->ledger, &out->arena);
    int at = table_column(out, "in_changed_lines");
    for (size_t i = 0; i < out->nrows; i++) {
        size_t n;
        const struct place *v = places_find(&p, table_at(out, i)[0].s, &n);
        for (size_t k = 0; k < n; k++)
            if (gitlines_has(s->changed, v[k].file, v[k].line))
                table_at(out, i)[at] = cell_text("yes");
    }
}

static bool fill_syncs(const struct diff_side *s, struct table *out, struct err *e)
{
    bool ok = fill_keys(s, "syncs", "site", "count", "blocked_ns", "Host-device syncs by call site", out, e);
    if (ok && s->changed)
        mark_changed(s, out);
    return ok;
}

static bool fill_kernels(const struct diff_side *s, struct table *out, struct err *e)
{
    return fill_keys(s, "kernels", "name", "calls", "total_ns", "Kernels by name", out, e);
}

static bool fill_comm(const struct diff_side *s, struct table *out, struct err *e)
{
    return fill_keys(s, "comm", "op", "calls", "total_ns", "Collectives by operation", out, e);
}

const struct diff_kind diff_kinds[] = {
    {"headline", "Before and after", fill_headline},
    {"syncs", "Host-device syncs", fill_syncs},
    {"kernels", "Kernels", fill_kernels},
    {"comm", "Collectives", fill_comm},
    {0},
};
