/* kernels.h - the arguments of the table `kernels`, for commands that build it. */
#pragma once

struct kernels_args {
    const char *by; /* name (default), short, class, range */
};
