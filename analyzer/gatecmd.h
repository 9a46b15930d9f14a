/* gatecmd.h - what `cpscope gate` and `cpscope check` share: from files and options to a verdict and a status.
 */
#pragma once
#include "analyzer/output.h"
#include "analyzer/rules.h"
#include "analyzer/trace.h"

struct gate_args {
    struct rules *read; /* the caller's, who frees it: filled by gate_ready(), once, for a file of rules may be a pipe */
    const char *rules, *baseline, *update, *git;
    bool noise;       /* --aa */
    const char *note; /* below the verdicts: how the runs were made; NULL: nothing */
};
extern const struct opt gate_opt_rows[]; /* into a struct gate_args */

/* Reads the rules and says what can be refused before there is anything to judge: rules that cannot be read, a baseline that is not there, a commit or a
 * format that is none. */
bool gate_ready(const struct gate_args *a, const struct output_opts *oo, struct err *e);

/* After gate_ready(): 0 all pass, 1 a rule fails, 4 a rule cannot be judged; or the status of *e. */
enum status gate_files(const char *const *paths, size_t n, const struct gate_args *a, const struct trace_opts *to, const struct output_opts *oo,
                       struct err *e);
