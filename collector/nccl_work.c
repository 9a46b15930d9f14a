/* nccl_work.c - communicators, and the operations that add up to what one kernel carries. */
#include "collector/nccl_names.h"
#include "collector/nccl_parts.h"
#include "collector/rows.h"
#include "collector/text.h"
#include "schemas/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PEERS_MAX = 1 << 20 };

static struct nccl_comm *comms;

struct nccl_comm *comm_new(uint64_t id, const char *name, int ranks)
{
    char text[32];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)id);
    struct nccl_comm *c = calloc(1, sizeof *c);
    if (c) {
        *c = (struct nccl_comm){.id = id, .name = text_keep(name && *name ? name : text), .ranks = ranks, .next = comms};
        comms = c;
    }
    return c;
}

struct nccl_comm *comm_find(uint64_t id)
{
    struct nccl_comm *c = comms;
    while (c && (c->id != id || c->any))
        c = c->next;
    return c;
}

struct nccl_comm *comm_of(uint64_t id, const char *name)
{
    struct nccl_comm *c = comm_find(id);
    return c ? c : comm_new(id, name, 0);
}

int64_t comm_count_peer(struct nccl_comm *c, int peer, bool send)
{
    size_t need = 2 * ((size_t)peer + 1);
    if (peer < 0 || peer >= PEERS_MAX)
        return -1;
    if (need > c->ncounts) {
        int64_t *v = realloc(c->counts, need * 2 * sizeof *v);
        if (!v)
            return -1;
        memset(v + c->ncounts, 0, (need * 2 - c->ncounts) * sizeof *v);
        c->counts = v;
        c->ncounts = need * 2;
    }
    return c->counts[2 * peer + !send]++;
}

static bool is_p2p(const char *function)
{
    return strcmp(function, "send") == 0 || strcmp(function, "recv") == 0 || strcmp(function, "send_recv") == 0;
}

struct op op_of(struct nccl_comm *c, const struct nccl_desc *d)
{
    const char *function = nccl_function(d->func, -1), *dtype = nccl_datatype(d->datatype, -1);
    return (struct op){.comm = c,
                       .function = function,
                       .dtype = dtype,
                       .message = nccl_message(function, dtype, d->count, c->ranks),
                       .sequence = d->sequence,
                       .peer = d->peer};
}

static int64_t sum(int64_t a, int64_t b)
{
    return a < 0 || b < 0 ? -1 : a + b;
}

void launch_add(struct launch *l, const struct op *o)
{
    struct nccl_work *w = &l->w;
    int64_t sent = strcmp(o->function, "send") == 0 ? o->message : strcmp(o->function, "recv") == 0 ? 0 : -1;
    if (w->operations++ == 0) {
        w->function = o->function;
        w->dtype = o->dtype;
        w->sequence = o->sequence;
        w->peer = o->peer;
        w->message_bytes = o->message;
        w->sent = sent;
        return;
    }
    if (strcmp(w->function, o->function) != 0)
        w->function = is_p2p(w->function) && is_p2p(o->function) ? "send_recv" : "group";
    w->dtype = w->dtype == o->dtype ? w->dtype : NULL;
    w->sequence = -1;
    w->peer = w->peer == o->peer ? w->peer : -1;
    w->message_bytes = sum(w->message_bytes, o->message);
    w->sent = sum(w->sent, sent);
}

struct launch *launch_new(struct nccl_comm *c)
{
    struct launch *l = calloc(1, sizeof *l);
    int64_t now = clock_now();
    if (l)
        *l = (struct launch){.comm = c,
                             .w = {.start = now,
                                   .end = now,
                                   .group = c->name,
                                   .sequence = -1,
                                   .sent = -1,
                                   .message_bytes = -1,
                                   .peer = -1,
                                   .ranks = c->ranks ? c->ranks : -1,
                                   .tid = (int32_t)syscall(SYS_gettid)}};
    return l;
}

void launch_host_row(void *recorder, const struct nccl_work *w)
{
    struct recorder *r = recorder;
    struct activity a = ACTIVITY_NONE;
    char name[80];
    if (!r || !w->operations || rows_in_comm())
        return;
    snprintf(name, sizeof name, "nccl %s", w->function ? w->function : "group");
    a.what = ACT_EVENT;
    a.kind = EV_OP;
    a.start = w->start;
    a.end = w->end;
    a.name = text_keep(name);
    a.bytes = w->message_bytes;
    recorder_emit_as(r, &a, &(struct emit_as){.tid = w->tid});
}
