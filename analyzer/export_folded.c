/* export_folded.c - stacks of host rows with the time spent in each itself, as flame graph tools read them.
 *
 *   |------- step -------|        step 3
 *      |-- layer --|              step;layer 4
 *         |call|                  step;layer;call 2
 *
 * Every ns of rows that nest is charged to one stack; equal stacks of all threads of a rank are added up. A row that
 * outlasts the row it began in is cut there; a start/end range that does is left out, for such ranges belong to no stack.
 * What lies deeper than a thousand rows is charged to the thousandth.
 */
#include "analyzer/export.h"
#include "analyzer/groups.h"
#include "analyzer/outbuf.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 1000, ROOT = 0 };

struct node {
    uint32_t parent, name; /* 1 + node; string of `names` */
    int64_t ns;            /* its own */
};

struct open {
    int64_t end;
    uint32_t node;
};

struct folded {
    struct outbuf o;
    struct intern names;
    struct groups index; /* (parent, name) -> node */
    struct node *nodes;
    size_t nodes_cap;
    struct open *stack;
    size_t depth, stack_cap;
    int64_t now; /* up to where the thread's time is charged */
};

static uint32_t child(struct folded *x, uint32_t parent, uint32_t name)
{
    size_t before = x->index.n, g = groups_at(&x->index, parent, name, 0, 0);
    if (x->index.n > before) {
        size_t n = before;
        ARRAY_PUSH(x->nodes, n, x->nodes_cap, ((struct node){parent, name, 0}));
    }
    return (uint32_t)g + 1;
}

static void charge(struct folded *x, int64_t until)
{
    if (x->depth && until > x->now)
        x->nodes[x->stack[x->depth - 1].node - 1].ns += until - x->now;
    x->now = until > x->now ? until : x->now;
}

/* Closes what has ended by `time`. */
static void close_until(struct folded *x, int64_t time)
{
    while (x->depth && x->stack[x->depth - 1].end <= time) {
        charge(x, x->stack[x->depth - 1].end);
        x->depth--;
    }
    charge(x, time);
}

static void add(struct folded *x, const struct trace_file *f, const struct event *ev, uint32_t root)
{
    const struct ev_range *r = ev_range_of(&f->d, ev);
    close_until(x, ev->start);
    const struct open *top = x->depth ? &x->stack[x->depth - 1] : NULL;
    bool outlasts = top && ev->end > top->end;
    if (ev->end == ev->start || x->depth == DEEPEST || (outlasts && r && r->flavour == RANGE_START_END))
        return;
    uint32_t name = intern_id(&x->names, trace_string(f, ev->name));
    struct open o = {outlasts ? top->end : ev->end, child(x, top ? top->node : root, name)};
    ARRAY_PUSH(x->stack, x->depth, x->stack_cap, o);
}

/* A row's thread begins: nothing is open. */
static void next_thread(struct folded *x)
{
    close_until(x, INT64_MAX);
    x->now = INT64_MIN;
}

static int by_thread(const void *p, const void *q)
{
    const uint64_t *a = p, *b = q;
    return (*a > *b) - (*a < *b);
}

/* The host rows of a file: threads one after the other, each in order of time. */
static void add_file(struct folded *x, const struct export_job *job, const struct export_file *f)
{
    const struct event *ev = f->f->d.ev;
    size_t n = 0, cap = 0;
    uint64_t *v = array_grow(NULL, &cap, f->n + 1, sizeof *v);
    for (size_t i = 0; i < f->n; i++)
        if (ev_kind_class((enum ev_kind)ev[f->rows[i]].kind) == EV_HOST)
            v[n++] = (uint64_t)ev[f->rows[i]].thread << 32 | i;
    qsort(v, n, sizeof *v, by_thread);
    for (size_t i = 0; i < n; i++) {
        const struct event *row = &ev[f->rows[v[i] & UINT32_MAX]];
        int32_t rank = trace_event_rank(&f->f->d, row);
        char name[32];
        uint32_t root = ROOT;
        if (i == 0 || v[i] >> 32 != v[i - 1] >> 32)
            next_thread(x);
        if (rank >= 0 && (job->ranks || job->nfiles > 1)) {
            snprintf(name, sizeof name, "rank %d", rank);
            root = child(x, ROOT, intern_id(&x->names, name));
        }
        add(x, f->f, row, root);
    }
    next_thread(x);
    free(v);
}

static const struct folded *sorting; /* qsort hands nothing on */

static size_t path_of(const struct folded *x, uint32_t node, uint32_t *path)
{
    size_t n = 0;
    for (; node != ROOT; node = x->nodes[node - 1].parent)
        path[n++] = x->nodes[node - 1].name;
    return n;
}

/* By the text of the frames, from the outermost in. */
static int by_path(const void *p, const void *q)
{
    uint32_t a[DEEPEST + 2], b[DEEPEST + 2];
    size_t n = path_of(sorting, *(const uint32_t *)p, a), m = path_of(sorting, *(const uint32_t *)q, b);
    while (n && m) {
        int order = a[n - 1] == b[m - 1] ? 0 : strcmp(intern_str(&sorting->names, a[n - 1]), intern_str(&sorting->names, b[m - 1]));
        if (order)
            return order;
        n--, m--;
    }
    return (n > m) - (n < m);
}

static void print(struct folded *x)
{
    size_t n = 0, cap = 0;
    uint32_t *v = array_grow(NULL, &cap, x->index.n + 1, sizeof *v), path[DEEPEST + 2];
    for (uint32_t i = 0; i < x->index.n; i++)
        if (x->nodes[i].ns)
            v[n++] = i + 1;
    sorting = x;
    qsort(v, n, sizeof *v, by_path);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = path_of(x, v[i], path); k > 0; k--) {
            out_folded(&x->o, intern_str(&x->names, path[k - 1]));
            out_char(&x->o, k > 1 ? ';' : ' ');
        }
        out_int(&x->o, x->nodes[v[i] - 1].ns);
        out_char(&x->o, '\n');
    }
    free(v);
}

static bool write(struct export_job *job, const char *path, struct err *e)
{
    struct folded x = {.now = INT64_MIN};
    if (!trace_has(job->t, EV_RANGE) && !trace_has(job->t, EV_RUNTIME) && !trace_has(job->t, EV_OP) && !trace_has(job->t, EV_FRAME))
        return fail(e, ERR_UNDECIDED, "%s: no host rows in this trace, of which stacks could be made", job->t->files[0].name);
    if (!outbuf_open(&x.o, path, e))
        return false;
    intern_init(&x.names);
    for (size_t i = 0; i < job->nfiles; i++)
        add_file(&x, job, &job->files[i]);
    print(&x);
    intern_free(&x.names);
    groups_free(&x.index);
    free(x.nodes);
    free(x.stack);
    return outbuf_close(&x.o, e);
}

const struct exporter export_folded = {.name = "folded", .what = "stacks of host rows with their own ns", .write = write};
