/* collectives.h - the same call on all its ranks: how much was transfer, how much waiting for the last one.
 *
 *   rank 0  |-------- wait --------|transfer|
 *   rank 1                |- wait -|transfer|      the shortest duration is the transfer: the last to come waits least
 *   rank 2                         |transfer|
 *
 * Calls are matched within a run and process group, and only where all ranks of the group are there: by sequence number, call
 * by call, where each has one; else by order, when all agree in names and counts; and each call in name and size. Calls that name
 * a peer are matched over all ranks where these make the same, as in a ring, else with those of the peer, in order, when both
 * made as many. No clock alignment is needed. Without group data all devices of a run whose calls agree are one job. Groups of some of the ranks share their names in our own runs; which
 * ranks they hold follows from the run's shape, rank = (group * cp + number in it) * tp + TP number.
 */
#pragma once
#include "analyzer/trace.h"

struct collective {
    uint32_t lane, event; /* entry of trace.lanes; row number in its file */
    uint32_t group;       /* id in names; 0: the trace has no group */
    uint32_t op;          /* id in names; 0: not told */
    uint32_t row;         /* what the table made of it: see calls_file(); 0 nothing */
    int64_t start, end;   /* in its file's own time */
    int64_t total_ns;     /* clipped to the lane's window */
    int64_t transfer_ns;  /* likewise; -1: unknown. wait = total - transfer; known, too, of what waits for nobody and is not matched */
    int64_t bytes;        /* sent by the rank in our runs, else the message; -1 unknown */
    bool sent;            /* bytes are what the rank sent */
    int32_t ranks;        /* in the group; 0 unknown */
    bool last;            /* matched, and the only shortest: the others waited for it */
    bool together;        /* matched, and ends on all its ranks at once, as what is between two or round a ring need not */
    uint32_t call;        /* matched: the same number on all its ranks, from 1 on; 0: not matched */
};

struct collectives {
    struct collective *v; /* those that touch the window, by lane and start */
    size_t n;
    struct intern names;
};

/* Of t->calls where there are any, else of the rows. */
void collectives_find(const struct trace *t, struct collectives *c);
void collectives_find_all(const struct trace *t, struct collectives *c); /* those outside the window, too; their total_ns is 0 */
void collectives_free(struct collectives *c);

/* ---- what matching needs of a call, so that its row need not be kept; parts keep each number, too: part_digest.c ---- */

struct call {
    struct collective c; /* c.lane: CALL_HIDDEN of a call that the selection leaves out, but other ranks' waiting hangs on */
    uint32_t file;       /* entry of trace.files */
    uint32_t seat;       /* its rank and device, numbered over all files */
    uint32_t name;       /* what must agree: the operation, else the kernel's name */
    int32_t run;
    int32_t size;     /* of the group as the trace says, -1 */
    int32_t part;     /* of several groups of one name and size, the one that the rank is in */
    int64_t sequence; /* -1 */
    int64_t message;  /* what must agree, -1 */
    int32_t rank;     /* of its seat, -1 not known */
    int32_t peer;     /* number in the group of the rank that it is made with, -1 */
    bool single;      /* a send or a receive: only its pair can tell */
    bool receives;    /* it is a receive */
    bool p2p;         /* ranks of the group may make different numbers of these, so they are matched apart */
    bool counts;      /* touches the window */
};

#define CALL_HIDDEN UINT32_MAX

struct calls {
    struct call *v; /* by lane and start within a file */
    size_t n, cap;
    uint32_t nseats;
    struct intern names;
};

void calls_init(struct calls *k);
void calls_free(struct calls *k);
/* Those of `t`, which is one file when `all` is given: the same file without a selection, whose other calls are hidden. */
void calls_file(const struct trace *t, const struct trace *all, struct calls *k);
/* Those of one file among several, whatever is selected, as hidden ones behind those in `k`; seat: the device. */
void calls_rows(const struct trace *t, uint32_t file, struct calls *k);
/* By run, group, its size and part, seat, and as they were made there: how they are matched. */
void calls_sort(struct call *v, size_t n);
/* They are one call, of those that are equally counted on each rank: v[0], v[each], v[2 * each] ... False: sizes differ. */
bool calls_match(struct call *v, size_t lanes, size_t each, uint32_t *calls);
/* Point-to-point calls v[0 .. n-1], sorted, with those of their peers; group: all calls of the group. */
void pairs_match(struct call *v, size_t n, const struct call *group, size_t all, uint32_t *calls);

/* Numbers that a file's calls are moved by when they are put behind those of the files before. */
struct calls_base {
    uint32_t file, lane, row;
};
void calls_append(struct calls *k, const struct calls *from, struct calls_base base);
