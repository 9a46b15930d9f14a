/* table.c - building a result table: its rows from its own file, the notes that every table carries from here. */
#include "analyzer/reduce.h"
#include "schemas/tracefile.h"

#include <inttypes.h>
#include <string.h>

const struct table_desc *table_find(const char *name)
{
    for (size_t i = 0; table_descs[i]; i++)
        if (strcmp(table_descs[i]->name, name) == 0)
            return table_descs[i];
    return NULL;
}

struct cell *trace_row(const struct trace *t, uint32_t file, struct table *out)
{
    struct cell *row = table_row(out);
    int backend = table_column(out, "backend");
    if (backend >= 0) {
        row[backend] = cell_text(t->files[file].backend);
        row[backend + 1] = cell_text(t->files[file].name);
    }
    return row;
}

static void note_file(const struct trace_file *f, struct table *out)
{
    const char *over = tracedata_meta_get(&f->d, "oversubscribed"), *without = tracedata_meta_get(&f->d, "not_recorded");
    if (f->bad_rows)
        table_note(out, "%s: impossible rows left out (end before start, time zero, longer than an hour): %zu", f->name, f->bad_rows);
    if (f->backend && strcmp(f->backend, "sim") == 0)
        table_note(out, "%s: SIMULATED: times come from a cost model, not from a measurement", f->name);
    if (without)
        table_note(out, "%s: not recorded, as asked: %s; busy, idle and sums are of the rest", f->name, without);
    if (over && strcmp(over, "0") != 0)
        table_note(out, "%s: more threads than cores: times are oversubscribed and not for judging", f->name);
    for (size_t i = 0; i < f->d.nloss; i++) {
        const struct loss_row *l = &f->d.loss[i];
        if (l->count >= 0)
            table_note(out, "%s: lost: %s (%" PRId64 ")", f->name, trace_string(f, l->reason), l->count);
        else
            table_note(out, "%s: lost: %s", f->name, trace_string(f, l->reason));
    }
}

void table_note_steps(const struct trace *t, struct table *out)
{
    for (size_t i = 0; i < t->nfiles; i++) {
        const struct trace_file *f = &t->files[i];
        size_t left = 0;
        for (uint32_t r = f->first_rank; r < f->first_rank + f->nranks; r++)
            left += t->ranks[r].steps.left;
        if (left)
            table_note(out, "%s: ranges called steps that overlap another step or repeat its number, left out: %zu", f->name, left);
    }
}

/* One file of `t`, numbered from 0; the rows are t's. */
static void view_open(const struct trace *t, uint32_t file, struct trace *v)
{
    const struct trace_file *f = &t->files[file];
    uint32_t first = f->nranks ? t->ranks[f->first_rank].first_lane : 0;
    *v = *t;
    v->arena = (struct arena){0};
    v->nfiles = 1;
    v->files = arena_array(&v->arena, struct trace_file, 1);
    v->files[0] = *f;
    v->files[0].first_rank = 0;
    v->nranks = f->nranks;
    v->ranks = arena_array(&v->arena, struct trace_rank, v->nranks + 1);
    v->lanes = arena_array(&v->arena, struct lane, t->nlanes + 1);
    v->nlanes = 0;
    for (uint32_t r = 0; r < v->nranks; r++) {
        v->ranks[r] = t->ranks[f->first_rank + r];
        v->ranks[r].file = 0;
        v->ranks[r].first_lane -= first;
        for (uint32_t l = 0; l < v->ranks[r].nlanes; l++) {
            v->lanes[v->nlanes] = t->lanes[first + v->nlanes];
            v->lanes[v->nlanes].file = 0;
            v->lanes[v->nlanes++].host = r;
        }
    }
}

static void view_close(struct trace *v)
{
    arena_free(&v->arena);
}

static bool fill_files(const struct table_desc *d, const struct trace *t, const void *args, struct table *out, struct err *e)
{
    struct joint j;
    joint_open(&j, d, args, out);
    for (uint32_t i = 0; i < t->nfiles; i++) {
        struct trace v;
        struct digest g = {0};
        view_open(t, i, &v);
        digest_make(d, &v, args, &g);
        joint_add(&j, &g, &t->files[i], (uint32_t)v.nlanes);
        digest_free(&g);
        view_close(&v);
    }
    return joint_close(&j, t, e);
}

bool table_build(const struct table_desc *d, const struct trace *t, const void *args, struct table *out, struct err *e)
{
    bool whole = d->whole && d->whole(args);
    table_init(out, d->name, d->title, d->columns);
    if (!(whole ? d->fill(t, args, out, e) : fill_files(d, t, args, out, e)))
        return false;
    if (whole && d->order)
        table_sort_by(out, d->order);
    if (whole)
        table_note_steps(t, out);
    table_notes(t, out);
    return true;
}

const char *table_option(const struct table_desc *d, const void *args)
{
    for (const struct opt *k = d->opts; args && k && k->type; k++) {
        const char *text = NULL;
        memcpy(&text, (const char *)args + k->offset, k->type == OPT_FLAG ? sizeof(bool) : sizeof text);
        if (text)
            return k->name;
    }
    return NULL;
}

unsigned table_spares(const struct table_desc *d, const struct trace_opts *o, const void *args)
{
    bool all = o->range || o->step || o->from != INT64_MIN || o->to != INT64_MAX || table_option(d, args);
    return COLUMNS_ALL | (d->spares & ~(o->range ? SIDE_RANGE : 0u) & ~(all ? (unsigned)ROWS_ANY : 0u));
}

void table_note_files(const struct trace *t, struct table *out)
{
    for (size_t i = 0; i < t->nfiles; i++)
        note_file(&t->files[i], out);
}

void table_notes(const struct trace *t, struct table *out)
{
    table_note(out, "window: %s", trace_window_text(t, &out->arena));
    table_note_files(t, out);
}
