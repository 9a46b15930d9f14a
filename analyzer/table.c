/* table.c - building a result table: its rows from its own file, the notes that every table carries from here. */
#include "analyzer/trace.h"

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
    const char *over = tracedata_meta_get(&f->d, "oversubscribed");
    if (f->bad_rows)
        table_note(out, "%s: impossible rows left out (end before start, time zero, longer than an hour): %zu", f->name, f->bad_rows);
    if (f->backend && strcmp(f->backend, "sim") == 0)
        table_note(out, "%s: SIMULATED: times come from a cost model, not from a measurement", f->name);
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

bool table_build(const struct table_desc *d, const struct trace *t, const void *args, struct table *out, struct err *e)
{
    table_init(out, d->name, d->title, d->columns);
    if (!d->fill(t, args, out, e))
        return false;
    table_note(out, "window: %s", trace_window_text(t, &out->arena));
    for (size_t i = 0; i < t->nfiles; i++)
        note_file(&t->files[i], out);
    return true;
}
