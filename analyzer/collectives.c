/* collectives.c - matching calls over ranks: sorted by (run, group, lane, order), then compared block by block. */
#include "analyzer/collectives.h"
#include "analyzer/commop.h"

#include <stdlib.h>
#include <string.h>

struct call {
    struct collective c;
    uint32_t name; /* what must agree: the operation, else the kernel's name */
    int32_t run;
    int32_t size;     /* of the group as the trace says, -1 */
    int64_t sequence; /* -1 */
    int64_t message;  /* what must agree, -1 */
    int64_t duration, start;
    bool single; /* point to point: only its pair could tell */
    bool p2p;    /* names a peer: ranks of the group may make different numbers of these, so they are matched apart */
    bool counts; /* touches the window */
};

struct calls {
    struct call *v;
    size_t n, cap;
    struct intern *names;
};

/* The operation in one spelling, else what the trace calls it, else NULL. */
static const char *operation(const struct trace_file *f, const struct event *ev, const struct ev_comm *m)
{
    const char *function = m->function ? trace_string(f, m->function) : NULL;
    const char *op = commop_of(function ? function : trace_string(f, ev->name));
    return op ? op : function;
}

static bool is_one_of(const char *op, const char *a, const char *b)
{
    return op && (strcmp(op, a) == 0 || strcmp(op, b) == 0);
}

static void add(struct calls *k, const struct trace *t, uint32_t lane, uint32_t row)
{
    static const struct ev_comm unknown = {.peer = -1, .group_size = -1, .sequence = -1, .message_bytes = -1};
    const struct lane *l = &t->lanes[lane];
    const struct trace_file *f = &t->files[l->file];
    const struct event *ev = &f->d.ev[row];
    const struct ev_comm *m = ev_comm_of(&f->d, ev);
    m = m ? m : &unknown;
    const char *op = operation(f, ev, m);
    struct call c = {.c = {.lane = lane, .event = row, .transfer_ns = -1, .ranks = m->group_size > 0 ? m->group_size : 0},
                     .run = f->run,
                     .size = m->group_size > 0 ? m->group_size : -1,
                     .sequence = m->sequence,
                     .message = is_one_of(op, "all_to_all_v", "all_to_all_v") ? -1 : m->message_bytes, /* there each rank has its own */
                     .duration = ev->end - ev->start,
                     .start = ev->start,
                     .single = m->peer >= 0 && is_one_of(op, "send", "recv"),
                     .p2p = m->peer >= 0,
                     .counts = ivl_touches(l->window, ev->start, ev->end)};
    c.c.group = intern_id(k->names, trace_string(f, m->communicator));
    c.c.op = intern_id(k->names, op);
    c.c.total_ns = ivl_within(l->window, ev->start, ev->end);
    c.c.bytes = ev->bytes >= 0 ? ev->bytes : m->message_bytes;
    c.name = op ? c.c.op : intern_id(k->names, trace_string(f, ev->name));
    ARRAY_PUSH(k->v, k->n, k->cap, c);
}

static int by_group(const void *x, const void *y)
{
    const struct call *a = x, *b = y;
    const int64_t p[] = {a->run, a->c.group, !a->p2p, a->c.lane, a->sequence, a->start, a->c.event};
    const int64_t q[] = {b->run, b->c.group, !b->p2p, b->c.lane, b->sequence, b->start, b->c.event};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static int by_lane(const void *x, const void *y)
{
    const struct call *a = x, *b = y;
    if (a->c.lane != b->c.lane)
        return a->c.lane < b->c.lane ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->c.event > b->c.event) - (a->c.event < b->c.event);
}

/* Can two ranks' rows be one call? message: what has been seen of it so far, -1 nothing. */
static bool agree(const struct call *x, const struct call *y, bool sequenced, int64_t message)
{
    return !y->single && (!sequenced || x->sequence == y->sequence) && (message < 0 || y->message < 0 || y->message == message);
}

/* Sets the transfer of call k of each lane: v holds `lanes` blocks of `each` calls. */
static void match(struct call *v, size_t lanes, size_t each, size_t k, bool sequenced, uint32_t *calls)
{
    int64_t shortest = INT64_MAX, message = -1;
    for (size_t l = 0; l < lanes; l++) {
        const struct call *c = &v[l * each + k];
        if (!agree(&v[k], c, sequenced, message))
            return;
        message = c->message >= 0 ? c->message : message;
        shortest = c->duration < shortest ? c->duration : shortest;
    }
    ++*calls;
    for (size_t l = 0; l < lanes; l++) {
        struct call *c = &v[l * each + k];
        c->c.call = *calls;
        c->c.transfer_ns = shortest < c->c.total_ns ? shortest : c->c.total_ns;
        c->c.ranks = c->c.ranks ? c->c.ranks : (int32_t)lanes;
    }
}

/* One run's calls of one group, or its point-to-point calls. Sequence numbers that count both (sequenced: they do not) say
 * nothing where ranks make different numbers of the latter: there the order decides. */
static void match_group(struct call *v, size_t n, bool sequenced, uint32_t *calls)
{
    size_t lanes = 1, each = 0;
    for (size_t i = 1; i < n; i++)
        lanes += v[i].c.lane != v[i - 1].c.lane;
    if (lanes < 2 || n % lanes != 0 || (v[0].size > 0 && v[0].size != (int64_t)lanes))
        return;
    each = n / lanes;
    for (size_t i = 0; i < n; i++) {
        bool own_block = v[i].c.lane == v[i / each * each].c.lane;
        if (!own_block || v[i].name != v[i % each].name || v[i].size != v[0].size)
            return;
    }
    for (size_t k = 0; k < each; k++)
        match(v, lanes, each, k, sequenced, calls);
}

static bool same_group(const struct call *x, const struct call *y)
{
    return x->run == y->run && x->c.group == y->c.group;
}

static void match_all(struct calls *k)
{
    uint32_t matched = 0;
    if (k->n)
        qsort(k->v, k->n, sizeof *k->v, by_group);
    for (size_t i = 0, j; i < k->n; i = j) {
        bool mixed = i && same_group(&k->v[i], &k->v[i - 1]); /* its point-to-point calls were just before */
        for (j = i + 1; j < k->n && same_group(&k->v[j], &k->v[i]) && k->v[j].p2p == k->v[i].p2p;)
            j++;
        match_group(k->v + i, j - i, !mixed, &matched);
    }
}

static void find(const struct trace *t, bool all, struct collectives *out)
{
    *out = (struct collectives){0};
    intern_init(&out->names);
    struct calls k = {.names = &out->names};
    for (uint32_t l = 0; l < t->nlanes; l++)
        for (size_t i = 0; i < t->lanes[l].n; i++) {
            const struct trace_file *f = &t->files[t->lanes[l].file];
            if (trace_is_comm(f, &f->d.ev[t->lanes[l].ev[i]]))
                add(&k, t, l, t->lanes[l].ev[i]);
        }
    match_all(&k);
    if (k.n)
        qsort(k.v, k.n, sizeof *k.v, by_lane);
    size_t cap = 0;
    for (size_t i = 0; i < k.n; i++)
        if (all || k.v[i].counts)
            ARRAY_PUSH(out->v, out->n, cap, k.v[i].c);
    free(k.v);
}

void collectives_find(const struct trace *t, struct collectives *out)
{
    find(t, false, out);
}

void collectives_find_all(const struct trace *t, struct collectives *out)
{
    find(t, true, out);
}

void collectives_free(struct collectives *c)
{
    free(c->v);
    intern_free(&c->names);
    *c = (struct collectives){0};
}
