/* baseline.c - measuring a baseline. Its text form: baseline_file.c. */
#include "analyzer/baseline.h"
#include "analyzer/baseline_file.h"

#include <stdlib.h>
#include <string.h>

bool measure_rule(const struct rule *r, const struct trace *t, const char *const *paths, size_t n, struct arena *a, struct measured *m, struct err *e)
{
    if (!r->in_range)
        return measure(r, t, a, m, e);
    struct trace_opts o = t->opts;
    o.range = r->in_range;
    o.quiet = true;
    struct trace inside = {0};
    struct err why = {0};
    bool ok = trace_open(paths, n, &o, &inside, &why);
    if (ok)
        ok = measure(r, &inside, a, m, e);
    else if (why.kind == ERR_UNDECIDED) {
        *m = (struct measured){.missing = arena_strdup(a, why.msg)};
        ok = true;
    } else
        fail(e, why.kind, "%s", why.msg);
    trace_close(&inside);
    return ok;
}

bool baseline_measure(const struct trace *t, const char *const *paths, size_t n, const struct rules *rules, struct baseline *b, struct err *e)
{
    b->facts = facts_of(t, &b->arena);
    b->units = units_count(t);
    for (size_t i = 0; i < rules->n; i++) {
        struct baseline_rule r = {.subject = rule_subject(&rules->rule[i], &b->arena)};
        if (baseline_find(b, r.subject))
            continue;
        if (!measure_rule(&rules->rule[i], t, paths, n, &b->arena, &r.m, e))
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
    struct trace t = {0};
    bool ok = trace_open(&path, 1, o, &t, e) && baseline_measure(&t, &path, 1, rules, b, e);
    for (size_t i = 0; ok && i < b->facts.n; i++) /* they live in the trace */
        b->facts.v[i].value = arena_strdup(&b->arena, b->facts.v[i].value);
    trace_close(&t);
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
