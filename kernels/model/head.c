/* head.c - both ends of a net: the embedding, and the head with its loss.
 *
 *   ids -> rows of the embedding                  x -> norm -> logits -> cross-entropy -> d of x, all in pieces of a few rows:
 *   gradient: added to the rows, in order         logits of a whole micro-batch would be most of the memory
 */
#include "kernels/model/model_impl.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/pack.h"
#include "kernels/ops/rmsnorm.h"
#include "kernels/ops/xent.h"
#include "schemas/marker.h"

enum { PIECE = 1024 }; /* rows of logits at once */

void head_embed(struct model *m, int64_t b, float *x)
{
    int64_t rows = shape_own_rows(m->shape);
    rows_gather(m->rank.stream, x, net_embedding(&m->net, m->params), m->ids + b * rows, rows, m->shape->hidden);
    op_round(m->rank.stream, m->shape->dtype, x, model_floats(m));
}

void head_embed_back(struct model *m, int64_t b, const float *d)
{
    int64_t rows = shape_own_rows(m->shape);
    rows_scatter_add(m->rank.stream, net_embedding(&m->net, m->grads), d, m->ids + b * rows, rows, m->shape->hidden);
}

struct piece {
    int64_t first, rows;
    float *logits;
    double *losses;
};

/* Logits, loss and gradients of some rows of the normed output; `d` gets the gradient of these rows. */
static void piece_loss(struct model *m, int64_t b, const struct piece *p, const float *normed, float *d)
{
    struct stream *s = m->rank.stream;
    int64_t width = m->shape->hidden, vocab = m->net.vocab, own = shape_own_rows(m->shape);
    const float *x = normed + p->first * width, *w = net_head(&m->net, m->params);
    op_gemm_nt(s,
               &(struct gemm_args){.a = x, .b = w, .c = p->logits, .m = p->rows, .n = vocab, .k = width, .lda = width, .ldb = width, .ldc = vocab});
    op_round(s, m->shape->dtype, p->logits, p->rows * vocab);
    op_xent(s, &(struct xent_args){p->logits, m->targets + b * own + p->first, p->losses + p->first, p->rows, vocab, (float)(1 / (double)m->tokens)});
    op_round(s, m->shape->dtype, p->logits, p->rows * vocab);
    op_gemm_nn(
        s, &(struct gemm_args){
               .a = p->logits, .b = w, .c = d + p->first * width, .m = p->rows, .n = width, .k = vocab, .lda = vocab, .ldb = width, .ldc = width});
    op_gemm_tn(s, &(struct gemm_args){.a = p->logits,
                                      .b = x,
                                      .c = net_head(&m->net, m->grads),
                                      .m = vocab,
                                      .n = width,
                                      .k = p->rows,
                                      .lda = vocab,
                                      .ldb = width,
                                      .ldc = width,
                                      .beta = 1});
}

void head_loss(struct model *m, int64_t b, const float *x, float *d)
{
    struct devpool pool;
    int64_t rows = shape_own_rows(m->shape), width = m->shape->hidden, most = rows < PIECE ? rows : PIECE;
    DEV_RANGE(m->rank.device, RANGE_HEAD, -1);
    devpool_init(&pool, m->rank.device);
    float *normed = devpool_floats(&pool, rows * width), *rs = devpool_floats(&pool, rows), *w = net_last_norm(&m->net, m->params);
    struct piece p = {.logits = devpool_floats(&pool, most * m->net.vocab), .losses = devpool_bytes(&pool, (size_t)rows * sizeof(double))};
    op_rmsnorm_fwd(m->rank.stream, &(struct rmsnorm_fwd_args){x, w, normed, rs, rows, width, NET_EPS});
    op_round(m->rank.stream, m->shape->dtype, normed, rows * width);
    for (; p.first < rows; p.first += p.rows) {
        p.rows = rows - p.first < most ? rows - p.first : most;
        piece_loss(m, b, &p, normed, d);
    }
    op_xent_total(m->rank.stream, &(struct xent_total_args){p.losses, m->sums + SUM_LOSS, rows, 1 / (double)m->tokens});
    op_rmsnorm_dw(m->rank.stream, &(struct rmsnorm_dw_args){d, x, rs, net_last_norm(&m->net, m->grads), rows, width});
    op_rmsnorm_bwd(m->rank.stream, &(struct rmsnorm_bwd_args){d, x, w, rs, d, rows, width});
    op_round(m->rank.stream, m->shape->dtype, d, rows * width);
    devpool_free(&pool);
}
