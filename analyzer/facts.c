/* facts.c - reading the facts from meta, and holding two sides against each other. */
#include "analyzer/facts.h"

#include <stdlib.h>
#include <string.h>

/* What is a fact, and how a message names it: a key of meta, or one of those that value_in() makes. */
struct named {
    const char *key, *what;
};

static const struct named keys[] = {
    {"backend", "backend"},
    {"device_name", "device"},
    {"machine", "modelled machine"},
    {"driver_version", "driver"},
    {"world_size", "world size"},
    {"world", "world size"},
    {"cp", "context-parallel size"},
    {"tp", "tensor-parallel size"},
    {"dynamic_cp", "context-parallel sizes"},
    {"op", "kind of layers"},
    {"attention_layers", "attention layers"},
    {"layers", "layers"},
    {"hidden", "hidden size"},
    {"kheads", "key heads"},
    {"vheads", "value heads"},
    {"dk", "key dimension"},
    {"dv", "value dimension"},
    {"conv", "convolution width"},
    {"qheads", "query heads of attention"},
    {"kvheads", "key heads of attention"},
    {"dqk", "key dimension of attention"},
    {"dv_attn", "value dimension of attention"},
    {"dtype", "data type"},
};

/* What two runs of one job are compared for. */
static const struct named varied[] = {
    {"mode", "mode"},
    {"attn_mode", "attention mode"},
    {"route", "route"},
    {"pack", "pack"},
    {"boundaries", "boundaries"},
    {"summary", "summary"},
    {"metadata", "plans of attention"},
    {"recompute", "recompute"},
    {"sequences", "sequences"},
    {"padding", "padding"},
    {"microbatches", "micro-batches"},
    {"host_cost", "host cost"},
    {"comm", "communicator"},
};

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* A mode is one way to compute its kind of layer: "gdn.chunkwise" is gdn; attn_mode is none where no layer is attention. */
static const char *value_in(const struct trace_file *f, const char *key, struct arena *a)
{
    const char *mode = tracedata_meta_get(&f->d, "mode"), *attention = tracedata_meta_get(&f->d, "attn_mode");
    if (strcmp(key, "backend") == 0)
        return f->backend;
    if (strcmp(key, "op") == 0)
        return mode ? arena_strndup(a, mode, strcspn(mode, ".")) : NULL;
    if (strcmp(key, "attention_layers") == 0)
        return !attention ? NULL : strcmp(attention, "none") == 0 ? attention : "some";
    return tracedata_meta_get(&f->d, key);
}

/* The distinct values of one key over the files, joined. */
static const char *joined(const struct trace *t, const char *key, struct arena *a)
{
    const char **v = arena_array(a, const char *, t->nfiles + 1);
    size_t n = 0;
    for (size_t i = 0; i < t->nfiles; i++) {
        const char *s = value_in(&t->files[i], key, a);
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

/* Adds "what AFTER against BEFORE" to the list. */
static const char *listed(const char *list, const char *what, const char *before, const char *after, struct arena *a)
{
    return arena_printf(a, "%s%s%s %s against %s", list ? list : "", list ? ", " : "", what, after ? after : "unknown", before ? before : "unknown");
}

const char *facts_differ(const struct facts *before, const struct facts *after, struct arena *a)
{
    const char *why = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *x = facts_get(before, keys[i].key), *y = facts_get(after, keys[i].key);
        if (contradict(keys[i].key, x, y))
            why = listed(why, keys[i].what, x, y, a);
    }
    return why ? arena_printf(a, "not comparable: %s", why) : NULL;
}

const char *facts_varied(const struct trace *before, const struct trace *after, struct arena *a)
{
    const char *list = NULL;
    for (size_t i = 0; i < sizeof varied / sizeof *varied; i++) {
        const char *x = joined(before, varied[i].key, a), *y = joined(after, varied[i].key, a);
        if (contradict(varied[i].key, x, y))
            list = listed(list, varied[i].what, x, y, a);
    }
    return list;
}
