/* comm.h - collectives among the ranks of a group, enqueued on a stream like kernels.
 *
 * A call returns at once; the transfer happens in stream order and shows as a comm event on that stream: name
 * "cp_all_gather" (group_function), group, function, sequence number in the communicator, bytes sent by this rank to
 * others' buffers as counted in the modes' volume table (C.5). All ranks of a group make the same calls in the same
 * order with agreeing sizes.
 *
 * Reductions add in rank order 0, 1, ... on every rank, so results are bit-identical and repeatable (but see comm_reduction_order).
 * Backends (comm_*.c, struct comm_backend): `threads` (ranks are threads of this process), `mpi` (a process a rank, started
 * by mpirun), `sim` (ranks of the sim device).
 */
#pragma once
#include "kernels/device/device.h"
#include "kernels/ops/round.h"

struct comm;       /* one rank's handle on a group */
struct comm_world; /* what the ranks of a process share: all ranks, or one of many processes' */

/* A world of `size` ranks for the named backend ("threads", "mpi"). Each rank then opens its own handles; opening is collective:
 * every rank opens the same groups in the same order. `group` as in schemas/activity.h: "cp", "grad"; static lifetime. */
struct comm_world *comm_world_open(const char *backend, int size, struct err *e);
void comm_world_close(struct comm_world *w);
/* The lowest of the ranks in this process. */
int comm_world_first(const struct comm_world *w);
/* rows[size] of `bytes` each, of which this process has filled those of its ranks: gets the others'. By the host, once in
 * a process, not a rank. */
bool comm_world_share(struct comm_world *w, void *rows, size_t bytes, struct err *e);
/* A rank has failed: collectives that wait for it end without data (their outputs are zeros), as do all later ones. Any
 * thread, any number of times. ranks_run() does it for the worlds its ranks have opened communicators in. */
void comm_world_abort(struct comm_world *w);
bool comm_world_broken(const struct comm_world *w);

struct comm *comm_open(struct comm_world *w, int rank, const char *group, struct err *e);
/* The ranks first, first + stride, ... of a world, `size` of them. */
struct comm_part {
    int first, stride, size;
};
/* A group of some of the ranks, in which this one has the number comm_rank(). Collective over the world: every rank opens the
 * part that holds it, parts of one name, stride and size at a time. ERR_FAIL where the backend has groups of all ranks only. */
struct comm *comm_open_part(struct comm_world *w, int rank, const char *group, struct comm_part part, struct err *e);
void comm_close(struct comm *c); /* what is enqueued still runs; NULL is fine */

/* Reductions of `threads` add in an order drawn from the seed and their number instead, the same on all ranks; 0: in rank order.
 * For the whole process, between runs. */
void comm_reduction_order(uint64_t seed);

int comm_rank(const struct comm *c);
int comm_size(const struct comm *c);

/* recv (size * bytes) <- every rank's send (bytes), in rank order. Sent: bytes (once, whoever reads them); 0 alone. */
void comm_all_gather(struct comm *c, struct stream *s, const void *send, void *recv, size_t bytes);
/* recv[n] <- sum over ranks of their send[rank * n .. ]. Sent: the blocks for others. */
void comm_reduce_scatter_f32(struct comm *c, struct stream *s, const float *send, float *recv, int64_t n);
/* In place. Sent: 2 (size-1)/size of the buffer, as a ring would. */
void comm_all_reduce_f32(struct comm *c, struct stream *s, float *buf, int64_t n);
void comm_all_reduce_f64(struct comm *c, struct stream *s, double *buf, int64_t n);
/* Point to point, the two halves at once: my `send` (bytes) to rank `to`, into `recv` what rank `from` sends me; -1: no
 * such half. Only the ranks named wait for each other, in the order of their calls. send and recv must not overlap.
 * Sent: bytes when there is a `to` other than me. */
void comm_send_recv(struct comm *c, struct stream *s, const void *send, int to, void *recv, int from, size_t bytes);
/* Rows of floats that hold values of the group's storage type (fp32 until it is set): they travel, and are counted, as that
 * type, and come as floats again. Counts are of floats. reduce_scatter adds in float what has travelled. */
void comm_set_rows(struct comm *c, enum dtype t); /* NULL is fine */
void comm_all_gather_rows(struct comm *c, struct stream *s, const float *send, float *recv, int64_t n);
/* Block j of send (n floats each) goes to rank j; recv block i comes from rank i. Sent: the blocks for others. */
void comm_all_to_all_rows(struct comm *c, struct stream *s, const float *send, float *recv, int64_t n);
/* The same with sizes: a host array of lengths by rank, copied, and their sum, which costs nothing where it is known; blocks
 * follow each other. */
struct comm_split {
    const int64_t *to; /* or from */
    int64_t total;
};
void comm_all_to_all_v_rows(struct comm *c, struct stream *s, const float *send, struct comm_split send_rows, float *recv,
                            struct comm_split recv_rows, int64_t width); /* a row is width floats */
void comm_reduce_scatter_rows(struct comm *c, struct stream *s, const float *send, float *recv, int64_t n);
void comm_send_recv_rows(struct comm *c, struct stream *s, const float *send, int to, float *recv, int from, int64_t n);
/* Host-side: returns when all ranks are here. No event; for start-up and shut-down only. */
void comm_barrier(struct comm *c);

/* Runs rank_main(rank, ctx) on `size` threads and waits for all; false if any failed: *e is the error of the rank that
 * failed first, and the other ranks do not hang in its collectives (comm_world_abort). */
bool ranks_run(int size, bool (*rank_main)(int rank, void *ctx, struct err *e), void *ctx, struct err *e);
/* The same for the ranks of the world that this process holds; on sim they take turns on the calling thread. */
bool ranks_run_here(struct comm_world *w, bool (*rank_main)(int rank, void *ctx, struct err *e), void *ctx, struct err *e);
