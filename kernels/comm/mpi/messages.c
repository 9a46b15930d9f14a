/* messages.c - see messages.h. */
#include "kernels/comm/mpi/messages.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void mpi_turn_begin(void)
{
    pthread_mutex_lock(&turn);
}

void mpi_turn_end(void)
{
    pthread_mutex_unlock(&turn);
}

/* At first others may run, then the core is left alone: ranks may outnumber cores. */
static void rest(int looks)
{
    enum { YIELDS = 100, NAP_NS = 50000 };
    if (looks < YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

bool mpi_finish(const struct mpi_handle *h, MPI_Request *requests, int n)
{
    for (int looks = 0;; looks++) {
        int done = 0;
        if (atomic_load(h->broken))
            return false;
        mpi_turn_begin();
        MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        mpi_turn_end();
        if (done)
            return true;
        rest(looks);
    }
}

enum { PIECE_MAX = 1 << 30 }; /* MPI counts bytes in an int */

static MPI_Request *request(struct batch *b)
{
    if (b->n == b->cap) {
        int cap = b->cap ? 2 * b->cap : 16;
        MPI_Request *grown = realloc(b->requests, (size_t)cap * sizeof *grown);
        if (!grown) {
            b->failed = true;
            return NULL;
        }
        b->requests = grown;
        b->cap = cap;
    }
    return &b->requests[b->n++];
}

/* MPI's number of a rank of the group. */
static int peer(const struct batch *b, int rank)
{
    return b->h->part.first + rank * b->h->part.stride;
}

static int piece(int64_t left)
{
    return (int)(left < PIECE_MAX ? left : PIECE_MAX);
}

void post_send(struct batch *b, int to, const void *data, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += PIECE_MAX) {
        MPI_Request *r = request(b);
        if (r)
            MPI_Isend((const unsigned char *)data + at, piece(bytes - at), MPI_BYTE, peer(b, to), b->tag, b->h->comm, r);
    }
}

void post_recv(struct batch *b, int from, void *data, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += PIECE_MAX) {
        MPI_Request *r = request(b);
        if (r)
            MPI_Irecv((unsigned char *)data + at, piece(bytes - at), MPI_BYTE, peer(b, from), b->tag, b->h->comm, r);
    }
}

struct batch batch_begin(const struct mpi_handle *h, int tag)
{
    mpi_turn_begin();
    return (struct batch){.h = h, .tag = tag};
}

bool batch_end(struct batch *b)
{
    if (b->failed)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAIL);
    mpi_turn_end();
    bool ok = mpi_finish(b->h, b->requests, b->n);
    free(b->requests);
    return ok;
}
