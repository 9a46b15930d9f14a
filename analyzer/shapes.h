/* shapes.h - what makes two device rows the same work: name and launch shape of kernels, kind and size of copies.
 */
#pragma once
#include "analyzer/groups.h"
#include "analyzer/trace.h"

struct shapes {
    const struct trace_file *f;
    struct groups grids, blocks, works; /* grid and block.x; that and the rest; name and that */
    uint32_t *of_detail;                /* by kernel row: 1 + shape, for rows share their details */
};

/* Numbers are comparable within one file only. */
void shapes_init(struct shapes *s, const struct trace_file *f, struct arena *a);
void shapes_free(struct shapes *s);
/* Number of the kind of work that a row of class WORK is, from 1 on: equal for equal kind, name, grid and block, bytes and
 * direction of a copy. Where a kernel's shape is not in the trace its name decides. */
uint32_t shapes_id(struct shapes *s, const struct event *ev);
