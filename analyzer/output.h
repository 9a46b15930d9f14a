/* output.h - printing tables: --format, -o FILE by way of FILE.tmp, --sort, --top, --filter.
 */
#pragma once
#include "schemas/opt.h"
#include "schemas/table.h"

struct output_opts {
    const char *format; /* NULL: text */
    const char *path;   /* NULL: stdout */
    const char *sort, *filter, *color;
    int64_t top; /* 0: all */
    bool across_ranks, quiet, no_progress;
};
extern const struct opt output_opt_rows[];  /* into a struct output_opts */
extern const struct opt output_gate_rows[]; /* the same for verdicts, which have more formats */

/* What can be refused before there is a table: a format that is none, or for verdicts only; a colour. ERR_USAGE. */
bool output_ready(const struct output_opts *o, bool verdicts, struct err *e);

/* A file that appears whole or not at all; path NULL: stdout, which main() checks. A device or a pipe is written to as it is. */
struct output {
    FILE *f;
    char *tmp; /* NULL: written in place */
    const char *path;
};
bool output_open(struct output *o, const char *path, struct err *e);
bool output_close(struct output *o, bool keep, struct err *e); /* keep false: nothing is left */
/* False: `path` (NULL: stdout) is the file that `input` names, or the archive that it is a member of. ERR_USAGE. */
bool output_spares(const char *path, const char *input, struct err *e);

/* Sorts, filters and cuts as asked, puts ranks together (--across-ranks; text does so over 4 ranks), then prints. `worst`
 * as in struct table_desc, may be NULL. Rows of *t are reordered and cut; the caller still frees it. */
bool output_table(struct table *t, const char *worst, const struct output_opts *o, struct err *e);
