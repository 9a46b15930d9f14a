/* gate_trust.c - what recordings say of themselves that keeps a rule from being judged. */
#include "analyzer/gate_parts.h"
#include "schemas/lossreason.h"
#include "schemas/ringfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool gate_oversubscribed(const struct runset *runs)
{
    for (size_t r = 0; r < runs->n; r++)
        for (size_t i = 0; i < runs->v[r].t.nfiles; i++) {
            const char *said = tracedata_meta_get(&runs->v[r].t.files[i].d, "oversubscribed");
            if (said && strcmp(said, "0") != 0)
                return true;
        }
    return false;
}

static int64_t threshold_of(const struct trace_file *f)
{
    const char *said = tracedata_meta_get(&f->d, "stack_threshold_ns");
    return said ? strtoll(said, NULL, 10) : 0;
}

/* A wait that did not bring its site along has it from its stack, if one was taken. */
static bool waits_without_site(const struct trace_file *f)
{
    for (size_t i = 0; i < f->d.n; i++) {
        const struct ev_sync *s = f->d.ev[i].site ? NULL : ev_sync_of(&f->d, &f->d.ev[i]);
        if (s && s->class != SYNC_NONE)
            return true;
    }
    return false;
}

const char *gate_stack_threshold(const struct trace *t, struct arena *a)
{
    for (size_t i = 0; i < t->nfiles; i++)
        if (threshold_of(&t->files[i]) > 0 && waits_without_site(&t->files[i]))
            return arena_printf(a,
                                "%s: stacks were taken of waits over %.6g us only, so that sites depend on how long a wait took: record with "
                                "--stack-threshold 0s",
                                t->files[i].name, (double)threshold_of(&t->files[i]) / 1e3);
    return NULL;
}

/* Rows may be missing where steps are looked at: of the recorder, of the device, or an unknown number, which is one of rows that never
 * came to the file. */
static bool rows_missing(const struct trace *t, size_t file, const struct loss_row *l)
{
    const struct trace_file *f = &t->files[file];
    const char *reason = trace_string(f, l->reason);
    if (l->count >= 0 && strcmp(reason, RINGFILE_DROPPED) != 0 && !loss_is_of_rows(reason))
        return false;
    if (l->start == INT64_MIN || l->end == INT64_MIN)
        return true;
    bool touches = false;
    for (size_t r = 0; r < t->nranks; r++)
        touches |= t->ranks[r].file == file && ivl_touches(t->ranks[r].window, l->start, l->end);
    return touches;
}

const char *gate_losses(const struct trace *t, struct arena *a)
{
    for (size_t i = 0; i < t->nfiles; i++) {
        const struct trace_file *f = &t->files[i];
        for (size_t k = 0; k < f->d.nloss; k++)
            if (rows_missing(t, i, &f->d.loss[k]))
                return arena_printf(a, "counts may be too low: %s: %s", f->name, trace_string(f, f->d.loss[k].reason));
    }
    return NULL;
}
