/* reduce.c - several files at a time, each to its digest; digests to the table. */
#include "analyzer/reduce.h"
#include "analyzer/import.h"
#include "analyzer/paths.h"
#include "analyzer/progress.h"
#include "analyzer/trace_build.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slot { /* of one file */
    struct digest g;
    bool foreign;
    struct err err; /* the file could not be opened */
};

struct reducing {
    const struct table_desc *d;
    const struct trace_opts *o;
    const void *args;
    const struct paths *p;
    struct slot *slots;
    atomic_size_t next;
    atomic_bool failed;
};

static void reduce_file(struct reducing *x, size_t i)
{
    struct slot *s = &x->slots[i];
    struct trace_opts o = *x->o;
    struct trace t;
    o.one_of_many = true;
    o.threads = 1;
    if (!trace_open(&x->p->v[i], 1, &o, &t, &s->err)) {
        atomic_store(&x->failed, true);
        return;
    }
    digest_make(x->d, &t, x->args, &s->g);
    if (s->g.err.kind && s->g.err.kind != ERR_UNDECIDED)
        atomic_store(&x->failed, true);
    s->foreign = t.files[0].foreign;
    husk_take(&t, &s->g.husk);
}

/* Files are taken in order, so that those before the first failure are all looked at, whoever is faster. */
static void reduce_next(struct reducing *x, bool shown)
{
    while (!atomic_load(&x->failed)) {
        size_t i = atomic_fetch_add(&x->next, 1);
        if (i >= x->p->n)
            break;
        if (shown)
            progress_step("loading", (int64_t)i, (int64_t)x->p->n);
        reduce_file(x, i);
    }
}

static void *helper(void *arg)
{
    progress_mute();
    reduce_next(arg, false);
    return NULL;
}

static void reduce_all(struct reducing *x)
{
    enum { MOST = 64 };
    pthread_t others[MOST];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = 0;
    while (n < MOST && n + 1 < cores && (size_t)n + 1 < x->p->n && pthread_create(&others[n], NULL, helper, x) == 0)
        n++;
    reduce_next(x, true);
    for (int i = 0; i < n; i++)
        pthread_join(others[i], NULL);
    progress_end();
}

/* The files, ranks and lanes of a husk behind those of *t. */
static void add_husk(struct trace *t, const struct trace *husk, size_t *files_cap)
{
    uint32_t ranks = (uint32_t)t->nranks, lanes = (uint32_t)t->nlanes, file = (uint32_t)t->nfiles;
    ARRAY_PUSH(t->files, t->nfiles, *files_cap, husk->files[0]);
    t->files[file].first_rank = ranks;
    for (size_t i = 0; i < husk->nranks; i++) {
        struct trace_rank r = husk->ranks[i];
        r.file = file;
        r.first_lane += lanes;
        ARRAY_PUSH(t->ranks, t->nranks, t->ranks_cap, r);
    }
    for (size_t i = 0; i < husk->nlanes; i++) {
        struct lane l = husk->lanes[i];
        l.file = file;
        l.host += ranks;
        ARRAY_PUSH(t->lanes, t->nlanes, t->lanes_cap, l);
    }
    t->span = husk->span < t->span ? husk->span : t->span;
    t->lacks &= husk->lacks;
}

static bool join(struct reducing *x, struct table *out, struct trace *t, struct err *e)
{
    struct joint j;
    size_t cap = 0;
    *t = (struct trace){.opts = *x->o, .span = SPAN_ALL, .lacks = ~0u, .borrowed = true};
    for (size_t i = 0; i < x->p->n; i++) {
        struct slot *s = &x->slots[i];
        if (s->err.kind)
            return fail(e, s->err.kind, "%s", s->err.msg);
        if (s->foreign && !x->o->quiet)
            import_warn(x->p->v[i], &s->g.husk.files[0].d, 0);
        add_husk(t, &s->g.husk, &cap);
    }
    if (!trace_complete(t, e))
        return false;
    runs_number(t);
    joint_open(&j, x->d, x->args, out);
    for (size_t i = 0; i < x->p->n; i++)
        joint_add(&j, &x->slots[i].g, &t->files[i], (uint32_t)x->slots[i].g.husk.nlanes);
    if (!joint_close(&j, t, e))
        return false;
    table_notes(t, out);
    return true;
}

bool reduce_table(const struct table_desc *d, const char *const *paths, size_t n, const struct trace_opts *o, const void *args, struct reduced *r,
                  struct table *out, struct err *e)
{
    *r = (struct reduced){0};
    table_init(out, d->name, d->title, d->columns);
    if (!paths_expand(&r->p, &r->arena, paths, n, e))
        return false;
    if (r->p.n == 1 || (d->whole && d->whole(args))) {
        table_free(out);
        return trace_open(r->p.v, r->p.n, o, &r->t, e) && table_build(d, &r->t, args, out, e);
    }
    r->slots = arena_array(&r->arena, struct slot, r->p.n);
    struct reducing x = {.d = d, .o = o, .args = args, .p = &r->p, .slots = r->slots};
    reduce_all(&x);
    return join(&x, out, &r->t, e);
}

void reduced_close(struct reduced *r)
{
    trace_close(&r->t);
    for (size_t i = 0; r->slots && i < r->p.n; i++)
        digest_free(&r->slots[i].g);
    paths_free(&r->p);
    arena_free(&r->arena);
}
