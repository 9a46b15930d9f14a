/* cmd_info.c - what a trace says of itself: key, value. */
#include "analyzer/cmd.h"
#include "analyzer/import.h"
#include "analyzer/output.h"
#include "analyzer/part.h"
#include "analyzer/part_info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct args {
    const char *file;
};

static const struct opt opts[] = {
    {OPT_ARG, "FILE", offsetof(struct args, file), "a recording, a foreign trace or a part"},
    {0},
};

static const struct opt output_opts[] = {
    {OPT_TEXT, "format", offsetof(struct output_opts, format), "text (default), csv, json, markdown, html", "NAME", 'f'},
    {OPT_TEXT, "output", offsetof(struct output_opts, path), "write to FILE instead of standard output", "FILE", 'o'},
    {OPT_TEXT, "filter", offsetof(struct output_opts, filter), "only rows that match", "RE"},
    {OPT_TEXT, "color", offsetof(struct output_opts, color), "colours in text: auto (default), always, never", "WHEN"},
    {OPT_FLAG, "quiet", offsetof(struct output_opts, quiet), "nothing on standard error but errors", NULL, 'q'},
    {0},
};

static const struct column columns[] = {
    {"key", UNIT_TEXT, .what = "what is said"},
    {"value", UNIT_TEXT, .what = "empty: not in this trace"},
    {0},
};

static void say(struct table *t, const char *key, const char *value)
{
    struct cell *row = table_row(t);
    row[0] = cell_text(table_text(t, "%s", key));
    row[1] = cell_text(value ? table_text(t, "%s", value) : NULL);
}

static void say_number(struct table *t, const char *key, int64_t n)
{
    char buf[32];
    snprintf(buf, sizeof buf, "%" PRId64, n);
    say(t, key, buf);
}

static int by_value(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

/* Different known ranks among processes and events; 0: none is known. */
static int64_t count_ranks(const struct tracedata *d)
{
    int32_t *v = NULL, last = -1;
    size_t n = 0, cap = 0;
    int64_t ranks = 0;
    for (size_t i = 1; i < d->nprocesses; i++)
        ARRAY_PUSH(v, n, cap, d->processes[i].rank);
    for (size_t i = 0; i < d->n; i++)
        if (d->ev[i].rank >= 0 && d->ev[i].rank != last) {
            last = d->ev[i].rank;
            ARRAY_PUSH(v, n, cap, last);
        }
    if (n)
        qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++)
        ranks += v[i] >= 0 && (!i || v[i] != v[i - 1]);
    free(v);
    return ranks;
}

/* Last end since the trace's start: a recording's own, else the first row. Impossible rows do not count. */
static bool last_event(const struct tracedata *d, int64_t *ns)
{
    const char *format = tracedata_meta_get(d, "source_format");
    bool ours = format && strcmp(format, "cpscope") == 0;
    int64_t start = ours ? 0 : INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < d->n; i++) {
        const struct event *ev = &d->ev[i];
        if (ev->end < ev->start || ev->end - ev->start > INT64_C(3600000000000))
            continue;
        start = ev->start < start ? ev->start : start;
        end = ev->end > end ? ev->end : end;
    }
    *ns = end - start;
    return end >= start;
}

static const char *const always[] = {"backend", "source_format", "version", "clean_end", "degraded", NULL};

static bool is_said_already(const char *key)
{
    for (size_t i = 0; always[i]; i++)
        if (strcmp(key, always[i]) == 0)
            return true;
    return false;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void say_meta(const struct tracedata *d, struct table *t)
{
    const char **keys = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < d->nmeta; i++) {
        const char *key = intern_str(&d->strings, d->meta[i].key);
        if (!is_said_already(key))
            ARRAY_PUSH(keys, n, cap, key);
    }
    if (n)
        qsort(keys, n, sizeof *keys, by_text);
    for (size_t i = 0; i < n; i++)
        say(t, keys[i], tracedata_meta_get(d, keys[i]));
    free(keys);
}

static void say_losses(const struct tracedata *d, struct table *t)
{
    for (size_t i = 0; i < d->nloss; i++) {
        const struct loss_row *l = &d->loss[i];
        const char *reason = intern_str(&d->strings, l->reason);
        const char *key = table_text(t, "loss %zu", i + 1);
        say(t, key, l->count >= 0 ? table_text(t, "%s (%" PRId64 ")", reason, l->count) : reason);
    }
}

static void say_all(const struct tracedata *d, struct table *t)
{
    int64_t last, ranks = count_ranks(d);
    const char *clean = tracedata_meta_get(d, "clean_end"), *degraded = tracedata_meta_get(d, "degraded");
    const char *cost = tracedata_meta_get(d, "record_cost_pct");
    say(t, "backend", tracedata_meta_get(d, "backend"));
    say(t, "source_format", tracedata_meta_get(d, "source_format"));
    say(t, "version", tracedata_meta_get(d, "version"));
    if (ranks)
        say_number(t, "ranks", ranks);
    else
        say(t, "ranks", NULL);
    say_number(t, "processes", (int64_t)d->nprocesses - 1);
    say_number(t, "events", (int64_t)d->n);
    say_number(t, "losses", (int64_t)d->nloss);
    if (last_event(d, &last))
        say_number(t, "last_event_ns", last);
    else
        say(t, "last_event_ns", NULL);
    say(t, "clean_end", clean ? clean : "1"); /* a foreign file that was read to its end */
    say(t, "degraded", degraded ? degraded : "no");
    say(t, "recording_cost_pct", cost);
    say_meta(d, t);
    say_losses(d, t);
}

static bool show(const struct args *args, const struct output_opts *oo, struct err *e)
{
    struct tracedata d;
    struct table t;
    tracedata_init(&d);
    table_init(&t, "info", "What the trace says of itself", columns);
    bool part = part_is(args->file),
         ok = output_spares(oo->path, args->file, e) && (part ? part_info(args->file, &t, e) : import_open(args->file, oo->quiet, &d, e));
    if (ok && !part)
        say_all(&d, &t);
    ok = ok && output_table(&t, NULL, oo, e);
    table_free(&t);
    tracedata_free(&d);
    return ok;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct arena a = {0};
    struct args args = {0};
    struct output_opts oo = {0};
    const struct opt_group groups[] = {{opts, &args}, {output_opts, &oo}, {0}};
    if (opt_parse(argc, argv, groups,
                  "What a trace says of itself.\vlast_event_ns: since the trace's start. clean_end: 1, or 0 when the recording was cut off. "
                  "recording_cost_pct: time that recording took on the emitting threads, of their time.\n\n"
                  "  cpscope info run.sqlite\n"
                  "  cpscope info run.sqlite --filter loss",
                  &a, e) &&
        output_ready(&oo, false, e))
        show(&args, &oo, e);
    arena_free(&a);
    return err_status(e);
}

const struct cmd cmd_info = {"info", "what a trace says of itself: backend, ranks, losses, recording cost", run};
