/* syncs.h - the arguments of the table `syncs`, for commands that build it. */
#pragma once

struct syncs_args {
    const char *ledger; /* wait (default), op */
    const char *by;     /* function (default), line, stack */
};
