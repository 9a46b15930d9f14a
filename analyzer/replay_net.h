/* replay_net.h - a replay graph shrunk to what decides one question: what if the calls of one place returned at once?
 *
 *   thread   |L|L|L|== wait ==|L|L|L|L|== wait ==|          every call up to the next wait is as late as the first: one node
 *   stream      |# # #########|  |# # # #########|          as late as the launches or as the work before them: one node
 *                                                           where work of one stretch of launches follows that of another
 *
 * Lateness is the replayed less the measured time. Without changes of length each instant is as late as the latest of what
 * it follows from, less the slack that it had towards each:
 *
 *   late(x) = max over causes c of late(c) - slack(x, c)        slack of the cause that explains x best: 0
 *
 * Such a maximum of maxima is one maximum over fewer causes. Instants that follow from at most two nodes need none of
 * their own, so a replay looks at the nodes only, a few per wait; what it gives for every instant is what replay_run() gives.
 */
#pragma once
#include "analyzer/replay.h"

struct replay_late { /* the latest of node[k] less lag[k]; node[1] REPLAY_NONE: there is one only */
    uint32_t node[2];
    int64_t lag[2];
};

struct replay_term {
    uint32_t node;
    int64_t lag;
};

/* A node comes after those that it follows from; node 0 is always on time. */
struct replay_node {
    uint32_t first, last; /* terms[first .. last-1] */
    uint32_t at_once;     /* terms[last .. last+at_once-1] instead, when the call returns at once */
    uint32_t place;       /* the place of that call; REPLAY_NONE: no such call */
};

struct replay_net {
    struct replay_node *nodes;
    size_t n, cap;
    struct replay_term *terms;
    size_t nterms, terms_cap;
    struct replay_late *lates;
    size_t nlates, lates_cap;
    uint32_t *of; /* by instant: its entry of lates */
};

/* place_of: by entry of r->waits, which place it is; those below nplaces can be asked for. r may lack its order. */
void replay_net_build(const struct replay *r, const uint32_t *place_of, size_t nplaces, struct replay_net *x);
void replay_net_free(struct replay_net *x);
/* The calls of `place` return at once (REPLAY_NONE: nothing changes). Memory in `a`; x outlives the answer. */
struct replayed replay_net_run(const struct replay_net *x, uint32_t place, struct arena *a);
int64_t replay_net_late(const struct replay_net *x, const int64_t *late, uint32_t instant);
