/* sim_round.h - a modelled machine of round numbers, and kernels that cost what their arguments say: for tests that add up
 * times by hand. */
#pragma once
#include "kernels/device/sim.h"

#include <stdlib.h>

/* Every step of a time is a decimal digit of its own: which were taken can be read off the sum. */
static const struct machine round_numbers = {.name = "round",
                                             .gpus_per_node = 4,
                                             .peak_fp32_tflops = 0.001, /* 1 flop a ns */
                                             .peak_bf16_tflops = 0.002,
                                             .peak_fp16_tflops = 0.004,
                                             .memory_gbps = 2,
                                             .gemm_share = 0.5,
                                             .attention_share = 0.25,
                                             .scan_share = 0.125,
                                             .memory_share = 0.5,
                                             .launch_ns = 10,
                                             .framework_op_ns = 7,
                                             .framework_slowdown = 1,
                                             .sync_ns = 100000,
                                             .copy_ns = 20,
                                             .host_link_gbps = 0.5,
                                             .queue_depth = 3,
                                             .launch_latency_ns = 1,
                                             .kernel_min_ns = 1000,
                                             .nvlink_gbps = 4,
                                             .nvlink_start_ns = 300,
                                             .nvlink_hop_ns = 50,
                                             .ib_gbps = 1,
                                             .ib_start_ns = 900,
                                             .ib_hop_ns = 70};

struct amount {
    double flops, bytes;
};

static inline struct cost amount_cost(const void *args)
{
    const struct amount *a = args;
    return (struct cost){a->flops, a->bytes};
}

static inline void never(const void *args)
{
    (void)args;
    abort(); /* bulk kernels do not run */
}

static const struct kernel add = {"elementwise_add", never, amount_cost};
