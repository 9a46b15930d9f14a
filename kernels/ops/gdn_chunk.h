/* gdn_chunk.h - what the passes of gdn*.c share: the list of chunks, decays of a chunk, one step of the state.
 *
 * Matrices of a chunk that have a column per token are [C][C] with rows C apart, whatever the chunk's own length n.
 */
#pragma once
#include "kernels/ops/gdn.h"
#include "kernels/ops/mm.h"

struct gdn_chunk {
    int64_t start;      /* its first row */
    int32_t n;          /* tokens, 1 .. C */
    bool opens, closes; /* first, last chunk of its segment */
    bool first, last;   /* of the first, last segment */
};

/* Hands out pieces of a work buffer; with base NULL it only counts. Pieces are 64-byte aligned as the base is. */
struct gdn_work {
    char *base;
    size_t used;
};
void *gdn_take(struct gdn_work *w, size_t bytes);
float *gdn_floats(struct gdn_work *w, int64_t n);

enum gdn_which { GDN_ALL, GDN_FIRST, GDN_LAST };
/* The chunks of all segments or of one, ascending; list holds gdn_max_chunks. */
int gdn_chunks(const struct gdn_inputs *in, enum gdn_which which, struct gdn_chunk *list);
int64_t gdn_max_chunks(const struct gdn_inputs *in);

/* Decays of one value head over one chunk. gam in double: its differences must stay exact. */
struct gdn_decay {
    double *gam;  /* [C] running sum of g */
    float *begin; /* [C] exp(gam_i): from the chunk's start to token i */
    float *end;   /* [C] exp(gam_n - gam_i): from token i to the chunk's end */
    float whole;  /* exp(gam_n) */
};
struct gdn_decay gdn_decay_take(struct gdn_work *w, int C);
void gdn_decay_fill(struct gdn_decay *d, const struct gdn_inputs *in, const struct gdn_chunk *c, int h);
/* x[i][j] *= f exp(gam_i - gam_j) for j <= i, 0 above the diagonal. */
void gdn_decay_apply(const struct gdn_decay *d, int n, float f, float *x, int C);
/* r[i][j] = exp(gam_i - gam_j) for j <= i, 0 above. */
void gdn_decay_matrix(const struct gdn_decay *d, int n, float *r, int C);

/* out[i][..] = f scale[i] x[i][..], n rows of `cols`. */
void gdn_scale_rows(float *out, int64_t ldout, const float *x, int64_t ldx, const float *scale, float f, int n, int cols);

/* Scratch of a step: for states of up to E columns. */
struct gdn_step {
    float *b, *vn; /* [C][E] each */
    float *kt;     /* [C][dk] */
};
struct gdn_step gdn_step_take(struct gdn_work *w, const struct gdn_inputs *in, int E);
/* Vn (left in s->vn, [n][E]) of the chunk from the state x [dk][E] before it. Columns from dv on have no values v. */
void gdn_step_values(const struct gdn_step *s, const struct gdn_inputs *in, const struct gdn_chunk *c, const struct gdn_decay *d, int h,
                     const float *x, int E);
/* x becomes the state after the chunk. */
void gdn_step_state(const struct gdn_step *s, const struct gdn_inputs *in, const struct gdn_chunk *c, const struct gdn_decay *d, int h, float *x,
                    int E);

/* Rows of a head's columns at a chunk's start. */
static inline const float *gdn_q(const struct gdn_inputs *in, const struct gdn_chunk *c, int hk)
{
    return in->q + c->start * in->ldqk + (int64_t)hk * in->dk;
}
static inline const float *gdn_k(const struct gdn_inputs *in, const struct gdn_chunk *c, int hk)
{
    return in->k + c->start * in->ldqk + (int64_t)hk * in->dk;
}
static inline const float *gdn_v(const struct gdn_inputs *in, const struct gdn_chunk *c, int h)
{
    return in->v + c->start * in->ldv + (int64_t)h * in->dv;
}
static inline float *gdn_tm(const struct gdn_inputs *in, const struct gdn_chunk *c, int h)
{
    return in->tm + ((int64_t)h * in->T + c->start) * in->C;
}
static inline int gdn_key_head(const struct gdn_inputs *in, int h)
{
    return h / (in->HV / in->HK);
}
/* Multiply-adds of one pass, counted as though every chunk were full: per_cc for [C][C] products summed over their inner
 * sizes, per_state for products with a dk x dv state; per token and value head. */
static inline double gdn_flops(const struct gdn_inputs *in, double per_cc, double per_state)
{
    return 2.0 * in->T * in->HV * (in->C * per_cc + per_state * in->dk * in->dv);
}
/* Bytes of q, k, v, g, beta and tm, each once. */
double gdn_input_bytes(const struct gdn_inputs *in);

/* The launch with its scratch; the body finds it in args->work. */
#define GDN_OP(NAME, SIZES)                                                                                                                          \
    OP_KERNEL(NAME);                                                                                                                                 \
    void op_##NAME(struct stream *s, const struct NAME##_args *a)                                                                                    \
    {                                                                                                                                                \
        struct NAME##_args with = *a;                                                                                                                \
        with.work = dev_alloc(stream_device(s), NAME##_work(SIZES));                                                                                 \
        dev_launch(s, &NAME##_kernel, &with, sizeof with);                                                                                           \
        dev_free(stream_device(s), with.work);                                                                                                       \
    }                                                                                                                                                \
    _Static_assert(1, "")
