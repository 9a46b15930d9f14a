/* digest.c - what a table makes of one file, and how those of many become one table. */
#include "analyzer/reduce.h"

#include <stdlib.h>
#include <string.h>

static bool restricted(const struct trace_opts *o)
{
    return o->rank >= 0 || o->device >= 0 || o->range || o->from != INT64_MIN || o->to != INT64_MAX;
}

/* Waiting in what is shown hangs on what is not: the calls of other ranks, devices and times are known all the same. */
void digest_calls(const struct trace *t, struct calls *k)
{
    struct trace_opts o = TRACE_OPTS_NONE;
    struct trace all;
    struct err none = {0};
    o.patterns = t->opts.patterns;
    o.patterns_text = t->opts.patterns_text;
    o.one_of_many = true;
    bool more = restricted(&t->opts) && trace_again(t, &o, &all, &none);
    calls_file(t, more ? &all : NULL, k);
    if (more)
        trace_close(&all);
}

void digest_make(const struct table_desc *d, const struct trace *t, const void *args, struct digest *g)
{
    struct trace with = *t; /* the table marks its calls */
    table_init(&g->rows, d->name, d->title, d->columns);
    calls_init(&g->calls);
    if (d->joins)
        digest_calls(t, &g->calls);
    with.calls = &g->calls;
    if (!d->fill(&with, args, &g->rows, &g->err))
        table_cut(&g->rows, 0);
    table_note_steps(t, &g->rows);
}

void digest_free(struct digest *g)
{
    table_free(&g->rows);
    calls_free(&g->calls);
    trace_close(&g->husk);
}

/* ---- husks ---- */

static struct ivlset keep_set(struct arena *a, struct ivlset x)
{
    struct ivl *v = arena_array(a, struct ivl, x.n + 1);
    if (x.n)
        memcpy(v, x.v, x.n * sizeof *v);
    return (struct ivlset){v, x.n};
}

static void keep_facts(const struct tracedata *from, struct tracedata *to)
{
    to->t0 = from->t0;
    for (size_t i = 0; i < from->nmeta; i++)
        tracedata_meta(to, intern_str(&from->strings, from->meta[i].key), intern_str(&from->strings, from->meta[i].value));
    for (size_t i = 0; i < from->nloss; i++)
        tracedata_loss(to, intern_str(&from->strings, from->loss[i].reason), from->loss[i].count, from->loss[i].start, from->loss[i].end);
    for (size_t i = 0; i < from->nclocks; i++) {
        struct clock_row row = from->clocks[i];
        row.clock = intern_id(&to->strings, intern_str(&from->strings, row.clock));
        ARRAY_PUSH(to->clocks, to->nclocks, to->clocks_cap, row);
    }
}

static void keep_file(const struct trace_file *f, struct arena *a, struct trace_file *to)
{
    *to = *f;
    tracedata_init(&to->d);
    keep_facts(&f->d, &to->d);
    const char *path = arena_strdup(a, f->path);
    int32_t *held = arena_array(a, int32_t, f->nheld + 1);
    if (f->nheld)
        memcpy(held, f->held, f->nheld * sizeof *held);
    to->name = path + (f->name - f->path);
    to->path = path;
    to->backend = tracedata_meta_get(&to->d, "backend");
    to->held = held;
    to->class = NULL;
    to->launches = NULL;
}

static void keep_rank(const struct trace_rank *r, struct arena *a, struct trace_rank *to)
{
    struct step *v = arena_array(a, struct step, r->steps.n + 1);
    if (r->steps.n)
        memcpy(v, r->steps.v, r->steps.n * sizeof *v);
    *to = *r;
    to->ev = NULL, to->threads = NULL;
    to->n = to->nthreads = 0;
    to->steps.v = v;
    to->window = keep_set(a, r->window);
}

void husk_take(struct trace *t, struct trace *husk)
{
    size_t cap = 0;
    *husk = *t;
    husk->arena = (struct arena){0};
    husk->files = array_grow(NULL, &cap, t->nfiles + 1, sizeof *husk->files);
    husk->ranks = array_grow(NULL, &husk->ranks_cap, t->nranks + 1, sizeof *husk->ranks);
    husk->lanes = array_grow(NULL, &husk->lanes_cap, t->nlanes + 1, sizeof *husk->lanes);
    for (size_t i = 0; i < t->nfiles; i++)
        keep_file(&t->files[i], &husk->arena, &husk->files[i]);
    for (size_t i = 0; i < t->nranks; i++)
        keep_rank(&t->ranks[i], &husk->arena, &husk->ranks[i]);
    for (size_t i = 0; i < t->nlanes; i++) {
        husk->lanes[i] = t->lanes[i];
        husk->lanes[i].ev = NULL;
        husk->lanes[i].n = 0;
        husk->lanes[i].window = keep_set(&husk->arena, t->lanes[i].window);
    }
    trace_close(t);
}

