/* report_side.c - the traces of a report and the tables that the page is made of. */
#include "analyzer/report.h"

#include <string.h>

static const struct source {
    const char *table;
    const char *options[6]; /* of the table, where they are not the default: name, value, name, value ...; a flag has any value */
} sources[RT_N] = {
    [RT_SUMMARY] = {"summary"},
    [RT_OPS] = {"syncs", {"ledger", "op"}},
    [RT_WAITS] = {"syncs", {"ledger", "wait"}},
    [RT_CLASSES] = {"kernels", {"by", "class"}},
    [RT_KERNELS] = {"kernels", {"by", "short"}},
    [RT_COMM] = {"comm"},
    [RT_IDLE] = {"idle"},
    [RT_STEPS] = {"steps"},
    [RT_OP_LINES] = {"syncs", {"ledger", "op", "by", "line"}},
    [RT_WAIT_LINES] = {"syncs", {"by", "line", "no-replay", "yes"}},
    [RT_WAIT_STACKS] = {"syncs", {"by", "stack", "no-replay", "yes"}},
    [RT_CRITICAL] = {"critical"},
};

static void *args_of(const struct table_desc *d, const struct source *s, struct arena *a)
{
    char *args = d->args_size ? arena_alloc(a, d->args_size) : NULL;
    for (int k = 0; k < 6 && args && s->options[k]; k += 2)
        for (const struct opt *o = d->opts; o && o->type != OPT_END; o++)
            if (o->type == OPT_TEXT && strcmp(o->name, s->options[k]) == 0)
                memcpy(args + o->offset, &s->options[k + 1], sizeof s->options[k + 1]);
            else if (o->type == OPT_FLAG && strcmp(o->name, s->options[k]) == 0)
                memcpy(args + o->offset, &(bool){true}, sizeof(bool));
    return args;
}

/* "Not in this trace" is a fact of the page; any other failure ends it. */
static bool tabulate(struct side *s, struct arena *a, struct err *e)
{
    for (int i = 0; i < RT_N; i++) {
        const struct table_desc *d = table_find(sources[i].table);
        struct err why = {0};
        if (!d)
            s->missing[i] = ""; /* a build without it: the page does without, too */
        else if (!table_build(d, &s->t, args_of(d, &sources[i], a), &s->tables[i], &why)) {
            if (why.kind != ERR_UNDECIDED)
                return fail(e, why.kind, "%s", why.msg);
            s->missing[i] = arena_strdup(a, why.msg);
        }
    }
    return true;
}

static bool open_side(struct side *s, const char *label, const char *const *paths, size_t n, const struct trace_opts *o, struct arena *a,
                      struct err *e)
{
    s->label = label;
    if (!trace_open(paths, n, o, &s->t, e))
        return false;
    s->units = units_count(&s->t);
    s->facts = facts_of(&s->t, a);
    return tabulate(s, a, e);
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
        trace_close(&sides[i]->t);
    }
    arena_free(&r->arena);
}
