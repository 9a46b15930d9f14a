/* hostread.h - the host reads a device value: the framework operators that synchronise, by their names.
 *
 * Each emits one op-ledger row per operator at the caller's site (the item inside is_nonzero too), does a real
 * device-to-host copy and really waits: one wait-ledger row, class copy, at the same site.
 *
 *   | call        | op rows            | wait rows |
 *   | item        | item               | 1 |
 *   | is_nonzero  | is_nonzero, item   | 1 |   the item lies inside
 *   | nonzero     | nonzero            | 1 |   the count, before the output can be allocated
 *   | index_mask  | index              | 1 |   a boolean index: class nonzero in the op ledger
 */
#pragma once
#include "kernels/device/device.h"

int64_t hostread_item_i64(struct stream *s, const int64_t *value, const struct site *site);
float hostread_item_f32(struct stream *s, const float *value, const struct site *site);
bool hostread_is_nonzero(struct stream *s, const uint8_t *flag, const struct site *site);

/* Indices of the set elements of mask[0 .. n-1], ascending, in new device memory (dev_free it); *count is known to the
 * host afterwards. Two kernels (count, write) around one read. */
int64_t *hostread_nonzero(struct stream *s, const uint8_t *mask, int64_t n, int64_t *count, const struct site *site);
/* values[mask] for int64 values. */
int64_t *hostread_index_mask_i64(struct stream *s, const int64_t *values, const uint8_t *mask, int64_t n, int64_t *count, const struct site *site);
