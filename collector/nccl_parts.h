/* nccl_parts.h - communicators, operations and launches: what nccl_events.c and nccl_work.c share. Under the lock of nccl_events.c. */
#pragma once
#include "collector/launches.h"
#include "collector/nccl.h"

#include <stddef.h>

struct nccl_comm {
    uint64_t id;
    const char *name;
    int ranks;       /* 0 not known */
    bool any;        /* of events that say later which one */
    int64_t *counts; /* sends to and receives from peer p: 2p, 2p + 1 */
    size_t ncounts;
    struct nccl_comm *next;
};

struct op {
    struct nccl_comm *comm;
    const char *function, *dtype;
    int64_t message, sequence;
    int peer;
    bool claimed; /* a Coll or P2p event said the same */
};

struct launch {
    struct nccl_comm *comm;
    struct nccl_work w;
    uint32_t id;         /* 0: not known */
    uint64_t node;       /* of a graph, when it was captured into one; 0 not */
    int refs;            /* its group's, its thread's, its event's */
    bool done;           /* handed on */
    bool unclaimed;      /* it has the calls that no task claimed */
    struct launch *next; /* of its group */
};

struct nccl_comm *comm_new(uint64_t id, const char *name, int ranks); /* NULL: no memory */
struct nccl_comm *comm_find(uint64_t id);                             /* NULL: none of that id */
struct nccl_comm *comm_of(uint64_t id, const char *name);             /* the one of that id, else a new one */
int64_t comm_count_peer(struct nccl_comm *c, int peer, bool send);    /* the number of this send to, or receive from, a peer; -1 */

struct op op_of(struct nccl_comm *c, const struct nccl_desc *d);
struct launch *launch_new(struct nccl_comm *c); /* begun now by this thread; NULL: no memory */
void launch_add(struct launch *l, const struct op *o);

/* A row of the host; nothing without recorder or operations. */
void launch_host_row(void *recorder, const struct nccl_work *w);
