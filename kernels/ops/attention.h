/* attention.h - softmax attention over packed tokens, flash style: scores exist one block at a time (spec E.1).
 *
 *   S_ij = scale q_i . k_j     lse_i = log sum_j exp S_ij     O_i = sum_j exp(S_ij - lse_i) v_j     j over the keys that i may see
 *
 * A call works through a list of pieces, each a run of queries against a run of keys; rows that no piece covers are left
 * alone. A piece is unmasked or causal, aligned at its last query and last key (bottom right):
 *
 *   keys      0 1 2 3 4        query i of q_len sees key j of kv_len  iff  j <= i + kv_len - q_len;
 *   query 0   x x x . .        a packed sequence is one causal piece, a rank's chunk against the prefix of its sequence
 *   query 1   x x x x .        too, and the steps of a ring are unmasked pieces.
 *   query 2   x x x x x
 *
 *   q, dq (rows, H, d)   k, dk (rows, Hkv, d)   v, dv (rows, Hkv, e)   o, do (rows, H, e)   lse (rows, H)   fp32
 *
 * rows of q and of k count separately; a row is ld... floats from the next. Query head h reads key head h / (H / Hkv).
 * Any d and e up to ATTENTION_DIM_MAX.
 */
#pragma once
#include "kernels/ops/op.h"

enum { ATTENTION_DIM_MAX = 1024 };

/* Rows [q, q + qlen) of q against rows [k, k + klen) of k and v. */
struct attn_piece {
    int64_t q, qlen, k, klen;
    bool causal;
};

/* Allowed (query, key) pairs of a piece. */
int64_t attn_piece_pairs(const struct attn_piece *p);

/* What both directions read. */
struct attn_inputs {
    const float *q, *k, *v;
    const struct attn_piece *pieces; /* device memory; a query row is in one piece at most */
    int64_t ldq, ldk, ldv;
    int64_t npieces, pairs; /* pairs: of all pieces, for the cost */
    int32_t heads, kv_heads, d, e;
    float scale;
};

/* o and lse of the rows covered, overwritten. A row that sees no key gets 0 and -inf. */
struct attention_fwd_args {
    struct attn_inputs in;
    float *o, *lse;
    int64_t ldo;
};
OP_DECLARE(attention_fwd);

/* o and lse are those over all keys of a query, wherever they were computed; dq, dk and dv are added to (+=), so that the
 * pieces of a split add up, in the order of the pieces. */
struct attention_bwd_args {
    struct attn_inputs in;
    const float *o, *lse, *d_o;
    float *dq, *dk, *dv;
    int64_t ldo, lddo, lddq, lddk, lddv;
};
OP_DECLARE(attention_bwd);

/* (o, lse) of disjoint key sets a and b into a: lse' = max + log1p(exp(min - max)), each o weighted by its exp(lse - lse').
 * Dense, o (rows, H, e). A row of -inf adds nothing; where b's lse is -inf its o is not read. */
struct attention_merge_args {
    float *o, *lse;
    const float *o_b, *lse_b;
    int64_t rows;
    int32_t heads, e;
};
OP_DECLARE(attention_merge);
