/* gdn.h - the gated delta rule over packed tokens, chunk by chunk: forward, backward, and the affine summary that lets
 * ranks work on shards of one sequence.
 *
 *        first segment            last segment
 *   H_in -> [chunk][chunk][ch] [chunk][chunk][chunk] [chunk][c] -> H_out      forward; other segments start from zero
 *   dH_in <- [chunk][chunk][ch] [chunk][chunk][chunk] [chunk][c] <- dH_out    backward
 *
 * A chunk is at most C tokens of one segment. For a value head h of a rank, its key head is h / (HV / HK). State S is
 * [dk][dv], keys index rows; a token does  S <- exp(g) S;  u = beta (v - S^T k);  S <- S + k u^T;  o = scale S^T q.
 * Whole chunks use the WY form: T = (I + A)^-1, A = strictly_lower(diag(beta) (K K^T o R)), R_ij = exp(gam_i - gam_j),
 * gam the running sum of g inside the chunk (kept in double: differences of large sums must stay exact). With S0 the
 * state before the chunk
 *
 *   B = diag(beta) (V - diag(exp gam) K S0),  Vn = T B,
 *   O = scale (diag(exp gam) Q S0 + lower(Q K^T o R) Vn),  S_out = exp(gam_n) S0 + (diag(exp(gam_n - gam)) K)^T Vn
 *
 * so a shard is affine in its incoming state, H_out = M H_in + S, and [S | M] is the same scan over dv + dk columns that
 * starts from [0 | I] with values [V | 0].
 *
 * The order of calls in one layer:
 *
 *   gdn_scan_prepare    k, beta, g -> tm                  once; tm serves all that follow
 *   gdn_summary_fwd     last segment -> [S | M]           only ranks that emit a state; all-gather it
 *   gdn_summary_merge   gathered [S | M] -> H_in          X <- M_j X + S_j over earlier ranks, ascending
 *   gdn_scan_fwd        H_in -> o, H_out
 *   gdn_summary_bwd     first segment, dO -> [dSx | M^T]  only ranks that receive a state; all-gather it
 *   gdn_summary_merge   gathered -> dH_out                X <- M_j^T X + dSx_j over later ranks, descending
 *   gdn_scan_bwd        dO, dH_out -> all gradients, dH_in
 *
 * Use on the default stream only: the ops take their scratch from dev_alloc and free it when the launch is enqueued.
 */
#pragma once
#include "kernels/ops/op.h"

/* What all passes share. q, k normalised. */
struct gdn_inputs {
    const float *q, *k;    /* [T][HK][dk], ldqk */
    const float *v;        /* [T][HV][dv], ldv */
    const float *g, *beta; /* [T][HV], dense */
    float *tm;             /* [HV][T][C], dense, T*C*HV floats: written by prepare, read by the others */
    const int64_t *cu;     /* [nseg+1] */
    int64_t ldqk, ldv;
    int32_t T, HK, HV, dk, dv, C, nseg;
    float scale; /* applied to q: dk^-1/2 */
};

/* tm of all chunks. q and v are not looked at. */
struct gdn_scan_prepare_args {
    struct gdn_inputs in;
    void *work; /* set by op_; gdn_scan_prepare_work bytes */
};
OP_DECLARE(gdn_scan_prepare);
size_t gdn_scan_prepare_work(const struct gdn_inputs *in);

struct gdn_scan_fwd_args {
    struct gdn_inputs in;
    const float *h_in; /* [HV][dk][dv] or NULL: zero */
    float *o;          /* [T][HV][dv], ldo */
    float *h_out;      /* [HV][dk][dv]: state after the last segment; NULL: not wanted */
    void *work;
    int64_t ldo;
};
OP_DECLARE(gdn_scan_fwd);
size_t gdn_scan_fwd_work(const struct gdn_inputs *in);

/* All gradients are overwritten; dq and dk are sums over the value heads of a key head. */
struct gdn_scan_bwd_args {
    struct gdn_inputs in;
    const float *h_in;   /* as in forward */
    const float *d_o;    /* [T][HV][dv], lddo */
    const float *dh_out; /* [HV][dk][dv] or NULL: zero */
    float *dq, *dk;      /* [T][HK][dk], lddqk */
    float *dv;           /* [T][HV][dv], lddv */
    float *dg, *dbeta;   /* [T][HV], dense */
    float *dh_in;        /* [HV][dk][dv]: gradient of h_in; NULL: not wanted */
    void *work;
    int64_t lddo, lddqk, lddv;
};
OP_DECLARE(gdn_scan_bwd);
size_t gdn_scan_bwd_work(const struct gdn_inputs *in);

/* [S | M] of the last segment: sm [HV][dk][dv+dk]. */
struct gdn_summary_fwd_args {
    struct gdn_inputs in;
    float *sm;
    void *work;
    float *states;  /* [HV][chunks of the last segment][dk][dv+dk]: what gdn_summary_grad can use; NULL: not wanted */
    int32_t reset;  /* M is 0: a state that enters the shard does not leave it (it has several segments) */
    int64_t tokens; /* of the last segment, for the cost alone; 0: counted as though it were the whole shard */
};
OP_DECLARE(gdn_summary_fwd);
size_t gdn_summary_fwd_work(const struct gdn_inputs *in);

/* [dSx | M^T] of the first segment: dsm [HV][dk][dv+dk]. dSx: gradient of h_in of this rank's outputs alone. M comes from
 * this rank's sm (its last segment; a rank with several segments ends the chain, so its M meets only zeros); NULL: zero. */
struct gdn_summary_bwd_args {
    struct gdn_inputs in;
    const float *d_o; /* [T][HV][dv], lddo */
    const float *sm;
    float *dsm;
    void *work;
    int64_t lddo;
    int64_t tokens; /* of the first segment, as above */
};
OP_DECLARE(gdn_summary_bwd);
size_t gdn_summary_bwd_work(const struct gdn_inputs *in);

/* x [HV][dk][dv] <- fold over blocks first, first+step, ... (count of them) of `all` [ranks][HV][dk][dv+dk], from x0
 * (NULL: from zero; x itself is fine): X <- M_j X + S_j. */
struct gdn_summary_merge_args {
    const float *all;
    float *x;
    void *work;
    int32_t HV, dk, dv, first, count, step;
    const float *x0;
};
OP_DECLARE(gdn_summary_merge);
size_t gdn_summary_merge_work(const struct gdn_summary_merge_args *a);
