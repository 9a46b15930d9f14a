/* reduce.c - several files at a time, each to its digest; digests to the table. */
#include "analyzer/reduce.h"
#include "analyzer/import.h"
#include "analyzer/part.h"
#include "analyzer/part_digest.h"
#include "analyzer/paths.h"
#include "analyzer/progress.h"
#include "analyzer/thin.h"
#include "analyzer/trace_build.h"
#include "schemas/crew.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

struct slot { /* of one file */
    struct digest g;
    bool foreign;
    struct err err; /* the file could not be opened */
};

struct reducing {
    const struct table_desc *d;
    const struct trace_opts *o;
    const void *args;
    const char *needs_rows; /* why results that a part holds do not do; NULL: they do */
    bool reducible;         /* that is an option which a part can be made with */
    const struct paths *p;
    struct slot *slots;
};

/* A part without rows is asked for more than it holds. */
static bool check_rows(const struct reducing *x, const char *path, struct err *e)
{
    char part[4096];
    int64_t id;
    if (!part_holds(path, part, &id) || part_has_rows(part))
        return true;
    return fail(e, ERR_UNDECIDED, "%s: keeps no rows, which %s needs: reduce again %s", part, x->needs_rows ? x->needs_rows : x->d->name,
                x->reducible ? "with it, or without --no-rows" : "without --no-rows");
}

static bool reduce_file(void *ctx, size_t i)
{
    struct reducing *x = ctx;
    struct slot *s = &x->slots[i];
    struct trace_opts o = *x->o;
    struct trace t;
    if (!x->needs_rows && part_digest(x->p->v[i], x->d, &s->g)) {
        s->g.husk.opts = o;
        return true;
    }
    o.one_of_many = true;
    o.threads = 1;
    if (!check_rows(x, x->p->v[i], &s->err) || !trace_open(&x->p->v[i], 1, &o, &t, &s->err))
        return false;
    digest_make(x->d, &t, x->args, &s->g);
    s->foreign = t.files[0].foreign;
    husk_take(&t, &s->g.husk);
    return !s->g.err.kind || s->g.err.kind == ERR_UNDECIDED;
}

/* What one file and one table let go of serves the next: given back to the system and faulted in again it costs a fifth of
 * all time. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
}

struct files {
    size_t n;
    bool (*each)(void *ctx, size_t i);
    void *ctx;
};

static bool one_file(void *ctx, int member, size_t i)
{
    struct files *f = ctx;
    if (member)
        progress_mute();
    else
        progress_step("loading", (int64_t)i, (int64_t)f->n);
    return f->each(f->ctx, i);
}

void for_files(size_t n, bool (*each)(void *ctx, size_t i), void *ctx)
{
    struct files f = {n, each, ctx};
    if (n > 1)
        keep_memory();
    crew_run(n, 0, one_file, &f);
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
    joint_open(&j, x->d, x->args, out);
    for (size_t i = 0; i < x->p->n; i++)
        joint_add(&j, &x->slots[i].g, &t->files[i], (uint32_t)x->slots[i].g.husk.nlanes);
    runs_number(t, &j.calls);
    if (!joint_close(&j, t, e))
        return false;
    table_notes(t, out);
    return true;
}

static bool is_part(const char *path)
{
    char part[4096];
    int64_t id;
    return part_holds(path, part, &id);
}

/* What asks for more than the results that parts hold, in the words of a message; NULL: nothing. */
static const char *needs_rows(const struct table_desc *d, const void *args, const char *more, struct arena *a)
{
    if (d->whole && d->whole(args))
        return d->name;
    more = more ? more : table_option(d, args);
    return more ? arena_printf(a, "--%s", more) : NULL;
}

/* A table of all files at once, of which a selection leaves nothing out. */
static bool open_whole(const struct table_desc *d, const struct trace_opts *o, const void *args, struct reduced *r, struct err *e)
{
    struct trace_opts with = *o;
    struct thin thin = {0};
    bool selects = o->range || o->step || o->from != INT64_MIN || o->to != INT64_MAX;
    if (d->thins && !selects) {
        d->thins(args, &thin, &r->arena);
        with.thin = &thin;
    }
    bool ok = trace_open(r->p.v, r->p.n, &with, &r->t, e);
    r->t.alone = ok;
    return ok;
}

static bool all_rows(const struct reducing *x, struct err *e)
{
    for (size_t i = 0; i < x->p->n; i++)
        if (!check_rows(x, x->p->v[i], e))
            return false;
    return true;
}

bool reduce_table(const struct table_desc *d, const char *const *paths, size_t n, const struct trace_opts *o, const void *args, struct reduced *r,
                  struct table *out, struct err *e)
{
    *r = (struct reduced){0};
    table_init(out, d->name, d->title, d->columns);
    struct trace_opts with = *o;
    const char *more;
    if (!paths_expand(&r->p, &r->arena, paths, n, e) || !part_options(r->p.v, r->p.n, &with, &r->arena, &more, e))
        return false;
    if (!o->quiet)
        paths_warn(&r->p);
    struct reducing x = {.d = d, .o = &with, .args = args, .p = &r->p, .needs_rows = needs_rows(d, args, more, &r->arena), .reducible = more};
    bool whole = d->whole && d->whole(args), part = is_part(r->p.v[0]);
    if (whole || (r->p.n == 1 && !part)) {
        table_free(out);
        return all_rows(&x, e) && open_whole(d, &with, args, r, e) && table_build(d, &r->t, args, out, e);
    }
    r->slots = x.slots = arena_array(&r->arena, struct slot, r->p.n);
    for_files(r->p.n, reduce_file, &x);
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
