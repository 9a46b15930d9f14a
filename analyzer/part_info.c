/* part_info.c - what a part says of itself: its traces together, the options it was made with, what it keeps. */
#include "analyzer/part_info.h"
#include "analyzer/part.h"
#include "analyzer/part_digest.h"
#include "analyzer/part_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct adding {
    struct table *t;
    int64_t events, losses, ranks, last;
    bool unclean;
    const char *backend, *degraded;
};

static void say(struct table *t, const char *key, const char *value)
{
    struct cell *row = table_row(t);
    row[0] = cell_text(table_text(t, "%s", key));
    row[1] = cell_text(value ? table_text(t, "%s", value) : NULL);
}

static void say_number(struct table *t, const char *key, int64_t n)
{
    say(t, key, table_text(t, "%" PRId64, n));
}

/* One value, or the several there are. */
static const char *also(struct table *t, const char *all, const char *one)
{
    if (!one || (all && strcmp(all, one) == 0))
        return all;
    return all ? "several" : table_text(t, "%s", one);
}

static void add_trace(struct adding *x, const struct trace *husk, size_t events)
{
    const struct trace_file *f = &husk->files[0];
    const char *clean = tracedata_meta_get(&f->d, "clean_end"), *degraded = tracedata_meta_get(&f->d, "degraded");
    x->events += (int64_t)events;
    x->losses += (int64_t)f->d.nloss;
    for (size_t i = 0; i < f->nheld; i++)
        x->ranks += f->held[i] >= 0;
    if (f->end >= f->start && f->end - f->start > x->last)
        x->last = f->end - f->start;
    x->unclean |= clean && strcmp(clean, "1") != 0;
    x->backend = also(x->t, x->backend, f->backend);
    x->degraded = also(x->t, x->degraded, degraded);
}

static bool say_option(void *t, const char *key, const char *value)
{
    if (key && value)
        say(t, table_text(t, "option %s", key), value);
    return true;
}

static bool add_all(struct adding *x, const struct part_entry *v, size_t n, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        struct bytes b = {0};
        struct digest g = {0};
        size_t events;
        ok = part_blob(v[i].path, NULL, &b);
        struct reading r = {.v = b.v, .n = b.n};
        ok = (ok && digest_get_file(&r, v[i].path, &g, &events)) || fail(e, ERR_FAIL, "%s: a damaged part; reduce again", v[i].path);
        if (ok)
            add_trace(x, &g.husk, events);
        digest_free(&g);
        bytes_free(&b);
    }
    return ok;
}

bool part_info(const char *path, struct table *t, struct err *e)
{
    struct arena a = {0};
    struct part_entry *v = NULL;
    size_t n = 0;
    struct adding x = {.t = t, .last = -1};
    bool ok = part_list(path, &a, &v, &n, e) && add_all(&x, v, n, e);
    if (ok) {
        say(t, "backend", x.backend);
        say(t, "source_format", "cpscope part");
        say(t, "version", "3");
        x.ranks ? say_number(t, "ranks", x.ranks) : say(t, "ranks", NULL);
        say(t, "processes", NULL);
        say_number(t, "events", x.events);
        say_number(t, "losses", x.losses);
        x.last >= 0 ? say_number(t, "last_event_ns", x.last) : say(t, "last_event_ns", NULL);
        say(t, "clean_end", x.unclean ? "0" : "1");
        say(t, "degraded", x.degraded ? x.degraded : "no");
        say(t, "recording_cost_pct", NULL);
        say_number(t, "traces", (int64_t)n);
        say(t, "rows", part_has_rows(path) ? "kept" : "not kept");
        ok = part_each_option(path, say_option, t, e);
    }
    for (size_t i = 0; ok && i < n; i++)
        say(t, table_text(t, "trace %zu", i + 1), strrchr(v[i].path, '/') + 1);
    free(v);
    arena_free(&a);
    return ok;
}
