/* backend.h - what a communicator backend (comm_*.c) provides, and what comm.c keeps for all of them.
 *
 *   mode code -> comm.h -> comm.c          names, sequence numbers, bytes sent: the same on every backend
 *                            |  struct comm_ops
 *                         comm_threads.c, comm_mpi.c, comm_nccl.c, comm_sim.c: enqueues the transfer
 */
#pragma once
#include "kernels/comm/comm.h"
#include "schemas/activity.h"

#include <stdatomic.h>

enum comm_function { COMM_ALL_GATHER, COMM_ALL_TO_ALL, COMM_ALL_TO_ALL_V, COMM_REDUCE_SCATTER, COMM_ALL_REDUCE, COMM_SEND_RECV, COMM_NFUNCTIONS };
enum comm_dtype { COMM_BYTE, COMM_F32, COMM_F64 };

/* One rank's part of a collective. */
struct collective {
    enum comm_function function;
    enum comm_dtype dtype;
    const void *send; /* ALL_REDUCE: the same as recv */
    void *recv;
    int64_t
        n; /* elements: of one block; of the whole buffer for ALL_REDUCE; ALL_TO_ALL_V: 0; for a modelled backend the bytes that come from others */
    int64_t *splits; /* ALL_TO_ALL_V: size send lengths, then size receive lengths, in bytes; the backend frees it. Not for a modelled one */
    int to, from;    /* SEND_RECV: ranks, -1 none */
    enum dtype as;   /* what the floats of send hold already, and travel as; FP32: all as it lies. Lengths are of what lies */
};

struct comm_ops {
    /* Sets w->impl; first and local, when not all ranks are here. Says what is missing on this machine. */
    bool (*world_open)(struct comm_world *w, struct err *e);
    void (*world_close)(struct comm_world *w);
    void (*world_abort)(struct comm_world *w);                           /* any thread, more than once */
    bool (*world_share)(struct comm_world *w, void *rows, size_t bytes); /* as comm_world_share; NULL: all ranks are here */
    bool (*open)(struct comm *c, struct err *e);                         /* sets c->impl */
    void (*close)(struct comm *c);
    /* Enqueues; `a` is the comm event, ready for dev_enqueue_comm. */
    void (*enqueue)(struct comm *c, struct stream *s, const struct activity *a, const struct collective *x);
    void (*barrier)(struct comm *c);
    /* How the ranks of a world run, as ranks_run_here(); NULL: a thread each. */
    bool (*run)(struct comm_world *w, bool (*rank_main)(int rank, void *ctx, struct err *e), void *ctx, struct err *e);
    bool modelled; /* moves nothing: sums are all it asks for */
    bool parts;    /* knows groups of some of the ranks: struct comm's part; else that is all of them */
};

struct comm_backend {
    const char *name, *what;
    const struct comm_ops *ops;
};

extern const struct comm_backend *const comm_backends[]; /* every comm_*.c, by name; ends with NULL */

struct comm_world {
    const struct comm_backend *backend;
    int size;
    int first, local; /* the ranks of this process: first .. first + local - 1 */
    atomic_bool broken;
    void *impl;
};

struct comm {
    struct comm_world *world;
    const char *group;
    enum dtype rows; /* see comm_set_rows() */
    struct comm_part part;
    int rank;                           /* in the part */
    int64_t sequence;                   /* of the next collective */
    const char *names[COMM_NFUNCTIONS]; /* "cp_all_gather" ..., made at first use */
    void *impl;
};

/* How much of what lies in memory travels: 1, or a half. */
double collective_share(const struct collective *x);
/* Bytes that come into recv. */
int64_t collective_received(const struct collective *x, int size);
/* What comm_reduction_order() was given. */
uint64_t comm_order_seed(void);

/* The output of a collective that ended without data: zeros. */
void collective_clear(const struct collective *x, int size);

/* The world is used by the ranks_run() that the calling thread belongs to, if any: it is aborted when a rank fails. */
void ranks_use_world(struct comm_world *w);
