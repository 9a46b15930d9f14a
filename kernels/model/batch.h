/* batch.h - the data side: what a micro-batch holds, and the objects that its layers get.
 *
 * A token's input depends on seed, step, micro-batch and its number among all tokens without padding only, so every cp
 * size, layout and padding sees the same tokens.
 */
#pragma once
#include "kernels/model/config.h"

/* Inputs of `n` tokens of one micro-batch, (n, hidden) floats on the host. */
void batch_inputs(float *host, const struct run_config *c, const int64_t *tokens, int64_t n, int64_t step, int64_t microbatch);

/* Global token of each of the rank's rows under the layout; with cp 1 simply 0, 1, ... Lives in `a`. */
int64_t *batch_rows(const struct packing *p, int cp, int rank, enum layout l, struct arena *a);

struct batch_modes { /* of the layers; attn may be NULL */
    const struct cp_mode *mode, *attn;
};
/* The micro-batch's boundary object on the device and what the data side derives from the lengths it knows; with
 * --route prebuilt both routes. The packed boundaries may hold empty slots. batch_close() also after a failure. */
bool batch_open(struct cp_batch *b, struct cp_rank *r, const struct batch_modes *of, const struct packing *p, struct err *e);
void batch_close(struct cp_batch *b, struct cp_rank *r);

/* The marks of schemas/marker.h: the payload at the start, the caches' use at the end. */
void batch_mark(struct cp_rank *r, const struct packing *p);
void batch_mark_caches(const struct cp_batch *b, struct cp_rank *r);
