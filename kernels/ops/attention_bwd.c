/* attention_bwd.c - backward of attention, block by block from the saved log-sum-exp (spec E.1).
 *
 *   P = exp(S - lse)   dV += P^T dO   dP = dO V^T   dS = P o (dP - D)   dQ += scale dS K   dK += scale dS^T Q
 *
 * with D_i = dO_i . O_i. Five products a block; nothing is kept from one block to the next but D.
 */
#include "kernels/ops/attention_block.h"
#include "kernels/ops/mm.h"

struct rows { /* a block of queries of one head */
    const struct attention_bwd_args *a;
    struct attn_head head;
    const struct attn_piece *p;
    int64_t first, n;
    float lse[ATTN_BLOCK], delta[ATTN_BLOCK];
};

static const float *at_o(const struct rows *r, const float *o, int64_t ld)
{
    return o + (r->p->q + r->first) * ld + r->head.h * r->head.in->e;
}

HOT static void gather_rows(struct rows *r)
{
    const struct attention_bwd_args *a = r->a;
    const float *o = at_o(r, a->o, a->ldo), *d_o = at_o(r, a->d_o, a->lddo);
    for (int64_t i = 0; i < r->n; i++) {
        r->lse[i] = a->lse[(r->p->q + r->first + i) * a->in.heads + r->head.h];
        r->delta[i] = (float)dot_f(o + i * a->ldo, d_o + i * a->lddo, a->in.e);
    }
}

/* s: scores -> P; dp: dP -> dS. Pairs that are not allowed get 0 in both. */
HOT static void weights(const struct rows *r, float *s, float *dp, int64_t key, int64_t keys)
{
    for (int64_t i = 0; i < r->n; i++) {
        int64_t seen = attn_visible(r->p, r->first + i) - key, n = seen < 0 ? 0 : attn_min(seen, keys);
        float *p = s + i * ATTN_BLOCK, *d = dp + i * ATTN_BLOCK, lse = r->lse[i], delta = r->delta[i];
        for (int64_t j = 0; j < n; j++) {
            p[j] = exp_f(p[j] - lse);
            d[j] = p[j] * (d[j] - delta);
        }
        for (int64_t j = n; j < keys; j++)
            p[j] = d[j] = 0;
    }
}

static void back_block(const struct rows *r, int64_t key, int64_t keys)
{
    const struct attention_bwd_args *a = r->a;
    const struct attn_inputs *in = &a->in;
    const struct attn_head *h = &r->head;
    float s[ATTN_BLOCK * ATTN_BLOCK], dp[ATTN_BLOCK * ATTN_BLOCK];
    int64_t q = r->p->q + r->first, k = r->p->k + key;
    int n = (int)r->n, m = (int)keys, ldk = (int)in->ldk, ldq = (int)in->ldq;
    const float *d_o = at_o(r, a->d_o, a->lddo);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, m, in->d, in->scale, attn_q(h, q), ldq, attn_k(h, k), ldk, 0, s, ATTN_BLOCK);
    MM_NT(dp, ATTN_BLOCK, 0, d_o, (int)a->lddo, attn_v(h, k), (int)in->ldv, n, m, in->e);
    weights(r, s, dp, key, keys);
    MM_TN(a->dv + k * a->lddv + h->kv * in->e, (int)a->lddv, 1, s, ATTN_BLOCK, d_o, (int)a->lddo, m, in->e, n);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, in->d, m, in->scale, dp, ATTN_BLOCK, attn_k(h, k), ldk, 1,
                a->dq + q * a->lddq + h->h * in->d, (int)a->lddq);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, in->d, n, in->scale, dp, ATTN_BLOCK, attn_q(h, q), ldq, 1,
                a->dk + k * a->lddk + h->kv * in->d, (int)a->lddk);
}

static void back_rows(const struct attention_bwd_args *a, const struct attn_piece *p, int64_t h, int64_t first)
{
    struct rows r = {
        .a = a, .head = {&a->in, h, h / (a->in.heads / a->in.kv_heads)}, .p = p, .first = first, .n = attn_min(ATTN_BLOCK, p->qlen - first)};
    int64_t end = attn_visible(p, first + r.n - 1);
    gather_rows(&r);
    for (int64_t key = 0; key < end; key += ATTN_BLOCK)
        back_block(&r, key, attn_min(ATTN_BLOCK, end - key));
}

void attention_bwd_cpu(const struct attention_bwd_args *a)
{
    for (int64_t i = 0; i < a->in.npieces; i++)
        for (int64_t h = 0; h < a->in.heads; h++)
            for (int64_t first = 0; first < a->in.pieces[i].qlen; first += ATTN_BLOCK)
                back_rows(a, &a->in.pieces[i], h, first);
}

struct cost attention_bwd_cost(const struct attention_bwd_args *a)
{
    const struct attn_inputs *in = &a->in;
    double pairs = (double)in->pairs * in->heads, dims = 3.0 * in->d + 2.0 * in->e;
    return (struct cost){2 * pairs * dims, 4 * pairs * dims / ATTN_BLOCK * 2};
}

OP_DEFINE(attention_bwd);
