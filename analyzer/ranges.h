/* ranges.h - the arguments of the table `ranges`, for commands that build it. */
#pragma once
#include <stdbool.h>

struct ranges_args {
    bool each; /* layer#3 and layer#4 are two paths */
};
