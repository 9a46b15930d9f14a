/* collectives.h - the same call on all its ranks: how much was transfer, how much waiting for the last one.
 *
 *   rank 0  |-------- wait --------|transfer|
 *   rank 1                |- wait -|transfer|      the shortest duration is the transfer: the last to come waits least
 *   rank 2                         |transfer|
 *
 * Calls are matched within a run and process group, by sequence number, else by order, and only where all ranks of the
 * group are there and agree in names and counts, and each call in size. No clock alignment is needed. Without group data
 * all devices of a run whose calls agree are one job.
 */
#pragma once
#include "analyzer/trace.h"

struct collective {
    uint32_t lane, event; /* entry of trace.lanes; row number */
    uint32_t group;       /* id in names; 0: the trace has no group */
    uint32_t op;          /* id in names; 0: not told */
    int64_t total_ns;     /* clipped to the lane's window */
    int64_t transfer_ns;  /* likewise; -1: unknown. wait = total - transfer */
    int64_t bytes;        /* sent by the rank in our runs, else the message; -1 unknown */
    int32_t ranks;        /* in the group; 0 unknown */
    uint32_t call;        /* matched: the same number on all its ranks, from 1 on; 0: not matched */
};

struct collectives {
    struct collective *v; /* those that touch the window, by lane and start */
    size_t n;
    struct intern names;
};

void collectives_find(const struct trace *t, struct collectives *c);
void collectives_find_all(const struct trace *t, struct collectives *c); /* those outside the window, too; their total_ns is 0 */
void collectives_free(struct collectives *c);
