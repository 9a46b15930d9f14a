/* paths.c - folders and archives as the traces in them. */
#include "analyzer/paths.h"
#include "analyzer/import.h"
#include "analyzer/part.h"
#include "analyzer/tarfile.h"
#include "analyzer/twins.h"
#include "analyzer/warn.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NESTED_LOOKED_AT = 1000 };

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

/* Would one take it for a trace, by its name? */
static bool is_called_so(const char *name)
{
    static const char *const ends[] = {".json", ".sqlite", ".sqlite3", ".db", ".rpd", ".nsys-rep", ".tar", ".tgz"}, *const packed[] = {".gz", ".zst",
                                                                                                                                       ""};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (size_t k = 0; k < sizeof packed / sizeof *packed; k++) {
            size_t n = strlen(name), m = strlen(ends[i]), p = strlen(packed[k]);
            if (n >= m + p && strncmp(name + n - p - m, ends[i], m) == 0 && ends_with(name, packed[k]))
                return true;
        }
    return false;
}

/* Is it a trace? One that is none, but is called so, is remembered. */
static bool recognised(struct paths *p, const char *path, struct arena *a)
{
    const char *what = import_no_trace(path, a);
    if (!what || !*what || !is_called_so(path))
        return !what;
    p->left = p->left ? p->left : arena_printf(a, "%s: %s", path, what);
    p->nleft++;
    return false;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *left_text(const struct paths *p, struct arena *a)
{
    return p->nleft > 1
               ? arena_printf(a, "%s, and %zu more that %s no trace%s", p->left, p->nleft - 1, p->nleft == 2 ? "is" : "are", p->nleft == 2 ? "" : "s")
               : p->left;
}

static void drop_twins(struct paths *p, size_t first, struct arena *a)
{
    const char *left = NULL, *by = NULL;
    size_t kept = twins_drop(p->v + first, p->n - first, a, &left, &by);
    if (left && !p->twin)
        p->twin = arena_printf(a, "%s: the same trace as %s", left, by);
    p->ntwins += p->n - first - kept;
    p->n = first + kept;
}

/* Of what was added since `first` the traces, in order; none is a failure. */
static bool keep_traces(struct paths *p, size_t first, struct arena *a, const char *where, const char *what, struct err *e)
{
    size_t n = p->n;
    p->n = first;
    if (n > first)
        qsort(p->v + first, n - first, sizeof *p->v, by_name);
    for (size_t i = first; i < n; i++)
        if (recognised(p, p->v[i], a))
            p->v[p->n++] = p->v[i];
    drop_twins(p, first, a);
    return p->n > first || fail(e, ERR_FAIL, "%s: no trace in this %s%s%s", where, what, p->left ? "; " : "", p->left ? left_text(p, a) : "");
}

/* Does a folder hold what is called as a trace is? */
static bool holds_such(const char *folder)
{
    DIR *dir = opendir(folder);
    bool found = false;
    for (struct dirent *d; dir && !found && (d = readdir(dir));)
        found = is_candidate(d->d_name) && is_called_so(d->d_name);
    if (dir)
        closedir(dir);
    return found;
}

/* A folder in one that was given. */
static void look_at_nested(struct paths *p, const char *path)
{
    if (holds_such(path) && (!p->nested || strcmp(path, p->nested) < 0))
        p->nested = path;
}

static bool add_folder(struct paths *p, struct arena *a, const char *folder, struct err *e)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return fail(e, ERR_FAIL, "%s: cannot open: %s", folder, strerror(errno));
    size_t first = p->n, folders = 0;
    for (struct dirent *d; (d = readdir(dir));) {
        const char *path = arena_printf(a, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", d->d_name);
        struct stat st;
        if (!is_candidate(d->d_name) || stat(path, &st) != 0)
            continue;
        if (S_ISREG(st.st_mode))
            ARRAY_PUSH(p->v, p->n, p->cap, path);
        else if (S_ISDIR(st.st_mode) && folders++ < NESTED_LOOKED_AT)
            look_at_nested(p, path);
    }
    closedir(dir);
    return keep_traces(p, first, a, folder, folders ? "folder itself; give the folders in it that hold some" : "folder", e);
}

static bool add_archive(struct paths *p, struct arena *a, const char *path, struct err *e)
{
    struct tar_names names = {0};
    size_t first = p->n;
    bool ok = tar_list(path, a, &names, e);
    for (size_t i = 0; ok && i < names.n; i++)
        if (is_candidate(names.v[i]))
            ARRAY_PUSH(p->v, p->n, p->cap, arena_printf(a, "%s/%s", path, names.v[i]));
    free(names.v);
    return ok && keep_traces(p, first, a, path, "archive", e);
}

/* ---- parts ---- */

struct member {
    const char *path;
    size_t folder, at; /* number of its folder in order of appearance; its own place */
};

static int by_folder(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    if (a->folder != b->folder)
        return a->folder < b->folder ? -1 : 1;
    int c = strcmp(basename(a->path), basename(b->path));
    return c ? c : (a->at > b->at) - (a->at < b->at);
}

/* Traces of parts stand in the order that they would have themselves: folder by folder, by name within one, whichever
 * host reduced them. They keep the places that their parts have among the other paths. */
struct members {
    struct member *v;
    size_t n, cap;
    uint64_t *folders;
    size_t nfolders, folders_cap;
};

static size_t folder_number(struct members *m, uint64_t folder)
{
    size_t i = 0;
    while (i < m->nfolders && m->folders[i] != folder)
        i++;
    if (i == m->nfolders)
        ARRAY_PUSH(m->folders, m->nfolders, m->folders_cap, folder);
    return i;
}

static bool add_part(struct paths *p, struct members *m, struct arena *a, const char *path, struct err *e)
{
    struct part_entry *v;
    size_t n;
    bool ok = part_list(path, a, &v, &n, e);
    for (size_t i = 0; ok && i < n; i++) {
        ARRAY_PUSH(m->v, m->n, m->cap, ((struct member){v[i].path, folder_number(m, v[i].folder), p->n}));
        ARRAY_PUSH(p->v, p->n, p->cap, v[i].path);
    }
    free(v);
    return ok;
}

static bool expand_parts(struct paths *p, struct arena *a, struct err *e)
{
    struct paths out = {0};
    struct members m = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->n; i++) {
        if (part_is(p->v[i]))
            ok = add_part(&out, &m, a, p->v[i], e);
        else
            ARRAY_PUSH(out.v, out.n, out.cap, p->v[i]);
    }
    size_t *place = arena_array(a, size_t, m.n + 1);
    for (size_t i = 0; i < m.n; i++)
        place[i] = m.v[i].at;
    if (m.n)
        qsort(m.v, m.n, sizeof *m.v, by_folder);
    for (size_t i = 0; i < m.n; i++)
        out.v[place[i]] = m.v[i].path;
    free(m.v);
    free(m.folders);
    free(p->v);
    p->v = out.v;
    p->n = out.n;
    p->cap = out.cap;
    return ok;
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
    return ok && expand_parts(p, a, e);
}

void paths_warn(const struct paths *p)
{
    struct arena a = {0};
    if (p->left)
        warn("warning: left out: %s", left_text(p, &a));
    if (p->nested)
        warn("left out: %s: a folder in the one that was given; give it too where its traces belong here", p->nested);
    if (p->twin)
        warn(p->ntwins > 1 ? "left out: %s, and %zu more of which there is another form" : "left out: %s", p->twin, p->ntwins - 1);
    arena_free(&a);
}

void paths_free(struct paths *p)
{
    free(p->v);
    *p = (struct paths){0};
}
