/* twins.c - see twins.h. */
#include "analyzer/twins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A name begins so and ends so; what is looked for may be packed. */
struct form {
    const char *begin, *inner, *end;
};

static const struct {
    struct form text, database;
} forms[] = {
    {{"trace_view", "", ".json"}, {"ascend_", "_profiler", ".db"}},
    {{"msprof_", "", ".json"}, {"msprof_", "", ".db"}},
};

static const char *const packed[] = {".gz", ".zst"};

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool ends_at(const char *s, size_t n, const char *end)
{
    size_t m = strlen(end);
    return n >= m && strncmp(s + n - m, end, m) == 0;
}

/* The length without the ending of packed files. */
static size_t unpacked_length(const char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_at(s, n, packed[i]))
            return n - strlen(packed[i]);
    return n;
}

static bool has_form(const char *path, const struct form *f)
{
    const char *name = path + folder_length(path);
    return strncmp(name, f->begin, strlen(f->begin)) == 0 && strstr(name, f->inner) && ends_at(path, unpacked_length(path), f->end);
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The file of that name: the first n characters of path, then the ending. */
static const char *named(const char **v, size_t n, const char *path, size_t length, const char *end)
{
    char want[4200];
    const char *key = want;
    if (length + strlen(end) >= sizeof want)
        return NULL;
    memcpy(want, path, length);
    strcpy(want + length, end);
    const char **found = bsearch(&key, v, n, sizeof *v, by_text);
    return found ? *found : NULL;
}

static const char *in_database(const char **v, size_t n, const char *path)
{
    size_t folder = folder_length(path);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t i = 0; has_form(path, &forms[f].text) && i < n; i++)
            if (folder_length(v[i]) == folder && strncmp(v[i], path, folder) == 0 && has_form(v[i], &forms[f].database))
                return v[i];
    return NULL;
}

static const char *twin_of(const char **v, size_t n, const char *path)
{
    static const char report[] = ".nsys-rep";
    size_t length = strlen(path), plain = unpacked_length(path);
    const char *twin = plain < length ? named(v, n, path, plain, "") : NULL;
    if (!twin && ends_at(path, length, report))
        twin = named(v, n, path, length - strlen(report), ".sqlite");
    return twin ? twin : in_database(v, n, path);
}

size_t twins_drop(const char **v, size_t n, struct arena *a, const char **left, const char **by)
{
    const char **all = arena_array(a, const char *, n + 1);
    size_t kept = 0;
    if (n)
        memcpy(all, v, n * sizeof *v);
    for (size_t i = 0; i < n; i++) {
        const char *twin = twin_of(all, n, all[i]);
        if (!twin) {
            v[kept++] = all[i];
        } else if (kept == i) {
            *left = all[i];
            *by = twin;
        }
    }
    return kept;
}
