/* cmd.h - a command of cpscope: one file cmd_NAME.c defines `const struct cmd cmd_NAME`.
 *
 * Every result table (table_NAME.c) is a command of its own without one: see tablecmd.h.
 */
#pragma once
#include "schemas/err.h"

struct cmd {
    const char *name;
    const char *what; /* one line for the list of commands */
    /* argv[0] is "cpscope NAME", argv[1..] the rest. A command writes results to stdout or to its -o, never prints its
     * own error: it sets *e, whose status wins over the one returned. */
    enum status (*run)(int argc, char **argv, struct err *e);
};

extern const struct cmd *const cmds[]; /* ends with NULL */
