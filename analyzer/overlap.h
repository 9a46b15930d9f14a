/* overlap.h - the arguments of the table `overlap`, for commands that build it. */
#pragma once

struct overlap_args {
    const char *of, *with; /* RE; NULL: collectives, other kernels */
};
