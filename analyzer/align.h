/* align.h - the files of a job put on one clock.
 *
 *   file 0  |====== arrived early ======|transfer|      a collective ends on all its ranks together, whatever their clocks say:
 *   file 1              |== early ======|transfer|      clock 1 - clock 0 = median over calls of (end 1 - end 0)
 *
 * Files of one boot of a host share a clock: a cluster. Between clusters readings of the wall clock go before (clocks.h): each
 * cluster is moved as a whole, by what holds in the middle of its calls; then the ends of matched collectives tell the rest.
 */
#pragma once
#include "analyzer/clocks.h"
#include "analyzer/collectives.h"

struct align_cluster {    /* files that share a clock; known by the first of them */
    uint32_t first, base; /* of a file: of its cluster; of a cluster: 1 + the one that its calls are measured by, 0 none */
    int64_t from, to;     /* ends of its first and last call, absolute; to 0: no call */
    bool together;        /* they are such as end on all ranks at once */
    int64_t left;         /* what the ends say after the wall; of one alone without a base: what the caller says */
};

struct align {
    const struct trace *t;
    const struct collective *v; /* matched, by call and lane */
    size_t n;
    struct clocks clocks;
    struct align_cluster *of; /* by file */
    uint32_t *root;           /* by file: the first file of its run, whose clock is the common one */
};

/* Leaves the matched calls in *c, by call and lane; how many. */
size_t align_calls(struct collectives *c);

/* v[0 .. n-1]: from align_calls(), as long as x lives. `unmet`: what to add to the times of a cluster that nothing ties to its run's first
 * file, to bring them there; NULL: nothing. Lives in `a`. t: husks will do. */
typedef int64_t align_unmet_fn(const struct trace *t, uint32_t file, uint32_t root);
void align_files(const struct trace *t, const struct collective *v, size_t n, align_unmet_fn *unmet, struct arena *a, struct align *x);

/* What is added to a file's relative times to bring them onto its run's first file: by what the files tell at `own` (absolute, of its
 * clock); as a whole, ends of collectives and all. */
int64_t align_told(const struct align *x, uint32_t file, int64_t own);
int64_t align_as_whole(const struct align *x, uint32_t file);
int64_t align_shift(const struct align *x, uint32_t file); /* align_as_whole() and the rest */

/* Absolute, of its file's clock; 0 where that is beyond numbers. */
int64_t align_end(const struct align *x, const struct collective *c);
