/* report_side.c - the traces of a report, and whether the two sides compare. */
#include "analyzer/diff.h"
#include "analyzer/replay.h"
#include "analyzer/report.h"
#include "schemas/tracefile.h"

#include <stdlib.h>

static bool open_side(struct side *s, const char *label, const char *const *paths, size_t n, const struct trace_opts *o, struct arena *a,
                      struct err *e)
{
    struct trace_opts with = *o;
    with.spared |= COLUMNS_ALL;
    s->label = label;
    s->divisor = 1;
    if (!trace_open(paths, n, &with, &s->t, e))
        return false;
    s->t.replay = replay_share(&s->t);
    s->units = units_count(&s->t);
    s->facts = facts_of(&s->t, a);
    return true;
}

bool report_per_step(const struct report *r)
{
    return r->pair && r->before.divisor != r->after.divisor;
}

bool report_open(struct report *r, const struct opt_list *files, const char *baseline, const struct trace_opts *o, struct err *e)
{
    struct arena *a = &r->arena;
    r->pair = baseline != NULL;
    if (!open_side(&r->after, r->pair ? "after" : "this run", files->v, files->n, o, a, e))
        return false;
    if (!r->pair)
        return true;
    if (!open_side(&r->before, "before", &baseline, 1, o, a, e))
        return false;
    double divisor[2];
    units_divisors(&r->before.t, &r->after.t, divisor);
    r->before.divisor = divisor[0], r->after.divisor = divisor[1];
    r->differ = diff_obstacle(&(struct diff_side){&r->before.t, &r->after.t, NULL, NULL}, a);
    return true;
}

bool report_spares(const struct report *r, const char *path, struct err *e)
{
    return trace_spares(&r->after.t, path, e) && trace_spares(&r->before.t, path, e);
}

void report_close(struct report *r)
{
    struct side *sides[] = {&r->before, &r->after};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < RT_N; k++)
            if (sides[i]->tables[k].columns)
                table_free(&sides[i]->tables[k]);
        free(sides[i]->explain);
        replay_unshare(sides[i]->t.replay);
        trace_close(&sides[i]->t);
    }
    if (r->judged.columns)
        table_free(&r->judged);
    rules_free(&r->rules);
    arena_free(&r->arena);
}
