/* facts.c - reading the facts from meta, and holding two sides against each other. */
#include "analyzer/facts.h"

#include <stdlib.h>
#include <string.h>

/* Keys of meta that are facts, and how a message names them. */
static const struct {
    const char *key, *what;
} keys[] = {
    {"backend", "backend"},        {"device_name", "device"},       {"driver_version", "driver"}, {"world_size", "world size"},
    {"world", "world size"},       {"cp", "context-parallel size"}, {"layers", "layers"},         {"hidden", "hidden size"},
    {"kheads", "key heads"},       {"vheads", "value heads"},       {"dk", "key dimension"},      {"dv", "value dimension"},
    {"conv", "convolution width"}, {"dtype", "data type"},
};

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *value_in(const struct trace_file *f, const char *key)
{
    return strcmp(key, "backend") == 0 ? f->backend : tracedata_meta_get(&f->d, key);
}

/* The distinct values of one key over the files, joined. */
static const char *joined(const struct trace *t, const char *key, struct arena *a)
{
    const char **v = arena_array(a, const char *, t->nfiles + 1);
    size_t n = 0;
    for (size_t i = 0; i < t->nfiles; i++) {
        const char *s = value_in(&t->files[i], key);
        if (s && *s)
            v[n++] = s;
    }
    qsort(v, n, sizeof *v, by_text);
    const char *all = NULL;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(v[i], v[i - 1]) != 0)
            all = all ? arena_printf(a, "%s|%s", all, v[i]) : arena_strdup(a, v[i]);
    return all;
}

void facts_set(struct facts *f, const char *key, const char *value)
{
    if (f->n < FACTS_MAX)
        f->v[f->n++] = (struct fact){key, value};
}

struct facts facts_of(const struct trace *t, struct arena *a)
{
    struct facts f = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *v = joined(t, keys[i].key, a);
        if (v)
            facts_set(&f, keys[i].key, v);
    }
    return f;
}

const char *facts_get(const struct facts *f, const char *key)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->v[i].key, key) == 0)
            return f->v[i].value;
    return NULL;
}

/* Do the two statements contradict each other? Only the backend must be stated on both sides, or on none. */
static bool contradict(const char *key, const char *x, const char *y)
{
    if (x && y)
        return strcmp(x, y) != 0;
    return (x || y) && strcmp(key, "backend") == 0;
}

const char *facts_differ(const struct facts *before, const struct facts *after, struct arena *a)
{
    const char *why = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *x = facts_get(before, keys[i].key), *y = facts_get(after, keys[i].key);
        if (contradict(keys[i].key, x, y))
            why = arena_printf(a, "%s%s%s %s against %s", why ? why : "", why ? ", " : "", keys[i].what, y ? y : "unknown", x ? x : "unknown");
    }
    return why ? arena_printf(a, "not comparable: %s", why) : NULL;
}
