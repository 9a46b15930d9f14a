/* commop.h - one spelling for the function of a collective, whatever library named it.
 */
#pragma once

/* "all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "all_to_all_v", "send_recv" ... from a trace's
 * function ("allreduce", "_allgather_base") or a kernel's name ("ncclDevKernel_AllReduce_Sum_f32_RING_LL"); NULL: the
 * name does not tell (one generic kernel for everything). */
const char *commop_of(const char *name);

/* Bus bytes per message byte, as nccl-tests counts them, for n ranks; 0: not defined for this function. */
double commop_bus_factor(const char *op, int n);
