/* baseline.c - measuring a baseline. Its text form: baseline_file.c. */
#include "analyzer/baseline.h"
#include "analyzer/baseline_file.h"
#include "analyzer/gate_parts.h"

#include <stdlib.h>
#include <string.h>

/* What is not fit for judging is no measure either. */
static bool fit(const struct runset *runs, struct arena *a, struct err *e)
{
    const char *why = NULL;
    for (size_t i = 0; i < runs->n && !why; i++) {
        why = gate_losses(&runs->v[i].t, a);
        why = why ? why : gate_stack_threshold(&runs->v[i].t, a);
    }
    return !why || fail(e, ERR_UNDECIDED, "no baseline: %s", why);
}

bool baseline_measure(const struct runset *runs, const struct rules *rules, struct baseline *b, struct err *e)
{
    if (!fit(runs, &b->arena, e))
        return false;
    b->facts = facts_of(&runs->v[0].t, &b->arena);
    b->units = units_count(&runs->v[0].t);
    for (size_t i = 0; i < rules->n; i++) {
        struct baseline_rule r = {.subject = rule_subject(&rules->rule[i], &b->arena)};
        if (baseline_find(b, r.subject))
            continue;
        if (!runset_measure(&rules->rule[i], runs, &b->arena, &r.m, e))
            return false;
        ARRAY_PUSH(b->rule, b->n, b->cap, r);
    }
    return true;
}

const struct measured *baseline_find(const struct baseline *b, const char *subject)
{
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->rule[i].subject, subject) == 0)
            return &b->rule[i].m;
    return NULL;
}

static bool from_trace(const char *path, const struct trace_opts *o, const struct rules *rules, struct baseline *b, struct err *e)
{
    struct runset runs;
    bool ok = runset_open(&path, 1, o, &runs, e) && baseline_measure(&runs, rules, b, e);
    for (size_t i = 0; ok && i < b->facts.n; i++) /* they live in the trace */
        b->facts.v[i].value = arena_strdup(&b->arena, b->facts.v[i].value);
    runset_close(&runs);
    return ok;
}

bool baseline_open(const char *path, const struct trace_opts *o, const struct rules *rules, struct baseline *b, struct err *e)
{
    if (baseline_is(path))
        return baseline_read(path, b, e);
    return from_trace(path, o, rules, b, e);
}

void baseline_close(struct baseline *b)
{
    free(b->rule);
    arena_free(&b->arena);
    *b = (struct baseline){0};
}
