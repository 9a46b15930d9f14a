/* gdn_core.h - the middle of a Gated DeltaNet layer on a run of packed tokens (spec A.2, steps 2 to 7).
 *
 *   proj  | q HK dk | k HK dk | v HV dv | z HV dv | b HV | a HV |     one row a token, as the input projection gives it
 *           '------- conv, SiLU -----'
 *   mix   | q, k normalised     |  v     |  ->  scan with gates of b, a  ->  o  ->  norm gated by z  ->  m (HV dv)
 *
 * Which tokens and heads these are is the mode's business: a shard of the tokens with all heads, all tokens with a share
 * of the heads, or everything. What crosses ranks (halo rows, states) the mode passes in between the calls.
 */
#pragma once
#include "kernels/modes/mode.h"
#include "kernels/ops/gdn.h"

enum gdn_param { GDN_W_IN, GDN_W_CONV, GDN_A_LOG, GDN_DT_BIAS, GDN_W_NORM, GDN_W_OUT, GDN_PARAMS };
_Static_assert((int)GDN_PARAMS <= (int)PARAM_MAX, "a GDN layer has too many parameters");

enum { GDN_CHUNK = 64 }; /* tokens of a chunk of the scan */
#define GDN_EPS 1e-6f    /* of the L2 norm and of the gated norm */

/* Widths in floats of a row: projection, conv channels, output before the projection back. */
int64_t gdn_in_width(const struct cp_shape *s);
int64_t gdn_conv_width(const struct cp_shape *s);
int64_t gdn_out_width(const struct cp_shape *s);

/* Positive head counts and dims, value heads a multiple of key heads, what the kernels can hold. ERR_USAGE names the option. */
bool gdn_check(const struct cp_shape *s, struct err *e);

/* A run of packed tokens with some of the heads; all pointers are device memory. */
struct gdn_core {
    struct stream *stream;
    enum dtype dtype;     /* of stored rows; gates, states and parameter gradients stay float */
    struct devpool *pool; /* what the calls below leave for backward */
    int64_t tokens;
    const int64_t *cu; /* [segments + 1] */
    int64_t segments;
    int64_t kheads, vheads, dk, dv, conv;
    bool no_z;                                      /* rows of proj have no z section: the norm runs elsewhere */
    const float *w_conv, *A_log, *dt_bias, *w_norm; /* of these heads */
    float *dw_conv, *dA_log, *ddt_bias, *dw_norm;   /* NULL until backward; += */
    const float *proj;
    const float *halo; /* [conv-1][conv channels] or NULL; see conv1d.h */
    int64_t halo_valid;
    float *mix, *inv, *beta, *g, *tm, *o; /* made by the calls, in this order */
};

/* Dims, conv and norm weights of all heads; the mode sets proj, tokens, segments and what it has less of. */
struct gdn_core gdn_core_of(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st);
/* Points the gradients of conv, gates and norm at `grad`. */
void gdn_core_grads(struct gdn_core *c, const struct layer_tensors *grad);

int64_t gdn_core_in(const struct gdn_core *c); /* floats of a row of proj, mix, o */
int64_t gdn_core_mix(const struct gdn_core *c);
int64_t gdn_core_out(const struct gdn_core *c);
int64_t gdn_core_summary(const struct gdn_core *c); /* floats of [S | M] */

/* ---- forward, in this order ---- */
void gdn_core_pre(struct gdn_core *c);                       /* conv, normalise, gates: mix, inv, beta, g */
void gdn_core_prepare(struct gdn_core *c);                   /* tm */
void gdn_core_scan(struct gdn_core *c, const float *h_in);   /* o; h_in [HV][dk][dv] or NULL */
void gdn_core_norm(struct gdn_core *c, float *m);            /* m [tokens][out] */
struct gdn_inputs gdn_core_inputs(const struct gdn_core *c); /* for the summary ops, once tm is there */
void gdn_core_forward(struct gdn_core *c, float *m);         /* all of it, no state coming in, in the ranges of C.2 */

/* ---- backward, in this order; all scratch is in `t` ---- */
struct gdn_back {
    struct devpool *pool;
    float *dproj; /* [tokens][in]: filled section by section; made by gdn_back_norm() where it is NULL */
    float *d_o;   /* [tokens][out] */
    float *dmix, *dg, *dbeta;
    float *d_halo; /* [conv-1][conv channels]; NULL: not wanted */
    float *dh_in;  /* [HV][dk][dv]: gradient of the state that enters; NULL: not wanted */
};
/* dm may be overwritten. Makes dproj and d_o, fills the z section. */
void gdn_back_norm(const struct gdn_core *c, struct gdn_back *b, float *dm);
/* dh_out: gradient of the state after the last segment, or NULL. */
void gdn_back_scan(const struct gdn_core *c, struct gdn_back *b, const float *h_in, const float *dh_out);
/* Fills the q, k, v, b, a sections of dproj and, where wanted, d_halo. */
void gdn_back_pre(const struct gdn_core *c, struct gdn_back *b);
/* All of it, no state and no halo; dproj, in `pool`. */
float *gdn_core_backward(const struct gdn_core *c, struct devpool *pool, float *dm);

/* Declared work of the core for `tokens` tokens and `vheads` heads (spec A.5, A.6), times `passes` forward. */
double gdn_core_flops(const struct cp_shape *s, double tokens, double vheads, int passes);
