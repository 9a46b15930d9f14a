/* syncs.h - the arguments of the table `syncs`, for commands that build it. */
#pragma once
#include <stdbool.h>

struct syncs_args {
    const char *ledger; /* wait (default), op */
    const char *by;     /* function (default), line, stack */
    bool no_replay;     /* recoverable_ns is left out */
};
