/* messages.h - messages between the processes of a group that do not block, and waiting for them.
 *
 *   b = batch_begin(h, TAG); post_recv(&b, ...); post_send(&b, ...) ...; batch_end(&b)
 *
 * Threads of the process (a stream's worker, the host thread) take turns at calling MPI, under a lock that nobody holds
 * while it waits: so no rank can be kept from sending by another of its own transfers.
 */
#pragma once
#include "kernels/comm/mpi_module.h"

#include <mpi.h>

struct mpi_handle {
    struct mpi_handle *next;
    MPI_Comm comm; /* of all ranks, a context of this group's own */
    struct comm_part part;
    int rank, size; /* in the part */
    const atomic_bool *broken;
};

/* MPI is called between these two only. */
void mpi_turn_begin(void);
void mpi_turn_end(void);

/* Until all are done; false: the job is broken. */
bool mpi_finish(const struct mpi_handle *h, MPI_Request *requests, int n);

enum { TAG_COLLECTIVE, TAG_PAIR };

struct batch { /* messages under way */
    const struct mpi_handle *h;
    MPI_Request *requests;
    int n, cap, tag;
    bool failed; /* out of memory */
};

/* Posts are made between these two, in the process's turn. Without memory for requests nothing can be right any more: the job
 * ends. batch_end() waits; false: the job is broken. */
struct batch batch_begin(const struct mpi_handle *h, int tag);
bool batch_end(struct batch *b);
/* Any number of bytes, to and from a rank of the group. */
void post_send(struct batch *b, int to, const void *data, int64_t bytes);
void post_recv(struct batch *b, int from, void *data, int64_t bytes);
