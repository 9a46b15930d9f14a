/* kernelrows.c - kernels that were asked not to be recorded, and traces without device rows. */
#include "analyzer/kernelrows.h"

#include <string.h>

enum { WORK_ROWS = 1 << EV_KERNEL | 1 << EV_COMM | 1 << EV_MEMCPY | 1 << EV_MEMSET };

/* "kernel memcpy" names kernel; the recorder writes whole words. */
static bool left_out(const struct trace_file *f)
{
    const char *without = tracedata_meta_get(&f->d, "not_recorded");
    for (const char *p = without; p && *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        if (n == strlen("kernel") && strncmp(p, "kernel", n) == 0)
            return true;
        p += n;
    }
    return false;
}

static bool chosen(const struct trace_opts *o)
{
    return o->step || o->range || o->rank >= 0 || o->device >= 0 || o->from != INT64_MIN || o->to != INT64_MAX;
}

bool kernels_in_window(const struct trace *t, struct table *out, struct err *e)
{
    size_t rows = 0;
    for (size_t i = 0; i < t->nlanes; i++) {
        const struct lane *l = &t->lanes[i];
        const struct event *ev = t->files[l->file].d.ev;
        rows += l->n;
        for (size_t k = 0; k < l->n; k++)
            if (ivl_touches(l->window, ev[l->ev[k]].start, ev[l->ev[k]].end))
                return true;
    }
    if (!rows || t->span != SPAN_STEP || chosen(&t->opts))
        return true;
    fail(e, ERR_UNDECIDED,
         "%s: none of the %zu rows of its devices lies in the steps that the host marked: their clocks disagree, or the steps are of other work; see "
         "--span gpu",
         t->files[0].name, rows);
    if (out)
        table_note(out, "%s", e->msg);
    return false;
}

bool kernels_known(const struct trace *t, struct err *e)
{
    bool any = false;
    for (size_t i = 0; i < t->nfiles; i++) {
        if (left_out(&t->files[i]))
            return fail(e, ERR_UNDECIDED,
                        "%s: kernels were not recorded, as asked (--lite or --kinds): what the device did is not known; try syncs, comm, ranges",
                        t->files[i].name);
        any |= (t->files[i].kinds & WORK_ROWS) != 0;
    }
    return any ? kernels_in_window(t, NULL, e)
               : fail(e, ERR_UNDECIDED, "%s: no GPU rows in this trace: what the device did is not known; try syncs --ledger op, ranges",
                      t->files[0].name);
}
