/* report_tables.c - the tables that the page is made of. Each is a job of its own; the jobs of both sides run on all cores.
 *
 *     jobs     before: waits | critical | ... | explain     after: waits | critical | ... | explain
 *     threads  each takes the next job until none is left; failures are looked at in the order of the jobs
 */
#include "analyzer/explain.h"
#include "analyzer/progress.h"
#include "analyzer/report.h"
#include "schemas/crew.h"

#include <stdlib.h>
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
    [RT_OVERLAP] = {"overlap"},
    [RT_IDLE] = {"idle"},
    [RT_STEPS] = {"steps"},
    [RT_RANKS] = {"ranks"},
    [RT_OP_LINES] = {"syncs", {"ledger", "op", "by", "line"}},
    [RT_WAIT_LINES] = {"syncs", {"by", "line", "no-replay", "yes"}},
    [RT_WAIT_STACKS] = {"syncs", {"by", "stack", "no-replay", "yes"}},
    [RT_CRITICAL] = {"critical"},
};

enum { JOBS_OF_SIDE = RT_N + 1 }; /* its tables, then explain */

struct jobs {
    struct report *r;
    unsigned wanted;
    void *args[RT_N];
    struct err errs[2 * JOBS_OF_SIDE];
};

static void *args_of(const struct table_desc *d, const struct source *s, struct arena *a)
{
    char *args = d && d->args_size ? arena_alloc(a, d->args_size) : NULL;
    for (int k = 0; k < 6 && args && s->options[k]; k += 2)
        for (const struct opt *o = d->opts; o && o->type != OPT_END; o++)
            if (o->type == OPT_TEXT && strcmp(o->name, s->options[k]) == 0)
                memcpy(args + o->offset, &s->options[k + 1], sizeof s->options[k + 1]);
            else if (o->type == OPT_FLAG && strcmp(o->name, s->options[k]) == 0)
                memcpy(args + o->offset, &(bool){true}, sizeof(bool));
    return args;
}

static void explain(struct side *s, struct err *e)
{
    size_t n;
    FILE *out = open_memstream(&s->explain, &n);
    if (!out) {
        fail(e, ERR_FAIL, "out of memory");
        return;
    }
    explain_trace(&s->t, out, e);
    fclose(out);
}

static bool run_job(void *ctx, int member, size_t k)
{
    struct jobs *j = ctx;
    struct side *s = k < JOBS_OF_SIDE ? &j->r->after : &j->r->before;
    size_t i = k % JOBS_OF_SIDE;
    bool wanted = j->wanted >> i & 1;
    const struct table_desc *d = i < RT_N && wanted ? table_find(sources[i].table) : NULL;
    if (member)
        progress_mute();
    if (d)
        table_build(d, &s->t, j->args[i], &s->tables[i], &j->errs[k]);
    else if (i < RT_N)
        s->missing[i] = ""; /* not asked for, or a build without it */
    else if (wanted)
        explain(s, &j->errs[k]);
    return true; /* one that fails is no reason to leave out the others */
}

static size_t jobs_of(const struct report *r)
{
    return r->pair ? 2 * JOBS_OF_SIDE : JOBS_OF_SIDE;
}

/* "Not in this trace" is a fact of the page; any other failure ends it. */
static bool collect(struct jobs *j, struct err *e)
{
    for (size_t k = 0; k < jobs_of(j->r); k++) {
        const struct err *why = &j->errs[k];
        struct side *s = k < JOBS_OF_SIDE ? &j->r->after : &j->r->before;
        if (why->kind && why->kind != ERR_UNDECIDED)
            return fail(e, why->kind, "%s", why->msg);
        if (why->kind && k % JOBS_OF_SIDE == RT_N)
            s->explain_missing = arena_strdup(&j->r->arena, why->msg);
        else if (why->kind)
            s->missing[k % JOBS_OF_SIDE] = arena_strdup(&j->r->arena, why->msg);
    }
    return true;
}

bool report_tabulate(struct report *r, unsigned tables, struct err *e)
{
    struct jobs j = {.r = r, .wanted = tables};
    for (size_t i = 0; i < RT_N; i++)
        j.args[i] = args_of(table_find(sources[i].table), &sources[i], &r->arena);
    crew_run(jobs_of(r), 0, run_job, &j);
    return collect(&j, e);
}
