/* gdn_summary.c - a shard as an affine map of the state that enters it, and the fold over ranks. */
#include "kernels/ops/gdn.h"
#include "kernels/ops/gdn_chunk.h"
#include "kernels/ops/hot.h"

/* ---- [S | M] of the last segment: the scan of [0 | I] with values [V | 0] ---- */

struct summary {
    struct gdn_chunk *list;
    struct gdn_decay decay;
    struct gdn_step step;
};

static size_t summary_take(struct summary *s, const struct gdn_inputs *in, void *base)
{
    struct gdn_work w = {.base = base};
    s->list = gdn_take(&w, sizeof *s->list * (size_t)gdn_max_chunks(in));
    s->decay = gdn_decay_take(&w, in->C);
    s->step = gdn_step_take(&w, in, in->dv + in->dk);
    return w.used;
}

size_t gdn_summary_fwd_work(const struct gdn_inputs *in)
{
    struct summary s;
    return summary_take(&s, in, NULL);
}

void gdn_summary_fwd_cpu(const struct gdn_summary_fwd_args *a)
{
    const struct gdn_inputs *in = &a->in;
    struct summary s;
    summary_take(&s, in, a->work);
    int E = in->dv + in->dk, n = gdn_chunks(in, GDN_LAST, s.list);
    for (int h = 0; h < in->HV; h++) {
        float *x = a->sm + (int64_t)h * in->dk * E;
        memset(x, 0, sizeof(float) * (size_t)in->dk * (size_t)E);
        for (int i = 0; i < in->dk && !a->reset; i++)
            x[(int64_t)i * E + in->dv + i] = 1;
        for (const struct gdn_chunk *c = s.list; c < s.list + n; c++) {
            if (a->states)
                memcpy(a->states + ((int64_t)h * n + (c - s.list)) * in->dk * E, x, sizeof(float) * (size_t)in->dk * (size_t)E);
            gdn_decay_fill(&s.decay, in, c, h);
            gdn_step_values(&s.step, in, c, &s.decay, h, x, E);
            gdn_step_state(&s.step, in, c, &s.decay, h, x, E);
        }
    }
}

/* What a summary goes over. */
static struct gdn_inputs segment_of(const struct gdn_inputs *in, int64_t tokens)
{
    struct gdn_inputs part = *in;
    if (tokens)
        part.T = tokens;
    return part;
}

struct cost gdn_summary_fwd_cost(const struct gdn_summary_fwd_args *a)
{
    struct gdn_inputs in = segment_of(&a->in, a->tokens);
    double E = in.dv + in.dk;
    return (struct cost){gdn_flops(&in, E, 2 * E / in.dv), gdn_input_bytes(&in) + 4.0 * in.HV * in.dk * E, ((double)in.T + in.C - 1) / in.C};
}

/* ---- [dSx | M^T] of the first segment: the sweep of D alone, from zero ---- */

struct back {
    struct gdn_chunk *list;
    struct gdn_decay decay;
    float *p, *f;        /* [C][C], [C] */
    float *qs, *kt;      /* [C][dk] */
    float *dvn, *db, *d; /* [C][dv] twice, [dk][dv] */
};

static size_t back_take(struct back *b, const struct gdn_inputs *in, void *base)
{
    struct gdn_work w = {.base = base};
    b->list = gdn_take(&w, sizeof *b->list * (size_t)gdn_max_chunks(in));
    b->decay = gdn_decay_take(&w, in->C);
    b->p = gdn_floats(&w, (int64_t)in->C * in->C);
    b->f = gdn_floats(&w, in->C);
    b->qs = gdn_floats(&w, (int64_t)in->C * in->dk);
    b->kt = gdn_floats(&w, (int64_t)in->C * in->dk);
    b->dvn = gdn_floats(&w, (int64_t)in->C * in->dv);
    b->db = gdn_floats(&w, (int64_t)in->C * in->dv);
    b->d = gdn_floats(&w, (int64_t)in->dk * in->dv);
    return w.used;
}

size_t gdn_summary_bwd_work(const struct gdn_inputs *in)
{
    struct back b;
    return back_take(&b, in, NULL);
}

/* D before the chunk, as in gdn_bwd.c:
 * D <- exp(gam_n) D + scale (diag(exp gam) Q)^T dO - (diag(beta exp gam) K)^T T^T (P^T dO + Kt D) */
