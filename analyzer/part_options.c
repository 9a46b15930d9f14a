/* part_options.c - what parts were made with holds for the tables that take them; two that differ are refused. */
#include "analyzer/part_options.h"
#include "analyzer/part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct trace_opts none = TRACE_OPTS_NONE;

static const char *file_text(const char *path, struct arena *a, struct err *e)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t n = 0, cap = 0;
    if (!f) {
        fail(e, ERR_USAGE, "--patterns %s: cannot open", path);
        return NULL;
    }
    for (int c; (c = getc(f)) != EOF;)
        ARRAY_PUSH(text, n, cap, (char)c);
    fclose(f);
    const char *kept = arena_strndup(a, text ? text : "", n);
    free(text);
    return kept;
}

/* The value of an option as text; NULL: not given. */
static const char *text_of(const struct trace_opts *o, const struct opt *k, struct arena *a, struct err *e)
{
    const char *s;
    int64_t v, absent;
    if (k->type == OPT_TEXT) {
        memcpy(&s, (const char *)o + k->offset, sizeof s);
        if (strcmp(k->name, "patterns") == 0 && s)
            return o->patterns_text ? o->patterns_text : file_text(s, a, e);
        return s;
    }
    memcpy(&v, (const char *)o + k->offset, sizeof v);
    memcpy(&absent, (const char *)&none + k->offset, sizeof absent);
    return v == absent ? NULL : arena_printf(a, "%" PRId64 "%s", v, k->type == OPT_TIME ? "ns" : "");
}

bool part_text_options(const struct trace_opts *o, bool (*take)(void *ctx, const char *key, const char *value), void *ctx, struct err *e)
{
    struct arena a = {0};
    bool ok = true;
    for (const struct opt *k = trace_opt_rows; ok && k->type; k++) {
        const char *value = text_of(o, k, &a, e);
        ok = !e->kind && (!value || take(ctx, k->name, value));
    }
    arena_free(&a);
    return ok;
}

struct stored {
    const char *part;    /* the first one */
    const char **values; /* by row of trace_opt_rows; NULL: not given */
    struct arena *a;
};

static bool store(void *ctx, const char *key, const char *value)
{
    struct stored *s = ctx;
    for (size_t i = 0; key && value && trace_opt_rows[i].type; i++)
        if (strcmp(trace_opt_rows[i].name, key) == 0)
            s->values[i] = arena_strdup(s->a, value);
    return true;
}

static bool differ(const char *x, const char *y)
{
    return x && y ? strcmp(x, y) != 0 : x != y;
}

static const char *shown(const struct opt *k, const char *value, struct arena *a)
{
    return !value                             ? arena_printf(a, "without --%s", k->name)
           : strcmp(k->name, "patterns") == 0 ? "with other --patterns"
                                              : arena_printf(a, "with --%s %s", k->name, value);
}

/* All parts are made with the same options. */
static bool same_in(const struct stored *s, const char *part, const struct stored *other, struct err *e)
{
    for (size_t i = 0; trace_opt_rows[i].type; i++)
        if (differ(s->values[i], other->values[i]))
            return fail(e, ERR_UNDECIDED, "%s was reduced %s, %s %s: reduce all parts with the same options", s->part,
                        shown(&trace_opt_rows[i], s->values[i], s->a), part, shown(&trace_opt_rows[i], other->values[i], s->a));
    return true;
}

static bool put(struct trace_opts *o, const struct opt *k, const char *value, const char *part, struct err *e)
{
    int64_t v;
    char *to = (char *)o + k->offset;
    if (k->type == OPT_TEXT) {
        if (strcmp(k->name, "patterns") == 0)
            o->patterns_text = value;
        memcpy(to, &value, sizeof value);
        return true;
    }
    bool ok = k->type == OPT_TIME ? opt_time(value, &v) : opt_int(value, &v);
    if (ok)
        memcpy(to, &v, sizeof v);
    return ok || fail(e, ERR_FAIL, "%s: a damaged part; reduce again", part);
}

/* What is given must be what the parts were made with; what is not given is. */
static bool apply(const struct stored *s, struct trace_opts *o, const char **more, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && trace_opt_rows[i].type; i++) {
        const struct opt *k = &trace_opt_rows[i];
        const char *given = text_of(o, k, s->a, e);
        if (given && !s->values[i])
            *more = k->name;
        if (e->kind || !s->values[i])
            continue;
        if (given && strcmp(given, s->values[i]) != 0)
            return fail(e, ERR_UNDECIDED, "%s was reduced %s; another --%s needs the traces: reduce again with it", s->part,
                        shown(k, s->values[i], s->a), k->name);
        ok = given || put(o, k, s->values[i], s->part, e);
    }
    return ok && !e->kind;
}

bool part_options(const char *const *paths, size_t n, struct trace_opts *o, struct arena *a, const char **more, struct err *e)
{
    size_t rows = 0;
    struct stored first = {.a = a};
    char last[4096] = "", part[4096];
    int64_t id;
    *more = NULL;
    while (trace_opt_rows[rows].type)
        rows++;
    for (size_t i = 0; i < n; i++) {
        if (!part_holds(paths[i], part, &id) || strcmp(part, last) == 0)
            continue;
        struct stored s = {.part = arena_strdup(a, part), .values = arena_array(a, const char *, rows + 1), .a = a};
        memcpy(last, part, sizeof last);
        if (!part_each_option(part, store, &s, e) || (first.part && !same_in(&first, part, &s, e)))
            return false;
        first = first.part ? first : s;
    }
    return !first.part || apply(&first, o, more, e);
}
