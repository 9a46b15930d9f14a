/* resolve.h - boundary resolution: which buffers a layer lays its rows out by, checked (spec D.3, last paragraph).
 *
 * Per call, for q and again for kv: read cu[-1] (item), "if any(lengths % cp)" (is_nonzero with its item): 3 op events,
 * 2 waits each, at `resolve_cu_seqlens`. Then q and kv must agree: the same memory is a pointer comparison, distinct
 * buffers cost one more item. The padded boundaries stand in for the plain ones where there are any.
 */
#pragma once
#include "kernels/layout/cache.h"

/* Checks p->total against the last boundary, lengths against cp, q against kv. ERR_USAGE names field and value. */
bool resolve_boundaries(const struct packed_seqs *p, struct stream *s, int cp, struct err *e);
/* The same once per micro-batch object: nothing is read while total, cp and all four buffers (identity and version)
 * are those of the last success. Failures are not kept; with an unversioned buffer nothing is. */
bool resolve_boundaries_cached(struct packed_seqs *p, struct stream *s, int cp, struct err *e);
