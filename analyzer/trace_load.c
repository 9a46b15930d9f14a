/* trace_load.c - files and folders into memory. */
#include "analyzer/import.h"
#include "analyzer/progress.h"
#include "analyzer/trace_build.h"
#include "schemas/tracefile.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct paths {
    const char **v;
    size_t n, cap;
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* Of a folder: not what belongs to another file, nor what nobody calls a trace. */
static bool is_candidate(const char *name)
{
    static const char *const not [] = {"-wal", "-shm", "-journal", ".tmp", ".csv", ".txt", ".log", ".html", ".svg", ".png", ".md"};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (ends_with(name, not [i]))
            return false;
    return *name != '.';
}

/* A report whose export lies beside it: the same trace twice. */
static bool has_export(const char *path)
{
    struct arena a = {0};
    struct stat st;
    bool there = ends_with(path, ".nsys-rep") && stat(arena_printf(&a, "%.*s.sqlite", (int)(strlen(path) - 9), path), &st) == 0;
    arena_free(&a);
    return there;
}

static bool recognised(const char *path)
{
    struct err none = {0};
    struct input in = {0};
    bool yes = tracefile_is(path);
    if (!yes && input_open(&in, path, &none)) {
        for (size_t i = 0; !yes && importers[i]; i++)
            yes = importers[i]->sniff(&in) != SNIFF_NO;
    }
    input_close(&in);
    return yes;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static bool add_folder(struct trace *t, struct paths *p, const char *folder, struct err *e)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return fail(e, ERR_FAIL, "%s: cannot open: %s", folder, strerror(errno));
    size_t first = p->n;
    for (struct dirent *d; (d = readdir(dir));) {
        const char *path = arena_printf(&t->arena, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", d->d_name);
        struct stat st;
        if (is_candidate(d->d_name) && stat(path, &st) == 0 && S_ISREG(st.st_mode) && !has_export(path) && recognised(path))
            ARRAY_PUSH(p->v, p->n, p->cap, path);
    }
    closedir(dir);
    if (p->n == first)
        return fail(e, ERR_FAIL, "%s: no trace in this folder", folder);
    qsort(p->v + first, p->n - first, sizeof *p->v, by_name);
    return true;
}

static bool expand(struct trace *t, struct paths *p, const char *const *paths, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        if (stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode)) {
            if (!add_folder(t, p, paths[i], e))
                return false;
        } else {
            ARRAY_PUSH(p->v, p->n, p->cap, arena_strdup(&t->arena, paths[i]));
        }
    }
    return true;
}

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
    if (!import_open(path, &f->d, e))
        return false;
    f->backend = tracedata_meta_get(&f->d, "backend");
    spread_ranks(&f->d);
    return true;
}

bool load_files(struct trace *t, const char *const *paths, size_t n, struct err *e)
{
    struct paths p = {0};
    bool ok = expand(t, &p, paths, n, e);
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
    free(p.v);
    return ok;
}
