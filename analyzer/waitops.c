/* waitops.c - the op ledger: framework operators by which the host reads the device.
 *
 *     is_nonzero  |----------------------------|     blocked: self time, the dark part
 *     item           |####################|
 *     cudaMemcpy        |---- a wait ---|            blocks both, its bubble is the innermost's
 */
#include "analyzer/nest.h"
#include "analyzer/waits.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum op_class class;
} ops[] = {
    {"item", OP_ITEM},
    {"is_nonzero", OP_IS_NONZERO},
    {"nonzero", OP_NONZERO},
    {"index", OP_NONZERO}, /* ours only: a framework's boolean index holds a nonzero, which is the row that counts */
};

struct oplook {
    const struct trace *t;
    const struct trace_file *f;
    struct waits *w;
    struct sites sites;
    size_t cap;
    const struct waits *waits;
    size_t next;    /* the first wait not yet passed */
    uint8_t *class; /* by string id: 1 + row of ops[], 0xff none, 0 not looked at */
    uint32_t *row;  /* open ledger ops of this thread: numbers in w->v */
    size_t nrow, row_cap;
    struct nest open;
    uint32_t *around;
    size_t around_cap;
};

/* 1 + row of ops[]; 0: not of this ledger. */
static int op_of(struct oplook *x, uint32_t name)
{
    uint8_t *c = &x->class[name];
    if (!*c) {
        const char *text = trace_string(x->f, name);
        bool aten = strncmp(text, "aten::", 6) == 0;
        *c = 0xff;
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
            if (strcmp(aten ? text + 6 : text, ops[i].name) == 0 && !(aten && strcmp(ops[i].name, "index") == 0))
                *c = (uint8_t)(1 + i);
    }
    return *c == 0xff ? 0 : *c;
}

/* The API column: a nonzero inside a framework's index is a boolean index. */
static const char *api_of(const struct oplook *x, int op)
{
    const struct event *ev = x->f->d.ev;
    for (size_t i = x->open.n; ops[op - 1].class == OP_NONZERO && i-- > 0;)
        if (ev[x->open.v[i]].kind == EV_OP)
            return strcmp(trace_string(x->f, ev[x->open.v[i]].name), "aten::index") == 0 ? "index" : ops[op - 1].name;
    return ops[op - 1].name;
}

/* Ops that ended before `start` are closed. */
static void close_ops(struct oplook *x, int64_t start)
{
    const struct event *ev = x->f->d.ev;
    while (x->nrow && ev[x->w->v[x->row[x->nrow - 1]].event].end <= start)
        x->nrow--;
}

static void add_op(struct oplook *x, const struct trace_rank *r, uint32_t row, int op)
{
    const struct event *ev = x->f->d.ev;
    if (!ivl_touches(r->window, ev[row].start, ev[row].end))
        return;
    struct wait w = {.event = row,
                     .rank = (uint32_t)(r - x->t->ranks),
                     .class = (int8_t)ops[op - 1].class,
                     .did_block = x->waits->recorded ? 0 : -1,
                     .blocked_ns = ivl_within(r->window, ev[row].start, ev[row].end)};
    w.api = intern_id(&x->w->names, api_of(x, op));
    size_t n = 0;
    if (sites_needs_around(&x->sites, &ev[row])) {
        if (x->open.n > x->around_cap)
            x->around = array_grow(x->around, &x->around_cap, x->open.n, sizeof *x->around);
        n = nest_around(&x->open, ev, row, x->around);
    }
    w.site = sites_id(&x->sites, &ev[row], x->around, n);
    if (x->nrow)
        x->w->v[x->row[x->nrow - 1]].blocked_ns -= w.blocked_ns; /* self time */
    ARRAY_PUSH(x->row, x->nrow, x->row_cap, (uint32_t)x->w->n);
    ARRAY_PUSH(x->w->v, x->w->n, x->cap, w);
}

/* A row of the wait ledger: every open op that holds it did block; stall and bubble are the innermost's. */
static void take_wait(struct oplook *x, const struct wait *wait)
{
    const struct event *ev = x->f->d.ev;
    struct wait *inner = NULL;
    for (size_t i = 0; i < x->nrow; i++) {
        struct wait *op = &x->w->v[x->row[i]];
        if (ev[op->event].end < ev[wait->event].end)
            continue;
        op->did_block = 1;
        inner = op;
    }
    if (!inner || !wait->has_device)
        return;
    inner->stall_ns += wait->stall_ns;
    inner->bubble_ns += wait->bubble_ns;
}

static void op_thread(struct oplook *x, const struct trace_rank *r, const struct thread_events *th)
{
    const struct event *ev = x->f->d.ev;
    x->open.n = x->nrow = 0;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t row = th->ev[i];
        nest_move(&x->open, ev, row);
        close_ops(x, ev[row].start);
        if (x->next < x->waits->n && x->waits->v[x->next].event == row)
            take_wait(x, &x->waits->v[x->next++]);
        int op = ev[row].kind == EV_OP ? op_of(x, ev[row].name) : 0;
        if (op)
            add_op(x, r, row, op);
        if (ev[row].kind == EV_FRAME || ev[row].kind == EV_RANGE || ev[row].kind == EV_OP)
            nest_push(&x->open, row);
    }
}

/* A recording of ours whose devices report API calls reports every operator too, unless --kinds left them out: there
 * none found means none there, which is what the best runs show. A foreign trace without a row says nothing. */
static bool records_ops(const struct trace *t)
{
    for (size_t i = 0; i < t->nfiles; i++) {
        const struct trace_file *f = &t->files[i];
        const char *format = tracedata_meta_get(&f->d, "source_format"), *kinds = tracedata_meta_get(&f->d, "record_kinds");
        bool ours = format && strcmp(format, "cpscope") == 0 && (f->kinds >> EV_RUNTIME & 1);
        if ((f->kinds >> EV_OP & 1) || (ours && !kinds))
            return true;
    }
    return false;
}

void waits_find_ops(const struct trace *t, enum site_by by, struct waits *w)
{
    struct waits waits;
    waits_find(t, SITE_FUNCTION, &waits);
    *w = (struct waits){.recorded = records_ops(t)};
    intern_init(&w->names);
    struct oplook x = {.t = t, .w = w, .waits = &waits};
    for (uint32_t file = 0; file < t->nfiles; file++) {
        struct arena a = {0};
        x.f = &t->files[file];
        x.class = arena_array(&a, uint8_t, x.f->d.strings.n + 1);
        sites_init(&x.sites, x.f, by, &w->names);
        for (uint32_t r = 0; r < t->nranks; r++)
            for (size_t i = 0; t->ranks[r].file == file && i < t->ranks[r].nthreads; i++)
                op_thread(&x, &t->ranks[r], &t->ranks[r].threads[i]);
        sites_free(&x.sites);
        arena_free(&a);
    }
    for (size_t i = 0; i < w->n; i++)
        w->v[i].has_device = waits.recorded && t->ranks[w->v[i].rank].nlanes > 0;
    free(x.row);
    nest_free(&x.open);
    free(x.around);
    waits_free(&waits);
}
