/* bench.h - what a command of cpbench is.
 *
 * A command is one file kernels/bench_NAME.c that defines `const struct bench_cmd bench_NAME`; the Makefile makes the
 * registry `bench_cmds` from the file names. A command prints its rows on stdout only when it has succeeded; what went
 * wrong it leaves in *e, and only main() prints that.
 */
#pragma once
#include "schemas/err.h"

struct bench_cmd {
    const char *name;
    const char *what;                                         /* one line for `cpbench --help` */
    enum status (*run)(int argc, char **argv, struct err *e); /* argv[0] is how messages name it: "cpbench run" */
};

extern const struct bench_cmd *const bench_cmds[]; /* ends with NULL */
