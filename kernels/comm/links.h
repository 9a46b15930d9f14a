/* links.h - what a transfer among ranks takes on a modelled machine, in ns, once all of them have come.
 *
 *   | node: nvlink | node: nvlink | ...      ranks first, first + stride, ... of a world that fills node after node
 *        +------ ib -----+
 *
 * The usual cost of the algorithms: a start, hops, and bytes over the slowest link that the group needs.
 */
#pragma once
#include "kernels/comm/comm.h"

/* Every rank gets `bytes` from each other one (all-gather), or gives them (reduce-scatter): a ring, its hops those of a tree
 * where that is sooner. */
double links_gather_ns(struct comm_part p, double bytes);
/* All-to-all: `bytes` leave a rank, or reach it, for all others together, evenly. */
double links_exchange_ns(struct comm_part p, double bytes);
/* `bytes` from one rank of the part to another, both by number. */
double links_message_ns(struct comm_part p, int from, int to, double bytes);