/* ---- joining ---- */

void joint_open(struct joint *j, const struct table_desc *d, const void *args, struct table *out)
{
    *j = (struct joint){.d = d, .args = args, .out = out};
    calls_init(&j->calls);
    intern_init(&j->texts);
}

/* Each text once, in the table's own memory. */
static const char *keep_text(struct joint *j, const char *s)
{
    uint32_t id = intern_id(&j->texts, s);
    while (j->nkept <= id)
        ARRAY_PUSH(j->kept, j->nkept, j->kept_cap, NULL);
    if (!j->kept[id])
        j->kept[id] = arena_strdup(&j->out->arena, s);
    return j->kept[id];
}

static void add_note(struct table *out, const char *note)
{
    for (size_t i = 0; i < out->nnotes; i++)
        if (strcmp(out->notes[i], note) == 0)
            return;
    table_note(out, "%s", note);
}

/* The column that says which calls a row waits in; -1: none. */
static int waits_column(const struct joint *j)
{
    return j->d->waits ? table_column(j->out, j->d->waits) : -1;
}

static void add_row(struct joint *j, const struct cell *from, const struct trace_file *f, int waits, int64_t *last)
{
    struct cell *row = table_row(j->out);
    int backend = table_column(j->out, "backend");
    for (size_t c = 0; c < j->out->ncolumns; c++) {
        row[c] = from[c];
        if (from[c].kind == CELL_TEXT && (int)c != backend && (int)c != backend + 1)
            row[c].s = keep_text(j, from[c].s);
    }
    if (backend >= 0) {
        row[backend] = cell_text(f->backend);
        row[backend + 1] = cell_text(f->name);
    }
    if (waits >= 0 && row[waits].kind) {
        *last = row[waits].i > *last ? row[waits].i : *last;
        row[waits].i += j->base.row;
    }
}

void joint_add(struct joint *j, const struct digest *g, const struct trace_file *f, uint32_t nlanes)
{
    int waits = waits_column(j);
    int64_t last = 0;
    for (size_t i = 0; i < g->rows.nrows; i++)
        add_row(j, table_at(&g->rows, i), f, waits, &last);
    for (size_t i = 0; i < g->rows.nnotes; i++)
        add_note(j->out, g->rows.notes[i]);
    for (size_t i = 0; i < g->calls.n; i++)
        last = g->calls.v[i].c.row > last ? g->calls.v[i].c.row : last;
    calls_append(&j->calls, &g->calls, j->base);
    if (!j->any && g->err.kind && !j->none.kind)
        j->none = g->err;
    if (g->err.kind && g->err.kind != ERR_UNDECIDED)
        j->none = g->err;
    j->any |= !g->err.kind;
    j->base.file++;
    j->base.lane += nlanes;
    j->base.row += (uint32_t)last;
}

/* The waiting of each row's calls, where all of them are matched: absent else. */
static void join_waits(struct joint *j, const struct trace *t, int column)
{
    struct arena a = {0};
    struct collectives c;
    int64_t *wait = arena_array(&a, int64_t, j->base.row + 1);
    uint8_t *state = arena_array(&a, uint8_t, j->base.row + 1); /* 0 no call, 1 all matched, 2 not all */
    collectives_find(t, &c);
    for (size_t i = 0; i < c.n; i++) {
        uint32_t row = c.v[i].row;
        bool known = c.v[i].transfer_ns >= 0;
        state[row] = known && state[row] < 2 ? 1 : 2;
        wait[row] += known ? c.v[i].total_ns - c.v[i].transfer_ns : 0;
    }
    for (size_t i = 0; i < j->out->nrows; i++) {
        struct cell *row = table_at(j->out, i);
        if (row[column].kind)
            row[column] = state[row[column].i] == 1 ? cell_int(wait[row[column].i]) : (struct cell){0};
    }
    collectives_free(&c);
    arena_free(&a);
}

bool joint_close(struct joint *j, const struct trace *t, struct err *e)
{
    struct trace with = *t;
    int waits = waits_column(j);
    bool ok = j->any && (!j->none.kind || j->none.kind == ERR_UNDECIDED);
    with.calls = &j->calls;
    if (ok && waits >= 0)
        join_waits(j, &with, waits);
    if (ok && j->d->finish)
        j->d->finish(&with, j->args, j->out);
    if (ok && j->d->order)
        table_sort_by(j->out, j->d->order);
    if (!ok)
        fail(e, j->none.kind, "%s", j->none.msg);
    calls_free(&j->calls);
    intern_free(&j->texts);
    free(j->kept);
    return ok;
}
