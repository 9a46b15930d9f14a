/* attn_core.h - attention on the rows and heads that a rank works on, and what it may ask of a plan.
 *
 * q, o, d_o, dq are (rows, heads, d or e), k and v (rows, kv_heads, d or e): dense device memory. Which rows and heads
 * these are is the mode's business; the plan (kv_cache.h) says which of them meet in each call.
 */
#pragma once
#include "kernels/layout/kv_cache.h"
#include "kernels/modes/mode.h"

struct attn_core {
    struct cp_rank *r;
    struct stream *stream;  /* of the calls */
    struct devpool *pool;   /* of the direction that runs; forward's lives until backward has been enqueued */
    struct arena *arena;    /* of the layer: lives until backward */
    struct attn_meta *meta; /* a reference, held by the layer */
    int64_t rows;
    int32_t heads, kv_heads, d, e;
    float scale;
    const float *q, *k, *v;
    float *o, *lse; /* forward overwrites them; backward reads them */
    const float *d_o;
    float *dq, *dk, *dv; /* backward overwrites them */
    void *shared;        /* what a mode keeps from forward for backward */
};

/* Memory in the pool. */
float *attn_floats(const struct attn_core *c, int64_t n);
float *attn_stored(const struct attn_core *c, int64_t n); /* of the storage type */
float *attn_zeros(const struct attn_core *c, int64_t n);
void attn_clear(const struct attn_core *c, float *v, int64_t n); /* v: of the storage type */

/* Floats of all rows of K, of V, of q, of o. */
int64_t attn_k_size(const struct attn_core *c);
int64_t attn_v_size(const struct attn_core *c);
int64_t attn_q_size(const struct attn_core *c);
int64_t attn_o_size(const struct attn_core *c);

/* One call of the plan, with the core's own q, o, lse ... unless `c` was copied and they were replaced. Nothing when the
 * call has no piece. Forward overwrites the rows it covers, backward adds to dq, dk, dv. */
void attn_call_forward(const struct attn_core *c, int call);
void attn_call_backward(const struct attn_core *c, int call);

/* All calls of the plan with K and V as they lie here: nothing is exchanged. */
void attn_local_forward(struct attn_core *c);
void attn_local_backward(struct attn_core *c);
