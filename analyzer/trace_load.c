/* trace_load.c - files and folders into memory, several files at a time. */
#include "analyzer/import.h"
#include "analyzer/paths.h"
#include "analyzer/progress.h"
#include "analyzer/thin.h"
#include "analyzer/trace_build.h"
#include "schemas/crew.h"

#include <string.h>

/* Ranks that only events name are written into their process, when it has one rank: a helper thread's rows are its too. */
static void spread_ranks(struct tracedata *d)
{
    struct arena a = {0};
    size_t known = 1;
    while (known < d->nprocesses && d->processes[known].rank >= 0)
        known++;
    if (known == d->nprocesses)
        return;
    int32_t *seen = arena_array(&a, int32_t, d->nprocesses); /* 0 none, -1 several, else 1 + rank */
    for (size_t i = 0; i < d->n; i++) {
        const struct event *ev = &d->ev[i];
        uint32_t p = ev->rank >= 0 ? trace_event_process(d, ev) : 0;
        if (ev->rank >= 0 && seen[p] != 1 + ev->rank)
            seen[p] = seen[p] ? -1 : 1 + ev->rank;
    }
    for (size_t i = 1; i < d->nprocesses; i++)
        if (d->processes[i].rank < 0 && seen[i] > 0)
            d->processes[i].rank = seen[i] - 1;
    arena_free(&a);
}

struct loading {
    struct trace *t;
    int threads;                 /* for one file */
    struct err *errs;            /* by file */
    const struct thinning *thin; /* NULL: all rows stay */
};

static bool load_file(void *ctx, int member, size_t i)
{
    struct loading *l = ctx;
    struct trace_file *f = &l->t->files[i];
    if (member)
        progress_mute();
    else if (!l->t->opts.one_of_many) /* who opens the files shows how far it is */
        progress_step("loading", (int64_t)i, (int64_t)l->t->nfiles);
    tracedata_init(&f->d);
    if (!import_open_part(f->path, l->t->opts.spared, l->threads, &f->d, &f->foreign, &l->errs[i]))
        return false;
    f->backend = tracedata_meta_get(&f->d, "backend");
    spread_ranks(&f->d);
    if (l->thin)
        thin_rows(l->thin, &f->d);
    return true;
}

static void load_all(struct loading *l)
{
    l->threads = l->t->nfiles > 1 ? 1 : l->t->opts.threads;
    crew_run(l->t->nfiles, 0, load_file, l);
    if (!l->t->opts.one_of_many)
        progress_end();
}

/* Warnings in order of the files; the first failure is the one that counts. */
static bool report(const struct loading *l, struct err *e)
{
    for (size_t i = 0; i < l->t->nfiles; i++) {
        if (l->errs[i].kind)
            return fail(e, l->errs[i].kind, "%s", l->errs[i].msg);
        if (l->t->files[i].foreign && !l->t->opts.one_of_many && !l->t->opts.quiet)
            import_warn(l->t->files[i].path, &l->t->files[i].d, 0);
    }
    return true;
}

static void name_files(struct trace *t, const struct paths *p)
{
    size_t cap = 0;
    t->files = array_grow(NULL, &cap, p->n + 1, sizeof *t->files);
    memset(t->files, 0, sizeof *t->files * (p->n + 1));
    t->nfiles = p->n;
    for (size_t i = 0; i < p->n; i++) {
        const char *slash = strrchr(p->v[i], '/');
        t->files[i].path = p->v[i];
        t->files[i].name = slash ? slash + 1 : p->v[i];
    }
}

bool load_files(struct trace *t, const struct paths *p, struct err *e)
{
    struct arena a = {0};
    if (!p)
        return true;
    name_files(t, p);
    struct loading l = {.t = t, .errs = arena_array(&a, struct err, p->n + 1)};
    struct thinning thin = {0};
    if (t->opts.thin && thinning_open(&thin, t->opts.thin))
        l.thin = &thin;
    load_all(&l);
    thinning_close(&thin);
    t->opts.thin = NULL;
    bool ok = report(&l, e);
    arena_free(&a);
    return ok;
}
