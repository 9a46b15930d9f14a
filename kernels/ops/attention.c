/* attention.c - forward with a running maximum and sum per query row (Milakov and Gimelshein 2018), and the merge of
 * partial results. The accumulator is the output itself: rescaled when the maximum rises, divided by the sum at the end. */
#include "kernels/ops/attention_block.h"
#include "kernels/ops/attention_body.h"
#include "kernels/ops/mm.h"

int64_t attn_piece_pairs(const struct attn_piece *p)
{
    if (!p->causal)
        return p->qlen * p->klen;
    /* rows see first, first + 1, ... klen keys; those below 1 none */
    int64_t rows = attn_min(p->qlen, p->klen);
    return rows * p->klen - rows * (rows - 1) / 2;
}

struct rows { /* a block of queries of one head */
    const struct attn_head *head;
    const struct attn_piece *p;
    int64_t first, n; /* queries of the piece */
    float *o;
    int64_t ldo;
    float max[ATTN_BLOCK], sum[ATTN_BLOCK];
};

/* x[j] = exp(x[j] - top); returns their sum, in sixteen interleaved parts. */
HOT_INLINE float soften_row(float *x, int64_t n, float top)
{
    float part[16] = {0}, total = 0;
    int64_t j = 0;
    for (; j + 16 <= n; j += 16)
        for (int l = 0; l < 16; l++)
            part[l] += x[j + l] = exp_f(x[j + l] - top);
    for (int l = 0; j < n; j++, l++)
        part[l] += x[j] = exp_f(x[j] - top);
    for (int l = 0; l < 16; l++)
        total += part[l];
    return total;
}

/* Scores of a block -> weights relative to the new maximum; brings the accumulator and the sum to it. */
HOT static void soften(struct rows *r, float *s, int64_t key, int64_t keys)
{
    for (int64_t i = 0; i < r->n; i++) {
        int64_t seen = attn_visible(r->p, r->first + i) - key, n = seen < 0 ? 0 : attn_min(seen, keys);
        float *row = s + i * ATTN_BLOCK, *o = r->o + i * r->ldo, top = r->max[i];
        for (int64_t j = 0; j < n; j++)
            top = row[j] > top ? row[j] : top;
        float shrink = n > 0 ? exp_f(r->max[i] - top) : 1;
        if (n > 0)
            r->sum[i] = r->sum[i] * shrink + soften_row(row, n, top);
        r->max[i] = top;
        if (shrink != 1)
            for (int32_t k = 0; k < r->head->in->e; k++)
                o[k] *= shrink;
        for (int64_t j = n; j < keys; j++)
            row[j] = 0;
    }
}

/* The sums become the log-sum-exp. */
HOT static void finish(struct rows *r, float *lse, int64_t ld)
{
    for (int64_t i = 0; i < r->n; i++) {
        float scale = r->sum[i] > 0 ? 1 / r->sum[i] : 0;
        for (int32_t k = 0; k < r->head->in->e; k++)
            r->o[i * r->ldo + k] *= scale;
        lse[i * ld] = r->sum[i] > 0 ? r->max[i] + logf(r->sum[i]) : -INFINITY;
    }
}

static void attend(struct rows *r, float *lse)
{
    const struct attn_inputs *in = r->head->in;
    float s[ATTN_BLOCK * ATTN_BLOCK];
    int64_t end = attn_visible(r->p, r->first + r->n - 1);
    for (int64_t i = 0; i < r->n; i++) {
        r->max[i] = -INFINITY;
        r->sum[i] = 0;
        memset(r->o + i * r->ldo, 0, (size_t)in->e * sizeof(float));
    }
    for (int64_t key = 0; key < end; key += ATTN_BLOCK) {
        int64_t keys = attn_min(ATTN_BLOCK, end - key);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)r->n, (int)keys, in->d, in->scale, attn_q(r->head, r->p->q + r->first),
                    (int)in->ldq, attn_k(r->head, r->p->k + key), (int)in->ldk, 0, s, ATTN_BLOCK);
        soften(r, s, key, keys);
        MM_NN(r->o, (int)r->ldo, 1, s, ATTN_BLOCK, attn_v(r->head, r->p->k + key), (int)in->ldv, (int)r->n, in->e, (int)keys);
    }
    finish(r, lse, in->heads);
}

void attention_fwd_cpu(const struct attention_fwd_args *a)
{
    const struct attn_inputs *in = &a->in;
    for (int64_t i = 0; i < in->npieces; i++)
        for (int64_t h = 0; h < in->heads; h++) {
            struct attn_head head = {in, h, h / (in->heads / in->kv_heads)};
            const struct attn_piece *p = &in->pieces[i];
            for (int64_t first = 0; first < p->qlen; first += ATTN_BLOCK) {
                int64_t row = p->q + first;
                struct rows r = {.head = &head,
                                 .p = p,
                                 .first = first,
                                 .n = attn_min(ATTN_BLOCK, p->qlen - first),
                                 .o = a->o + row * a->ldo + h * in->e,
                                 .ldo = a->ldo};
                attend(&r, a->lse + row * in->heads + h);
            }
        }
}

/* Two products; the exponentials are not counted. Bytes: what must be read and written once were everything in reach. */
struct cost attention_fwd_cost(const struct attention_fwd_args *a)
{
    const struct attn_inputs *in = &a->in;
    double pairs = (double)in->pairs * in->heads, dims = in->d + in->e;
    return (struct cost){2 * pairs * dims, 4 * pairs * dims / ATTN_BLOCK * 2};
}

struct cost attention_merge_cost(const struct attention_merge_args *a)
{
    double n = (double)a->rows * a->heads;
    return (struct cost){3 * n * a->e, 4 * n * (3 * a->e + 3)};
}

OP_DEFINE(attention_fwd);
OP_DEFINE(attention_merge);
