/* launch.h - what the launcher of a distributed program says about a process: torchrun, Open MPI, Slurm, PMI. */
#pragma once
#include <stdint.h>

struct launch {
    int32_t rank, local_rank, world; /* -1: not under a launcher, or it does not say */
};

/* From the environment. A launcher that gives a rank but no world size is believed; a world of one without rank is none. */
struct launch launch_env(void);
