/* reduce.h - a table of many files with one file's rows in memory at a time.
 *
 *   rank0.sqlite  rows -- fill --> digest  \
 *   rank1.sqlite  rows -- fill --> digest   >-- joint: calls matched over ranks, rows in order, notes --> table
 *   host1.part        (kept there) digest  /
 *
 * A digest is what a table makes of one file: its rows, the file's collectives (collectives.h), and the husk of the trace:
 * ranks, lanes, windows, steps and facts without a single event. Files are worked on by as many threads as there are
 * cores, so memory is that of so many files and of the digests. A table built of an open trace goes the same way, file by
 * file, and so has the same bytes.
 */
#pragma once
#include "analyzer/collectives.h"
#include "analyzer/paths.h"

struct digest {
    struct trace husk;  /* of one file */
    struct table rows;  /* empty when err is set */
    struct calls calls; /* of tables that look at them */
    struct err err;     /* ERR_UNDECIDED: why this file has no rows of the table */
};

/* What is left of `t` (which is closed by it) without its events; texts that are kept live in husk->arena. */
void husk_take(struct trace *t, struct trace *husk);
/* `t`: one file. Its collectives, those that the selection leaves out as hidden ones. */
void digest_calls(const struct trace *t, struct calls *k);
void digest_make(const struct table_desc *d, const struct trace *t, const void *args, struct digest *g);
void digest_free(struct digest *g);

/* Digests put together, in order of the files. */
struct joint {
    const struct table_desc *d;
    const void *args;
    struct table *out;
    struct calls calls;
    struct calls_base base;
    struct intern texts; /* of cells */
    const char **kept;   /* by id: the text in out */
    size_t nkept, kept_cap;
    bool any;
    struct err none; /* why the first file has no rows */
};

void joint_open(struct joint *j, const struct table_desc *d, const void *args, struct table *out);
/* f: the file whose digest it is, as it is in the trace given to joint_close(). nlanes: of the file. */
void joint_add(struct joint *j, const struct digest *g, const struct trace_file *f, uint32_t nlanes);
/* Joins, sorts, adds notes and frees `j`. t: all files. False: no file has what the table needs. */
bool joint_close(struct joint *j, const struct trace *t, struct err *e);

/* each(ctx, i) of every i below n, in order, by as many threads as there are cores, until one is false. */
void for_files(size_t n, bool (*each)(void *ctx, size_t i), void *ctx);

/* The table of files and folders. Fails as trace_open() and table_build() do; then `out` and `r` are to be freed all the same. */
struct reduced {
    struct trace t; /* husks of all files; of one file, or for a table that needs all rows at once: as opened */
    struct paths p;
    struct slot *slots;
    struct arena arena;
};
bool reduce_table(const struct table_desc *d, const char *const *paths, size_t n, const struct trace_opts *o, const void *args, struct reduced *r,
                  struct table *out, struct err *e);
void reduced_close(struct reduced *r);
