/* report_facts.c - where the numbers come from: what each recording says of itself. */
#include "analyzer/report.h"
#include "reports/human.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Facts of a machine and a moment, not of the measurement: they would make two equal runs look different. */
static bool left_out(const char *key)
{
    static const char *const keys[] = {"t0_ns", "utc_epoch_ns", "host", "pid", "rank", NULL};
    for (size_t i = 0; keys[i]; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* All keys of meta on either side, sorted, each once. */
static size_t keys_of(const struct report *r, struct arena *a, const char ***keys)
{
    const struct trace *t[] = {&r->before.t, &r->after.t};
    size_t n = 0, cap = 0, kept = 0;
    for (int i = 0; i < 2; i++)
        for (size_t f = 0; f < t[i]->nfiles; f++)
            cap += t[i]->files[f].d.nmeta;
    *keys = arena_array(a, const char *, cap + 1);
    for (int i = 0; i < 2; i++)
        for (size_t f = 0; f < t[i]->nfiles; f++)
            for (size_t m = 0; m < t[i]->files[f].d.nmeta; m++)
                (*keys)[n++] = trace_string(&t[i]->files[f], t[i]->files[f].d.meta[m].key);
    qsort(*keys, n, sizeof **keys, by_text);
    for (size_t i = 0; i < n; i++)
        if (!left_out((*keys)[i]) && (!kept || strcmp((*keys)[i], (*keys)[kept - 1]) != 0))
            (*keys)[kept++] = (*keys)[i];
    return kept;
}

/* The value that all files of a side agree on, else how many there are. */
static struct cell value_of(const struct trace *t, const char *key, struct table *out)
{
    const char *first = NULL;
    size_t others = 0;
    for (size_t i = 0; i < t->nfiles; i++) {
        const char *v = tracedata_meta_get(&t->files[i].d, key);
        if (v && !first)
            first = v;
        else if (v && strcmp(v, first) != 0)
            others++;
    }
    if (!first || !others)
        return cell_text(first ? table_text(out, "%s", first) : NULL);
    return cell_text(table_text(out, "%s, and %zu files that say otherwise", first, others));
}

static void row(const struct report *r, struct table *out, const char *key, struct cell before, struct cell after)
{
    struct cell *c = table_row(out);
    c[0] = cell_text(table_text(out, "%s", key));
    if (r->pair)
        c[1] = before;
    c[r->pair ? 2 : 1] = after;
}

/* A fact that the recordings themselves give: where both sides agree it goes to what is the same. */
static void recorded(struct report *r, const char *key, struct table *out, struct table *same)
{
    struct cell before = value_of(&r->before.t, key, out), after = value_of(&r->after.t, key, out);
    if (!r->pair || !before.kind || !after.kind || strcmp(before.s, after.s) != 0) {
        row(r, out, key, before, after);
        return;
    }
    struct cell *c = table_row(same);
    c[0] = cell_text(table_text(same, "%s", key));
    c[1] = value_of(&r->after.t, key, same);
}

static struct cell files_of(const struct trace *t, struct table *out)
{
    if (!t->nfiles)
        return (struct cell){0};
    if (t->nfiles == 1)
        return cell_text(t->files[0].name);
    return cell_text(table_text(out, "%s and %zu more", t->files[0].name, t->nfiles - 1));
}

static struct cell backend_of(const struct side *s)
{
    const char *all = facts_get(&s->facts, "backend");
    return s->t.nfiles ? cell_text(all ? all : "unknown") : (struct cell){0};
}

static struct cell events_of(const struct trace *t, struct table *out)
{
    int64_t n = 0;
    for (size_t i = 0; i < t->nfiles; i++)
        n += (int64_t)t->files[i].d.n;
    char buf[HUMAN_SIZE];
    return t->nfiles ? cell_text(table_text(out, "%s", human_count(n, buf))) : (struct cell){0};
}

static struct cell losses_of(const struct trace *t, struct table *out)
{
    const char *all = NULL;
    for (size_t i = 0; i < t->nfiles; i++)
        for (size_t k = 0; k < t->files[i].d.nloss; k++) {
            const struct loss_row *l = &t->files[i].d.loss[k];
            const char *n = l->count < 0 ? "count unknown" : table_text(out, "%" PRId64, l->count);
            all = table_text(out, "%s%s%s (%s)", all ? all : "", all ? "; " : "", trace_string(&t->files[i], l->reason), n);
        }
    return cell_text(all ? all : "none");
}

static const struct column pair_columns[] = {{"fact", UNIT_TEXT}, {"before", UNIT_TEXT}, {"after", UNIT_TEXT}, {0}};
static const struct column one_columns[] = {{"fact", UNIT_TEXT}, {"this run", UNIT_TEXT}, {0}};

static const struct column same_columns[] = {{"fact", UNIT_TEXT}, {"both sides", UNIT_TEXT}, {0}};

void report_provenance(struct report *r, struct table *out, struct table *same)
{
    struct trace *b = &r->before.t, *a = &r->after.t;
    const char **keys;
    table_init(out, "provenance", r->pair ? "What the recordings say, where they differ" : "What the recording says",
               r->pair ? pair_columns : one_columns);
    if (r->pair)
        table_init(same, "provenance", "What both recordings say", same_columns);
    row(r, out, "trace", files_of(b, out), files_of(a, out));
    row(r, out, "backend", backend_of(&r->before), backend_of(&r->after));
    row(r, out, "window", cell_text(r->pair ? trace_window_text(b, &out->arena) : NULL), cell_text(trace_window_text(a, &out->arena)));
    row(r, out, "events", events_of(b, out), events_of(a, out));
    row(r, out, "lost", losses_of(b, out), losses_of(a, out));
    size_t n = keys_of(r, &out->arena, &keys);
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i], "backend") != 0)
            recorded(r, keys[i], out, same);
}
