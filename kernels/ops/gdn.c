/* gdn.c - what a chunk's tokens do to each other (prepare), and the forward scan. */
#include "kernels/ops/gdn.h"
#include "kernels/ops/gdn_chunk.h"
#include "kernels/ops/hot.h"

/* ---- prepare ---- */

struct prepare {
    struct gdn_chunk *list;
    struct gdn_decay decay;
    float *kk, *a; /* [C][C] */
};

static size_t prepare_take(struct prepare *p, const struct gdn_inputs *in, void *base)
{
    struct gdn_work w = {.base = base};
    p->list = gdn_take(&w, sizeof *p->list * (size_t)gdn_max_chunks(in));
    p->decay = gdn_decay_take(&w, in->C);
    p->kk = gdn_floats(&w, (int64_t)in->C * in->C);
    p->a = gdn_floats(&w, (int64_t)in->C * in->C);
    return w.used;
}

size_t gdn_scan_prepare_work(const struct gdn_inputs *in)
{
    struct prepare p;
    return prepare_take(&p, in, NULL);
}

/* a = -A: -beta_i kk_ij exp(gam_i - gam_j); on and above the diagonal it is not looked at. */
HOT static void couple(const struct gdn_inputs *in, const struct gdn_chunk *c, const struct prepare *p, int h)
{
    const float *beta = in->beta + c->start * in->HV + h;
    for (int i = 0; i < c->n; i++) {
        float *row = p->a + (int64_t)i * in->C, b = -beta[(int64_t)i * in->HV];
        const float *kk = p->kk + (int64_t)i * in->C;
        double gam = p->decay.gam[i];
        for (int j = 0; j < i; j++)
            row[j] = b * kk[j] * exp_f((float)(gam - p->decay.gam[j]));
    }
}

/* Forward substitution inside rows from .. to - 1 of T: row i = e_i + sum_{from <= l < i} a_il row l. */
HOT static void substitute(const float *a, float *tm, int C, int from, int to)
{
    for (int i = from; i < to; i++) {
        float *row = tm + (int64_t)i * C;
        for (int l = from; l < i; l++) {
            float f = a[(int64_t)i * C + l];
            const float *known = tm + (int64_t)l * C;
            for (int j = 0; j <= l; j++)
                row[j] += f * known[j];
        }
        row[i] = 1;
    }
}

/* T = (I + A)^-1, rows in blocks: what the blocks above give to one is a product. */
static void invert(const struct gdn_inputs *in, const struct gdn_chunk *c, const struct prepare *p, int h)
{
    enum { BLOCK = 16 };
    float *tm = gdn_tm(in, c, h);
    int C = in->C;
    memset(tm, 0, sizeof(float) * (size_t)c->n * (size_t)C);
    for (int from = 0; from < c->n; from += BLOCK) {
        int to = from + BLOCK < c->n ? from + BLOCK : c->n;
        if (from > 0)
            MM_NN(tm + (int64_t)from * C, C, 0, p->a + (int64_t)from * C, C, tm, C, to - from, from, from);
        substitute(p->a, tm, C, from, to);
    }
}

void gdn_scan_prepare_cpu(const struct gdn_scan_prepare_args *args)
{
    const struct gdn_inputs *in = &args->in;
    struct prepare p;
    prepare_take(&p, in, args->work);
    int rep = in->HV / in->HK, n = gdn_chunks(in, GDN_ALL, p.list);
    for (int hk = 0; hk < in->HK; hk++)
        for (const struct gdn_chunk *c = p.list; c < p.list + n; c++) {
            const float *k = gdn_k(in, c, hk);
            MM_NT(p.kk, in->C, 0, k, (int)in->ldqk, k, (int)in->ldqk, c->n, c->n, in->dk);
            for (int h = hk * rep; h < (hk + 1) * rep; h++) {
                gdn_decay_fill(&p.decay, in, c, h);
                couple(in, c, &p, h);
                invert(in, c, &p, h);
            }
        }
}

struct cost gdn_scan_prepare_cost(const struct gdn_scan_prepare_args *a)
{
    const struct gdn_inputs *in = &a->in;
    return (struct cost){gdn_flops(in, (double)in->dk * in->HK / in->HV + in->C / 6.0, 0), gdn_input_bytes(in), ((double)in->T + in->C - 1) / in->C};
}

