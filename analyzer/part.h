/* part.h - what `cpscope reduce` keeps of the traces of one host, for every table to take as it takes traces.
 *
 *   option(key, value)                            the options it was made with: they hold for every table that takes it
 *   trace(id, name, folder, rows, digest)         its traces, in order; rows: all of them, packed (part_pack.h)
 *   result(trace, "table", content)               tables with their default options, as digests (reduce.h)
 *
 * A part is an SQLite file with an application id of its own. "host1.part/3/rank3.sqlite" is the path of a trace in a part:
 * it can be opened wherever a trace can.
 */
#pragma once
#include "analyzer/bytes.h"
#include "analyzer/trace.h"

#define PART_APPLICATION_ID 0x63707370 /* "cpsp" */

bool part_is(const char *path); /* by its header */

struct part_entry {
    const char *path; /* of the trace in the part */
    uint64_t folder;  /* equal for traces of one folder */
};

/* The traces of a part, in order; false: not readable. */
bool part_list(const char *path, struct arena *a, struct part_entry **v, size_t *n, struct err *e);
/* Is `path` that of a trace in a part? *id: its number there; `part` gets the part's own path. */
bool part_holds(const char *path, char part[4096], int64_t *id);
/* What tells the folder of a trace from others, without naming it. */
uint64_t part_folder(const char *path);
uint64_t part_folder_of(const char *path); /* of a trace in a part */
/* Does the part keep the rows of its traces? */
bool part_has_rows(const char *part);

/* The rows of a trace in a part into *d (initialised, empty). ERR_UNDECIDED where the part keeps none. */
bool part_rows(const char *path, struct tracedata *d, struct err *e);
/* A blob of a trace in a part, malloc'ed and unpacked; table NULL: its own digest. False: none is there. */
bool part_blob(const char *path, const char *table, struct bytes *out);

/* Fills options that are not given from the parts among the paths. ERR_UNDECIDED: parts made with different ones, or with
 * another one than is given. Texts live in `a`. *more: the name of an option that is given and the parts were made without,
 * so that their results do not hold; NULL: none. */
bool part_options(const char *const *paths, size_t n, struct trace_opts *o, struct arena *a, const char **more, struct err *e);

/* ---- writing ---- */

struct part;
/* PATH.tmp; NULL on failure. */
struct part *part_create(const char *path, bool force, const struct trace_opts *o, struct err *e);
bool part_add(struct part *p, int64_t id, const char *name, uint64_t folder, const struct bytes *rows, const struct bytes *digest, struct err *e);
bool part_add_result(struct part *p, int64_t id, const char *table, const struct bytes *content, struct err *e);
bool part_finish(struct part *p, struct err *e); /* renames */
void part_drop(struct part *p);                  /* NULL is fine; an unfinished file goes */
