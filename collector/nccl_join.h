/* nccl_join.h - the operations of one group of NCCL's, and the kernels that it launched: which carries what, where that is certain.
 *
 *   calls:    all_reduce {A}  send {B}  recv {B}        parts:  A: all_reduce, 1 operation    B: send + recv, 2 operations
 *   launches: 17  18                                    17 carries A's part, 18 B's
 *
 * What NCCL does (group.h and group.cc of releases 2.22 to 2.28): one communicator after the other, each with one kernel or more; all
 * launches of one stand together. Since 2.26 they come by ascending id, before by their first use. An operation is in one kernel.
 *
 *   one communicator        every kernel is its
 *   a kernel for each       each carries all of its communicator's operations
 *   a kernel an operation   each carries one operation of its communicator; which one, does not matter where they are alike
 *   else                    nothing is certain: the operations become rows of the host, the kernels stay kernels
 *
 * Collectives of no bytes, or over one rank, have no kernel.
 */
#pragma once
#include "collector/launches.h"
#include "collector/nccl_ranges.h"

enum nccl_order { NCCL_ORDER_UNKNOWN, NCCL_ORDER_FIRST_USE, NCCL_ORDER_ID };

struct nccl_part {
    int64_t id;
    bool has_id, idle; /* idle: its operations have no kernel */
    bool alike;        /* all operations are the same: function, bytes, peer */
    bool one_function;
    int64_t bytes;      /* of the first operation, as NCCL counts them */
    struct nccl_work w; /* all operations together */
};

struct nccl_group {
    struct nccl_part *v; /* by first use */
    size_t n, cap;
    struct launch_list launches;
};

/* One more operation: `name` as NCCL's call without "nccl"; ranks 0: not known. false: no memory. */
bool nccl_group_add(struct nccl_group *g, const char *name, const struct nccl_said *said, int ranks);
void nccl_group_clear(struct nccl_group *g); /* for the next one; keeps the memory */

/* Tells of each launch what it carries; without certainty, of each part a row of the host to r. `captured`: of launches into a graph
 * only, and no rows of the host. How many operations have no certain kernel. */
int64_t nccl_join(struct nccl_group *g, enum nccl_order order, bool captured, struct recorder *r);
