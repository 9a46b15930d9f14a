/* trace_load.c - files and folders into memory. */
#include "analyzer/import.h"
#include "analyzer/paths.h"
#include "analyzer/progress.h"
#include "analyzer/trace_build.h"
#include "schemas/tracefile.h"

#include <string.h>

/* Ranks that only events name are written into their process, when it has one rank: a helper thread's rows are its too. */
static void spread_ranks(struct tracedata *d)
{
    struct arena a = {0};
    int32_t *seen = arena_array(&a, int32_t, d->nprocesses); /* 0 none, -1 several, else 1 + rank */
    for (size_t i = 0; i < d->n; i++) {
        const struct event *ev = &d->ev[i];
        uint32_t p = ev->thread ? d->threads[ev->thread].process : d->streams[ev->stream].process;
        if (ev->rank >= 0 && seen[p] != 1 + ev->rank)
            seen[p] = seen[p] ? -1 : 1 + ev->rank;
    }
    for (size_t i = 1; i < d->nprocesses; i++)
        if (d->processes[i].rank < 0 && seen[i] > 0)
            d->processes[i].rank = seen[i] - 1;
    arena_free(&a);
}

static bool load_file(struct trace *t, struct trace_file *f, const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    f->path = path;
    f->name = slash ? slash + 1 : path;
    tracedata_init(&f->d);
    t->nfiles++;
    bool ours = tracefile_is(path);
    if (ours ? !tracefile_load_some(path, SIDE_ALL & ~t->opts.spared, 0, &f->d, e) : !import_open(path, &f->d, e))
        return false;
    f->backend = tracedata_meta_get(&f->d, "backend");
    spread_ranks(&f->d);
    return true;
}

bool load_files(struct trace *t, const char *const *paths, size_t n, struct err *e)
{
    struct paths p = {0};
    bool ok = paths_expand(&p, &t->arena, paths, n, e);
    if (ok) {
        size_t cap = 0;
        t->files = array_grow(NULL, &cap, p.n ? p.n : 1, sizeof *t->files);
        memset(t->files, 0, sizeof *t->files * (p.n ? p.n : 1));
    }
    for (size_t i = 0; ok && i < p.n; i++) {
        progress_step("loading", (int64_t)i, (int64_t)p.n);
        ok = load_file(t, &t->files[i], p.v[i], e);
    }
    progress_end();
    paths_free(&p);
    return ok;
}
