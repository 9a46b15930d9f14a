/* paths.c - folders and archives as the traces in them. */
#include "analyzer/paths.h"
#include "analyzer/import.h"
#include "analyzer/tarfile.h"
#include "schemas/tracefile.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* Of a folder: not what belongs to another file, nor what nobody calls a trace. */
static bool is_candidate(const char *name)
{
    static const char *const not [] = {"-wal", "-shm", "-journal", ".tmp", ".csv", ".txt", ".log", ".html", ".svg", ".png", ".md"};
    const char *slash = strrchr(name, '/');
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (ends_with(name, not [i]))
            return false;
    return (slash ? slash[1] : *name) != '.';
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

/* What was added since `first` in order; nothing added is a failure. */
static bool added(struct paths *p, size_t first, const char *where, const char *what, struct err *e)
{
    if (p->n == first)
        return fail(e, ERR_FAIL, "%s: no trace in this %s", where, what);
    qsort(p->v + first, p->n - first, sizeof *p->v, by_name);
    return true;
}

static bool add_folder(struct paths *p, struct arena *a, const char *folder, struct err *e)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return fail(e, ERR_FAIL, "%s: cannot open: %s", folder, strerror(errno));
    size_t first = p->n;
    for (struct dirent *d; (d = readdir(dir));) {
        const char *path = arena_printf(a, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", d->d_name);
        struct stat st;
        if (is_candidate(d->d_name) && stat(path, &st) == 0 && S_ISREG(st.st_mode) && !has_export(path) && recognised(path))
            ARRAY_PUSH(p->v, p->n, p->cap, path);
    }
    closedir(dir);
    return added(p, first, folder, "folder", e);
}

static bool add_archive(struct paths *p, struct arena *a, const char *path, struct err *e)
{
    struct tar_names names = {0};
    size_t first = p->n;
    bool ok = tar_list(path, a, &names, e);
    for (size_t i = 0; ok && i < names.n; i++) {
        const char *member = arena_printf(a, "%s/%s", path, names.v[i]);
        if (is_candidate(names.v[i]) && recognised(member))
            ARRAY_PUSH(p->v, p->n, p->cap, member);
    }
    free(names.v);
    return ok && added(p, first, path, "archive; databases are to be unpacked first", e);
}

bool paths_expand(struct paths *p, struct arena *a, const char *const *given, size_t n, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        struct stat st;
        if (stat(given[i], &st) == 0 && S_ISDIR(st.st_mode))
            ok = add_folder(p, a, given[i], e);
        else if (tar_is(given[i]))
            ok = add_archive(p, a, given[i], e);
        else if ((ok = input_is_file(given[i], e)))
            ARRAY_PUSH(p->v, p->n, p->cap, arena_strdup(a, given[i]));
    }
    return ok;
}

void paths_free(struct paths *p)
{
    free(p->v);
    *p = (struct paths){0};
}