/* ---- forward ---- */

struct forward {
    struct gdn_chunk *list;
    struct gdn_decay decay;
    struct gdn_step step;
    float *qk, *p; /* [C][C] */
    float *qs;     /* [C][dk] */
    float *states; /* [rep][dk][dv] */
};

static size_t forward_take(struct forward *f, const struct gdn_inputs *in, void *base)
{
    struct gdn_work w = {.base = base};
    f->list = gdn_take(&w, sizeof *f->list * (size_t)gdn_max_chunks(in));
    f->decay = gdn_decay_take(&w, in->C);
    f->step = gdn_step_take(&w, in, in->dv);
    f->qk = gdn_floats(&w, (int64_t)in->C * in->C);
    f->p = gdn_floats(&w, (int64_t)in->C * in->C);
    f->qs = gdn_floats(&w, (int64_t)in->C * in->dk);
    f->states = gdn_floats(&w, (int64_t)in->HV / in->HK * in->dk * in->dv);
    return w.used;
}

size_t gdn_scan_fwd_work(const struct gdn_inputs *in)
{
    struct forward f;
    return forward_take(&f, in, NULL);
}

/* O = scale (diag(exp gam) Q S0 + lower(QK^T o R) Vn); then S0 becomes the state after the chunk. */
static void forward_head(const struct gdn_scan_fwd_args *a, struct forward *f, const struct gdn_chunk *c, int h, float *x)
{
    const struct gdn_inputs *in = &a->in;
    float *o = a->o + c->start * a->ldo + (int64_t)h * in->dv;
    size_t bytes = sizeof(float) * (size_t)in->dk * (size_t)in->dv;
    const float *h_in = c->first && a->h_in ? a->h_in + (int64_t)h * in->dk * in->dv : NULL;
    if (c->opens && h_in)
        memcpy(x, h_in, bytes);
    else if (c->opens)
        memset(x, 0, bytes);
    gdn_decay_fill(&f->decay, in, c, h);
    gdn_step_values(&f->step, in, c, &f->decay, h, x, in->dv);
    gdn_scale_rows(f->qs, in->dk, gdn_q(in, c, gdn_key_head(in, h)), in->ldqk, f->decay.begin, in->scale, c->n, in->dk);
    MM_NN(o, (int)a->ldo, 0, f->qs, in->dk, x, in->dv, c->n, in->dv, in->dk);
    memcpy(f->p, f->qk, sizeof(float) * (size_t)c->n * (size_t)in->C);
    gdn_decay_apply(&f->decay, c->n, in->scale, f->p, in->C);
    MM_NN(o, (int)a->ldo, 1, f->p, in->C, f->step.vn, in->dv, c->n, in->dv, c->n);
    gdn_step_state(&f->step, in, c, &f->decay, h, x, in->dv);
    if (a->h_out && c->last && c->closes)
        memcpy(a->h_out + (int64_t)h * in->dk * in->dv, x, bytes);
}

void gdn_scan_fwd_cpu(const struct gdn_scan_fwd_args *a)
{
    const struct gdn_inputs *in = &a->in;
    struct forward f;
    forward_take(&f, in, a->work);
    int rep = in->HV / in->HK, n = gdn_chunks(in, GDN_ALL, f.list);
    for (int hk = 0; hk < in->HK; hk++)
        for (const struct gdn_chunk *c = f.list; c < f.list + n; c++) {
            MM_NT(f.qk, in->C, 0, gdn_q(in, c, hk), (int)in->ldqk, gdn_k(in, c, hk), (int)in->ldqk, c->n, c->n, in->dk);
            for (int i = 0; i < rep; i++)
                forward_head(a, &f, c, hk * rep + i, f.states + (int64_t)i * in->dk * in->dv);
        }
}

struct cost gdn_scan_fwd_cost(const struct gdn_scan_fwd_args *a)
{
    const struct gdn_inputs *in = &a->in;
    return (struct cost){gdn_flops(in, (double)in->dk * in->HK / in->HV + 2.0 * in->dv, 3), gdn_input_bytes(in) + 4.0 * in->T * in->HV * in->dv,
                         ((double)in->T + in->C - 1) / in->C};
}

GDN_OP(gdn_scan_prepare, &a->in);
GDN_OP(gdn_scan_fwd, &a->in);
