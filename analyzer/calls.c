/* calls.c - the collectives among a file's rows, condensed to what matching them needs. */
#include "analyzer/collectives.h"
#include "analyzer/commop.h"
#include "analyzer/trace_build.h"

#include <stdlib.h>
#include <string.h>

/* The operation in one spelling, else what the trace calls it, else NULL. */
static const char *operation(const struct trace_file *f, const struct event *ev, const struct ev_comm *m)
{
    const char *function = m->function ? trace_string(f, m->function) : NULL;
    const char *op = commop_of(function ? function : trace_string(f, ev->name));
    return op ? op : function;
}

static bool is_op(const char *op, const char *name)
{
    return op && strcmp(op, name) == 0;
}

/* With whom it is made. What takes no time waits for nobody, nor does an exchange of ours that is with nobody. */
static void tell_peer(struct call *c, const struct event *ev, const struct ev_comm *m, const char *op)
{
    bool nobody = ev->bytes == 0 && m->peer < 0 && is_op(op, "send_recv");
    c->receives = is_op(op, "recv");
    c->single = c->receives || is_op(op, "send");
    c->p2p = c->single || nobody || m->peer >= 0;
    c->peer = m->peer;
    c->c.transfer_ns = nobody || ev->start == ev->end ? c->c.total_ns : -1;
}

/* The call that a row is; l: its lane, whose window counts; NULL: it is hidden. */
static struct call call_of(struct intern *names, const struct trace_file *f, const struct lane *l, uint32_t row)
{
    static const struct ev_comm unknown = {.peer = -1, .group_size = -1, .sequence = -1, .message_bytes = -1};
    const struct event *ev = &f->d.ev[row];
    const struct ev_comm *m = ev_comm_of(&f->d, ev);
    m = m ? m : &unknown;
    const char *op = operation(f, ev, m);
    struct call c = {.c = {.event = row, .start = ev->start, .end = ev->end, .ranks = m->group_size > 0 ? m->group_size : 0},
                     .size = m->group_size > 0 ? m->group_size : -1,
                     .sequence = m->sequence,
                     .message = is_op(op, "all_to_all_v") ? -1 : m->message_bytes, /* there each rank has its own */
                     .rank = trace_event_rank(&f->d, ev),
                     .counts = l && ivl_touches(l->window, ev->start, ev->end)};
    c.c.group = intern_id(names, trace_string(f, m->communicator));
    c.c.op = intern_id(names, op);
    c.c.total_ns = l ? ivl_within(l->window, ev->start, ev->end) : 0;
    c.c.sent = ev->bytes >= 0;
    c.c.bytes = c.c.sent ? ev->bytes : m->message_bytes;
    c.name = op ? c.c.op : intern_id(names, trace_string(f, ev->name));
    tell_peer(&c, ev, m, op);
    return c;
}

static int32_t shape_of(const struct trace_file *f, const char *key)
{
    const char *text = tracedata_meta_get(&f->d, key);
    return text ? (int32_t)strtol(text, NULL, 10) : 0;
}

/* Which of the groups of the call's name and size a rank of our own runs is in. Sums over some ranks are made in several
 * groups of one name: each rank is alone then, and nothing is matched. */
static int32_t part_of(const struct trace_file *f, const char *group, int32_t size, int32_t rank)
{
    int32_t tp = shape_of(f, "tp"), world = shape_of(f, "world");
    if (tp < 1 || size < 1 || size >= world || rank < 0)
        return 0;
    if (group && strcmp(group, "tp") == 0)
        return rank / tp;
    return group && strcmp(group, "cp") == 0 ? rank / tp / size * tp + rank % tp : rank;
}

