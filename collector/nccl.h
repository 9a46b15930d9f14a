/* nccl.h - NCCL's events in one form, whatever the version of the table they came by.
 *
 *   table of version N --source_nccl.c--> struct nccl_desc --nccl_events.c--> launches.h, or a row of the host
 *
 * Handles are numbers with a turn in them, not pointers: one that comes back late, twice or after the end is told from a live
 * one and means nothing. Communicators stay until the end of the process.
 */
#pragma once
#include "collector/recorder.h"

struct nccl_comm; /* what `context` points at */

struct nccl_desc {
    uint64_t type; /* one of enum nccl_event_bit */
    void *parent;  /* a handle of ours, or NULL */
    const char *func, *datatype;
    int64_t count;    /* elements, as NCCL counts for the function */
    int64_t sequence; /* -1 none */
    int peer;         /* -1 none */
};

/* What the interface tells of: nothing, so that ranges are all there is; operations, but not those that a graph captures (tables 1 to
 * 4); all of them. */
enum nccl_word { NCCL_TELLS_NOTHING, NCCL_TELLS_TASKS, NCCL_TELLS_ALL };

/* `word`: of its table. NULL: no memory. `id` and `name` as NCCL gives them; name NULL: the id names it. ranks 0: not known. */
struct nccl_comm *nccl_comm_open(uint64_t id, const char *name, int ranks, enum nccl_word word);

/* For a table whose events bring their communicator themselves: what its groups are of. */
struct nccl_comm *nccl_comm_any(void);

/* The communicator of an event that brings its own; remembered by id. */
struct nccl_comm *nccl_comm_of_event(uint64_t id, const char *name);

/* The name of the communicator with that id, where the interface has told of it; NULL: it has not. */
const char *nccl_comm_name(uint64_t id);

/* A handle for the event, NULL when nothing is kept of it. */
void *nccl_start(struct nccl_comm *c, const struct nccl_desc *d);
void nccl_stop(void *handle);

enum nccl_word nccl_told(void);

/* Where rows of the host go; NULL: nowhere any more. */
void nccl_record_to(struct recorder *r);
void nccl_forked(void);
