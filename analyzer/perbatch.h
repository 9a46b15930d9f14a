/* perbatch.h - how often each sync site was met in the micro-batch that met it most.
 *
 * Some sites are met more or less often as the data falls (an index that is needed for some lengths only). A mean over a
 * run then moves without a change of the code; the largest count in one micro-batch does not.
 */
#pragma once
#include "analyzer/trace.h"

struct perbatch_site {
    const char *site;
    int64_t largest; /* in one micro-batch of one rank */
    int64_t inside;  /* in all micro-batches together; what the table counts beyond that lies outside of any */
};

struct perbatch {
    struct perbatch_site *v; /* by site */
    size_t n;
};

/* Of the op or the wait ledger, by function. Empty where no range is named microbatch#N. Texts live in `a`. */
struct perbatch perbatch_of(const struct trace *t, bool op_ledger, struct arena *a);
const struct perbatch_site *perbatch_find(const struct perbatch *p, const char *site);
