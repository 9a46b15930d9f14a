/* feed.c - one function per kind of event that has a side row; a table finds it. */
#include "schemas/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_KEYS = 1024 };

void feed_init(struct feed *f, struct tracedata *d, uint32_t process, int32_t rank)
{
    *f = (struct feed){.d = d, .process = process, .rank = rank};
}

void feed_free(struct feed *f)
{
    free(f->names);
    free(f->sites);
    free(f->stacks);
    *f = (struct feed){0};
}

static struct feed_key *key_slot(struct feed_key *v, size_t cap, const void *pointer, int64_t index)
{
    uint64_t h = ((uint64_t)(uintptr_t)pointer ^ (uint64_t)index * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    for (size_t i = (size_t)(h >> 32) & (cap - 1);; i = (i + 1) & (cap - 1))
        if (!v[i].id || (v[i].pointer == pointer && v[i].index == index))
            return &v[i];
}

static void keys_grow(struct feed_key **v, size_t *cap)
{
    struct feed_key *old = *v;
    size_t n = *cap, none = 0;
    *cap = n ? n * 2 : FIRST_KEYS;
    *v = array_grow(NULL, &none, *cap, sizeof **v);
    memset(*v, 0, *cap * sizeof **v);
    for (size_t i = 0; i < n; i++)
        if (old[i].id)
            *key_slot(*v, *cap, old[i].pointer, old[i].index) = old[i];
    free(old);
}

/* The text of a name; one with an index is shown as "name#index". */
static uint32_t intern_name(struct feed *f, const char *name, int64_t index)
{
    char buf[4096];
    if (index < 0)
        return intern_id(&f->d->strings, name);
    snprintf(buf, sizeof buf, "%s#%lld", name, (long long)index);
    return intern_id(&f->d->strings, buf);
}

static uint32_t name_id(struct feed *f, const char *name, int64_t index, bool transient)
{
    if (!name || !*name)
        return 0;
    if (transient)
        return intern_name(f, name, index);
    if ((f->nnames + 1) * 2 > f->names_cap)
        keys_grow(&f->names, &f->names_cap);
    struct feed_key *k = key_slot(f->names, f->names_cap, name, index);
    if (!k->id) {
        *k = (struct feed_key){name, index, intern_name(f, name, index)};
        f->nnames++;
    }
    return k->id;
}

static uint32_t site_id(struct feed *f, const struct site *s)
{
    if (!s)
        return 0;
    if ((f->nsites + 1) * 2 > f->sites_cap)
        keys_grow(&f->sites, &f->sites_cap);
    struct feed_key *k = key_slot(f->sites, f->sites_cap, s, 0);
    if (!k->id) {
        *k = (struct feed_key){s, 0, tracedata_site(f->d, s->function, s->file, s->line)};
        f->nsites++;
    }
    return k->id;
}

/* The innermost frames are those of who took the stack. */
static bool is_ours(const struct frame_text *t)
{
    return t->native && strncmp(t->file, "libcpscope.so", 13) == 0;
}

/* The frames of a stack that comes for the first time; its id, 0 when it is not defined. */
static uint32_t new_stack(struct feed *f, uint32_t number)
{
    const struct def *def = f->defs ? deftable_find(f->defs, DEF_STACK, number) : NULL;
    const uint32_t *frames = def ? (const uint32_t *)(def + 1) : NULL;
    uint32_t sites[STACK_DEEPEST];
    size_t n = 0;
    struct frame_text t;
    for (int64_t i = 0; def && i < def->a && n < STACK_DEEPEST; i++)
        if (deftable_frame(f->defs, frames[i], &t) && (n || !is_ours(&t)))
            sites[n++] = tracedata_site(f->d, t.function, t.file, t.line);
    return n ? tracedata_stack(f->d, sites, n) : 0;
}

static uint32_t stack_id(struct feed *f, uint32_t number)
{
    if (!number || number > STACKS_MAX)
        return 0;
    if (number >= f->stacks_cap) {
        size_t old = f->stacks_cap;
        f->stacks = array_grow(f->stacks, &f->stacks_cap, number + 1, sizeof *f->stacks);
        memset(f->stacks + old, 0, (f->stacks_cap - old) * sizeof *f->stacks);
    }
    if (!f->stacks[number])
        f->stacks[number] = 1 + new_stack(f, number);
    return f->stacks[number] - 1;
}

static uint32_t detail_sync(struct feed *f, const struct slot *s)
{
    const union emit_more *more = slot_more(s);
    struct ev_sync row = more ? more->sync : (struct ev_sync){s->sync_class, s->did_block, s->stream, -1, 0};
    row.stack = stack_id(f, s->stack);
    return more || s->sync_class != SYNC_NONE ? tracedata_sync_row(f->d, row) : 0;
}

static uint32_t detail_kernel(struct feed *f, const struct slot *s)
{
    const union emit_more *more = slot_more(s);
    return more ? tracedata_kernel_row(f->d, more->kernel) : 0;
}

static uint32_t detail_comm(struct feed *f, const struct slot *s)
{
    const union emit_more *more = slot_more(s);
    struct ev_comm c = {.communicator = name_id(f, s->group, -1, false),
                        .function = name_id(f, s->function, -1, false),
                        .peer = s->peer,
                        .group_size = s->group_size,
                        .sequence = s->sequence,
                        .dtype = more ? name_id(f, more->comm.dtype, -1, false) : 0,
                        .message_bytes = more ? more->comm.message_bytes : -1};
    return tracedata_comm_row(f->d, c);
}

static uint32_t detail_copy(struct feed *f, const struct slot *s)
{
    const union emit_more *more = slot_more(s);
    if (more)
        return tracedata_copy_row(f->d, more->copy);
    return s->copy_kind ? tracedata_copy_row(f->d, (struct ev_copy){.kind = s->copy_kind}) : 0;
}

static uint32_t detail_range(struct feed *f, const struct slot *s)
{
    uint32_t domain = name_id(f, s->group, -1, false);
    return tracedata_range_row(f->d, (struct ev_range){domain, s->flavour, s->sequence});
}

static uint32_t (*const details[EV_NKINDS])(struct feed *f, const struct slot *s) = {
    [EV_RUNTIME] = detail_sync, [EV_SYNC] = detail_sync,   [EV_KERNEL] = detail_kernel, [EV_COMM] = detail_comm,
    [EV_MEMCPY] = detail_copy,  [EV_MEMSET] = detail_copy, [EV_RANGE] = detail_range,
};

static void feed_memory(struct feed *f, const struct slot *s)
{
    struct tracedata *d = f->d;
    struct memory_row m = {s->start - d->t0, s->bytes, s->rank < 0 ? f->rank : s->rank, s->device, name_id(f, s->name, -1, s->transient)};
    ARRAY_PUSH(d->memory, d->nmemory, d->memory_cap, m);
}

static void feed_event(struct feed *f, const struct slot *s, uint32_t thread)
{
    struct tracedata *d = f->d;
    struct err e = {0};
    struct event ev = event_none((enum ev_kind)s->kind, s->start - d->t0, s->end - d->t0);
    bool host = ev_kind_class((enum ev_kind)s->kind) == EV_HOST, range = s->kind == EV_RANGE;
    ev.correlation = s->correlation;
    ev.bytes = s->bytes;
    ev.name = range && s->text ? name_id(f, s->text, -1, s->transient) : name_id(f, s->name, range ? s->sequence : -1, s->transient);
    ev.site = site_id(f, s->site);
    ev.rank = s->rank < 0 ? f->rank : s->rank;
    ev.device = s->device;
    if (host) /* what the device did has a stream instead; the thread that reports it is nobody's */
        ev.thread = thread;
    if (s->stream >= 0)
        ev.stream = tracedata_stream(d, f->process, s->device, s->stream);
    ev.detail = details[s->kind] ? details[s->kind](f, s) : 0;
    tracedata_event(d, &ev, &e); /* cannot fail: nothing spills here */
    f->events++;
}

void feed_slot(struct feed *f, const struct slot *s, uint32_t thread)
{
    if (s->what == ACT_MEMORY)
        feed_memory(f, s);
    else if (s->what == ACT_EVENT && s->kind < EV_NKINDS)
        feed_event(f, s, thread);
    if (s->heap)
        free((void *)(s->name ? s->name : s->text));
}
