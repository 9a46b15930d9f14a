/* repeat.h - calls of the same site that do the same work again within one micro-batch.
 *
 *   micro-batch  |---- layer ----|---- layer ----|---- layer ----|
 *   site A         kkk w  kk w     kkk w  kk w     kkk w  k w         k: launch, w: blocking call of the site
 *                  `----a----'     `----a----'     `---b---'          the second a is identical to the first
 *
 * A call of a site is all its blocking calls within one instance of the innermost range or user frame around them. Its
 * work is what the thread does from the end of its blocking call before (or the instance's start) to the end of this one.
 */
#pragma once
#include "analyzer/trace.h"

struct repeat {
    uint32_t rank, site;      /* entry of trace.ranks; id in names */
    int64_t calls;            /* of the site, in any micro-batch */
    int64_t identical;        /* equal to an earlier one of the same micro-batch */
    int64_t syncs, host, gpu; /* of the identical ones; host and gpu in ns, gpu a sum */
};

enum repeat_unit { REPEAT_MICROBATCH = 1, REPEAT_STEP = 2, REPEAT_WHOLE = 4 };

struct repeats {
    struct repeat *v; /* by rank, site in order of appearance */
    size_t n;
    struct intern names;
    unsigned units; /* what ranks were cut into: enum repeat_unit, as bits */
    bool recorded;  /* some file records blocking calls or operators */
    bool linked;    /* some device row is linked to its launch */
};

void repeats_find(const struct trace *t, struct repeats *out);
void repeats_free(struct repeats *r);