static void back_step(const struct gdn_summary_bwd_args *a, struct back *b, const struct gdn_chunk *c, int h)
{
    const struct gdn_inputs *in = &a->in;
    int n = c->n, C = in->C, dk = in->dk, dv = in->dv, lddo = (int)a->lddo, ldqk = (int)in->ldqk, hk = gdn_key_head(in, h);
    const float *q = gdn_q(in, c, hk), *k = gdn_k(in, c, hk), *d_o = a->d_o + c->start * a->lddo + (int64_t)h * dv;
    gdn_decay_fill(&b->decay, in, c, h);
    MM_NT(b->p, C, 0, q, ldqk, k, ldqk, n, n, dk);
    gdn_decay_apply(&b->decay, n, in->scale, b->p, C);
    gdn_scale_rows(b->kt, dk, k, ldqk, b->decay.end, 1, n, dk);
    MM_TN(b->dvn, dv, 0, b->p, C, d_o, lddo, n, dv, n);
    MM_NN(b->dvn, dv, 1, b->kt, dk, b->d, dv, n, dv, dk);
    MM_TN(b->db, dv, 0, gdn_tm(in, c, h), C, b->dvn, dv, n, dv, n);
    for (int i = 0; i < n; i++)
        b->f[i] = -in->beta[(c->start + i) * in->HV + h] * b->decay.begin[i];
    gdn_scale_rows(b->qs, dk, q, ldqk, b->decay.begin, in->scale, n, dk);
    gdn_scale_rows(b->kt, dk, k, ldqk, b->f, 1, n, dk);
    MM_TN(b->d, dv, b->decay.whole, b->qs, dk, d_o, lddo, dk, dv, n);
    MM_TN(b->d, dv, 1, b->kt, dk, b->db, dv, dk, dv, n);
}

/* [D | M^T] of one head. */
static void pack_back(const struct gdn_summary_bwd_args *a, const float *d, int h)
{
    int dk = a->in.dk, dv = a->in.dv, E = dv + dk;
    const float *m = a->sm ? a->sm + (int64_t)h * dk * E + dv : NULL;
    float *out = a->dsm + (int64_t)h * dk * E;
    for (int i = 0; i < dk; i++, out += E) {
        memcpy(out, d + (int64_t)i * dv, sizeof(float) * (size_t)dv);
        for (int j = 0; j < dk; j++)
            out[dv + j] = m ? m[(int64_t)j * E + i] : 0;
    }
}

void gdn_summary_bwd_cpu(const struct gdn_summary_bwd_args *a)
{
    const struct gdn_inputs *in = &a->in;
    struct back b;
    back_take(&b, in, a->work);
    int n = gdn_chunks(in, GDN_FIRST, b.list);
    for (int h = 0; h < in->HV; h++) {
        memset(b.d, 0, sizeof(float) * (size_t)in->dk * (size_t)in->dv);
        for (int i = n - 1; i >= 0; i--)
            back_step(a, &b, &b.list[i], h);
        pack_back(a, b.d, h);
    }
}

struct cost gdn_summary_bwd_cost(const struct gdn_summary_bwd_args *a)
{
    struct gdn_inputs in = segment_of(&a->in, a->tokens);
    double E = in.dv + in.dk;
    return (struct cost){gdn_flops(&in, in.dk + 2.0 * in.dv, 3), gdn_input_bytes(&in) + 4.0 * in.HV * ((double)in.T * in.dv + 2 * in.dk * E),
                         ((double)in.T + in.C - 1) / in.C};
}

/* ---- the fold ---- */

size_t gdn_summary_merge_work(const struct gdn_summary_merge_args *a)
{
    return sizeof(float) * (size_t)a->dk * (size_t)a->dv;
}

void gdn_summary_merge_cpu(const struct gdn_summary_merge_args *a)
{
    int dk = a->dk, dv = a->dv, E = dv + dk;
    size_t row = sizeof(float) * (size_t)dv;
    float *old = a->work;
    if (!a->x0)
        memset(a->x, 0, row * (size_t)dk * (size_t)a->HV);
    else if (a->x0 != a->x)
        memcpy(a->x, a->x0, row * (size_t)dk * (size_t)a->HV);
    for (int h = 0; h < a->HV; h++) {
        float *x = a->x + (int64_t)h * dk * dv;
        for (int i = 0, j = a->first; i < a->count; i++, j += a->step) {
            const float *sm = a->all + ((int64_t)j * a->HV + h) * dk * E;
            memcpy(old, x, row * (size_t)dk);
            for (int r = 0; r < dk; r++)
                memcpy(x + (int64_t)r * dv, sm + (int64_t)r * E, row);
            if (i > 0 || a->x0) /* else X is zero before the first */
                MM_NN(x, dv, 1, sm + dv, E, old, dv, dk, dv, dk);
        }
    }
}

struct cost gdn_summary_merge_cost(const struct gdn_summary_merge_args *a)
{
    double state = (double)a->HV * a->dk * a->dv;
    return (struct cost){2.0 * state * a->dk * (a->count > 1 ? a->count - 1 : 0), 4.0 * a->HV * a->dk * (a->dv + a->dk) * a->count + 4 * state};
}

GDN_OP(gdn_summary_fwd, &a->in);
GDN_OP(gdn_summary_bwd, &a->in);
GDN_OP(gdn_summary_merge, a);
