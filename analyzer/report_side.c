/* report_side.c - the traces of a report, and whether the two sides compare. */
#include "analyzer/report.h"

#include <stdlib.h>

static bool open_side(struct side *s, const char *label, const char *const *paths, size_t n, const struct trace_opts *o, struct arena *a,
                      struct err *e)
{
    s->label = label;
    s->divisor = 1;
    if (!trace_open(paths, n, o, &s->t, e))
        return false;
    s->units = units_count(&s->t);
    s->facts = facts_of(&s->t, a);
    return true;
}

/* Tokens of a step, where both say: other work, other time. */
static const char *tokens_differ(const struct side *b, const struct side *a, struct arena *arena)
{
    int64_t steps_b = b->units.n[UNIT_STEPS], steps_a = a->units.n[UNIT_STEPS];
    if (!b->units.tokens || !a->units.tokens || !steps_b || !steps_a || !b->t.nranks || !a->t.nranks)
        return NULL;
    double per_b = (double)b->units.tokens * (double)b->t.nranks / (double)steps_b;
    double per_a = (double)a->units.tokens * (double)a->t.nranks / (double)steps_a;
    if (per_b == per_a)
        return NULL;
    return arena_printf(arena, "not comparable with the baseline: tokens of a step %.0f against %.0f", per_a, per_b);
}

static const char *ranks_differ(const struct side *b, const struct side *a, struct arena *arena)
{
    if (b->t.nranks == a->t.nranks)
        return NULL;
    return arena_printf(arena, "not comparable with the baseline: %zu ranks against %zu", a->t.nranks, b->t.nranks);
}

/* Sums over two steps do not compare with sums over one. */
static void divide_by_steps(struct side *b, struct side *a)
{
    if (b->units.whole || a->units.whole || !b->t.nranks || !a->t.nranks)
        return;
    double steps_b = (double)b->units.n[UNIT_STEPS] / (double)b->t.nranks, steps_a = (double)a->units.n[UNIT_STEPS] / (double)a->t.nranks;
    if (steps_b != steps_a && steps_b > 0 && steps_a > 0)
        b->divisor = steps_b, a->divisor = steps_a;
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
    divide_by_steps(&r->before, &r->after);
    r->differ = facts_differ(&r->before.facts, &r->after.facts, a);
    if (!r->differ)
        r->differ = ranks_differ(&r->before, &r->after, a);
    if (!r->differ)
        r->differ = tokens_differ(&r->before, &r->after, a);
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
        trace_close(&sides[i]->t);
    }
    if (r->judged.columns)
        table_free(&r->judged);
    rules_free(&r->rules);
    arena_free(&r->arena);
}