static void add(struct calls *k, const struct trace *t, const struct lane *l, uint32_t seat, uint32_t row, bool hidden)
{
    struct call c = call_of(&k->names, &t->files[l->file], hidden ? NULL : l, row);
    c.part = part_of(&t->files[l->file], k->names.strings[c.c.group], c.size, l->rank);
    c.file = l->file;
    c.seat = seat;
    c.c.lane = hidden ? CALL_HIDDEN : (uint32_t)(l - t->lanes);
    ARRAY_PUSH(k->v, k->n, k->cap, c);
}

static uint32_t seat_of(const struct trace *t, const struct lane *l, uint32_t otherwise)
{
    for (uint32_t i = 0; i < t->nlanes; i++)
        if (t->lanes[i].rank == l->rank && t->lanes[i].device == l->device)
            return i;
    return otherwise;
}

/* The calls of the same file that `t` leaves out. */
static void add_hidden(struct calls *k, const struct trace *t, const struct trace *all)
{
    struct arena a = {0};
    uint8_t *shown = arena_array(&a, uint8_t, all->files[0].d.n + 1);
    for (size_t l = 0; l < t->nlanes; l++)
        for (size_t i = 0; i < t->lanes[l].n; i++)
            shown[t->lanes[l].ev[i]] = 1;
    for (size_t l = 0; l < all->nlanes; l++) {
        const struct lane *lane = &all->lanes[l];
        uint32_t seat = seat_of(t, lane, k->nseats);
        k->nseats += seat == k->nseats;
        for (size_t i = 0; i < lane->n; i++)
            if (!shown[lane->ev[i]] && trace_is_comm(&all->files[0], &all->files[0].d.ev[lane->ev[i]]))
                add(k, all, lane, seat, lane->ev[i], true);
    }
    arena_free(&a);
}

void calls_init(struct calls *k)
{
    *k = (struct calls){0};
    intern_init(&k->names);
}

void calls_free(struct calls *k)
{
    free(k->v);
    intern_free(&k->names);
    *k = (struct calls){0};
}

void calls_file(const struct trace *t, const struct trace *all, struct calls *k)
{
    for (uint32_t l = 0; l < t->nlanes; l++)
        for (size_t i = 0; i < t->lanes[l].n; i++) {
            const struct trace_file *f = &t->files[t->lanes[l].file];
            if (trace_is_comm(f, &f->d.ev[t->lanes[l].ev[i]]))
                add(k, t, &t->lanes[l], l, t->lanes[l].ev[i], false);
        }
    k->nseats = (uint32_t)t->nlanes;
    if (all)
        add_hidden(k, t, all);
}

void calls_rows(const struct trace *t, uint32_t file, struct calls *k)
{
    const struct trace_file *f = &t->files[file];
    for (uint32_t i = 0; i < f->d.n; i++) {
        const struct event *ev = &f->d.ev[i];
        if (!trace_is_comm(f, ev) || row_is_bad(f, ev))
            continue;
        struct call c = call_of(&k->names, f, NULL, i);
        c.file = file;
        c.seat = (uint32_t)ev->device;
        c.c.lane = CALL_HIDDEN;
        ARRAY_PUSH(k->v, k->n, k->cap, c);
    }
}

void calls_append(struct calls *k, const struct calls *from, struct calls_base base)
{
    struct arena a = {0};
    uint32_t *id = arena_array(&a, uint32_t, from->names.n + 1);
    for (uint32_t i = 0; i < from->names.n; i++)
        id[i] = intern_id_n(&k->names, from->names.strings[i], from->names.lengths[i]);
    for (size_t i = 0; i < from->n; i++) {
        struct call c = from->v[i];
        c.c.group = id[c.c.group];
        c.c.op = id[c.c.op];
        c.name = id[c.name];
        c.c.lane += c.c.lane == CALL_HIDDEN ? 0 : base.lane;
        c.c.row += c.c.row ? base.row : 0;
        c.file += base.file;
        c.seat += k->nseats;
        ARRAY_PUSH(k->v, k->n, k->cap, c);
    }
    k->nseats += from->nseats;
    arena_free(&a);
}
