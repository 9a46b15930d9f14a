/* nccl_ranges.h - collectives by the ranges that NCCL pushes around its calls, where its profiler interface says nothing.
 *
 *   range: ncclAllGather {communicator, bytes}[ ... cuLaunchKernelEx: id 17 ... ]            -> launch_put(17, all_gather)
 *   range: ncclGroupStart[] ncclSend {..}[] ncclRecv {..}[] ncclGroupEnd[ cuLaunchKernelEx ]  -> one kernel, two operations
 *
 * Of a group of several launches nccl_join.h tells which carries what, where that is certain; where it is not, its operations become
 * rows of the host, as all do without a launch, and are counted as lost to their kernels. A launch into a graph is told to the node.
 */
#pragma once
#include "collector/recorder.h"

#include <stddef.h>

#define NCCL_RANGES_DOMAIN "NCCL"

/* What a payload says; -1: nothing. `id`: it has a communicator. `bytes` is what NCCL counts: of one rank where each has a part. */
struct nccl_said {
    int64_t communicator, bytes, peer, ranks;
    bool id;
};

/* The calling thread opens, then closes, a range of NCCL's; said NULL: one without a payload. */
void nccl_range_push(const char *name, const struct nccl_said *said);
void nccl_range_pop(struct recorder *r);

/* A communicator has so many ranks: said when it was made. */
void nccl_range_ranks(int64_t communicator, int64_t ranks);

void nccl_ranges_forked(void);
