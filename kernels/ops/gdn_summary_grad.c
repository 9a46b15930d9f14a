/* gdn_summary_grad.c - backward of the scan of [S | M]: gdn_bwd.c without outputs, over dv + dk columns.
 *
 *   forward   Vn = T B,  B = diag(beta) ([V | 0] - diag(exp gam) K X),  X <- exp(gam_n) X + Kt^T Vn
 *   backward  dVn = Kt D,  dB = T^T dVn,  dA = -strictly_lower(dB Vn^T),  Z = dB X^T
 *             dV += diag(beta) dB,  dK += diag(exp(gam_n - gam)) Vn D^T - diag(beta exp gam) Z + (N + N^T) K
 *             D <- exp(gam_n) D - (diag(beta exp gam) K)^T dB
 */
#include "kernels/ops/gdn_chunk.h"
#include "kernels/ops/gdn_state.h"
#include "kernels/ops/hot.h"

struct grad {
    struct gdn_chunk *list;
    struct gdn_decay decay;
    struct gdn_step step;
    float *kk, *r, *da, *n;   /* [C][C] */
    float *dvn, *db;          /* [C][E] */
    float *z, *dkt;           /* [C][dk] */
    float *f;                 /* [C] */
    double *dgam, *dbeta;     /* [C] */
    float *states, *last, *d; /* [chunks][dk][E]; [dk][E] twice */
};

static size_t grad_take(struct grad *b, const struct gdn_summary_grad_args *a, void *base)
{
    const struct gdn_inputs *in = &a->in;
    struct gdn_work w = {.base = base};
    int64_t C = in->C, E = in->dv + in->dk, state = in->dk * E;
    float **square[] = {&b->kk, &b->r, &b->da, &b->n};
    b->list = gdn_take(&w, sizeof *b->list * (size_t)gdn_max_chunks(in));
    b->decay = gdn_decay_take(&w, in->C);
    b->step = gdn_step_take(&w, in, (int)E);
    for (size_t i = 0; i < sizeof square / sizeof *square; i++)
        *square[i] = gdn_floats(&w, C * C);
    b->dvn = gdn_floats(&w, C * E);
    b->db = gdn_floats(&w, C * E);
    b->z = gdn_floats(&w, C * in->dk);
    b->dkt = gdn_floats(&w, C * in->dk);
    b->f = gdn_floats(&w, C);
    b->dgam = gdn_take(&w, sizeof(double) * (size_t)C);
    b->dbeta = gdn_take(&w, sizeof(double) * (size_t)C);
    b->last = gdn_floats(&w, state);
    b->d = gdn_floats(&w, state);
    b->states = gdn_floats(&w, a->states ? 0 : gdn_max_chunks(in) * state);
    return w.used;
}

size_t gdn_summary_grad_work(const struct gdn_summary_grad_args *a)
{
    struct grad b;
    return grad_take(&b, a, NULL);
}

/* The forward scan of one head; gives the state before every chunk. */
static const float *rescan(const struct gdn_summary_grad_args *a, struct grad *b, int nchunks, int h)
{
    const struct gdn_inputs *in = &a->in;
    int E = in->dv + in->dk;
    size_t state = (size_t)in->dk * (size_t)E;
    if (a->states)
        return a->states + (size_t)h * (size_t)nchunks * state;
    memset(b->last, 0, sizeof(float) * state);
    for (int i = 0; i < in->dk && !a->reset; i++)
        b->last[(int64_t)i * E + in->dv + i] = 1;
    for (int n = 0; n < nchunks; n++) {
        memcpy(b->states + (size_t)n * state, b->last, sizeof(float) * state);
        if (n + 1 == nchunks)
            break;
        gdn_decay_fill(&b->decay, in, &b->list[n], h);
        gdn_step_values(&b->step, in, &b->list[n], &b->decay, h, b->last, E);
        gdn_step_state(&b->step, in, &b->list[n], &b->decay, h, b->last, E);
    }
    return b->states;
}

/* Adds to N and to what the exponents and beta get through A. */
HOT static void through_scores(const struct gdn_inputs *in, struct grad *b, const struct gdn_chunk *c, int h)
{
    const float *beta = in->beta + c->start * in->HV + h;
    float *e = b->f;
    for (int i = 0; i < c->n; i++) {
        int64_t row = (int64_t)i * in->C;
        float strength = beta[(int64_t)i * in->HV];
        for (int j = 0; j < i; j++) {
            float v = -b->da[row + j] * b->r[row + j];
            b->n[row + j] = strength * v;
            b->n[(int64_t)j * in->C + i] = strength * v;
            e[j] = v * b->kk[row + j];
            b->dgam[j] -= (double)(strength * e[j]);
        }
        double to_beta = sum_f(e, i);
        b->n[row + i] = 0;
        b->dbeta[i] += to_beta;
        b->dgam[i] += strength * to_beta;
    }
}

HOT static void through_rows(const struct gdn_summary_grad_args *a, struct grad *b, const struct gdn_chunk *c, int h)
{
    const struct gdn_inputs *in = &a->in;
    int n = c->n, dk = in->dk, dv = in->dv, E = dv + dk, hk = gdn_key_head(in, h);
    const float *k = gdn_k(in, c, hk), *v = gdn_v(in, c, h), *beta = in->beta + c->start * in->HV + h;
    float *to_k = a->dk + c->start * a->lddqk + (int64_t)hk * dk, *to_v = a->dv + c->start * a->lddv + (int64_t)h * dv;
    for (int i = 0; i < n; i++, k += in->ldqk, v += in->ldv, to_k += a->lddqk, to_v += a->lddv) {
        const float *dkt = b->dkt + (int64_t)i * dk, *z = b->z + (int64_t)i * dk, *db = b->db + (int64_t)i * E;
        float strength = beta[(int64_t)i * in->HV], begin = b->decay.begin[i], end = b->decay.end[i], fz = strength * begin;
        for (int j = 0; j < dk; j++)
            to_k[j] += end * dkt[j] - fz * z[j];
        for (int j = 0; j < dv; j++)
            to_v[j] += strength * db[j];
        double kz = dot_f(k, z, dk), kd = end * dot_f(k, dkt, dk);
        b->dbeta[i] += dot_f(v, db, dv) - begin * kz;
        b->dgam[i] -= kd + fz * kz;
        b->dgam[n - 1] += kd;
    }
}

/* D of the state before the chunk; what the gates get. */
static void through_state(const struct gdn_summary_grad_args *a, struct grad *b, const struct gdn_chunk *c, int h, const float *x)
{
    const struct gdn_inputs *in = &a->in;
    int n = c->n, dk = in->dk, E = in->dv + dk;
    int64_t at = c->start * in->HV + h;
    double sum = 0;
    b->dgam[n - 1] += b->decay.whole * dot_f(x, b->d, (int64_t)dk * E);
    for (int i = 0; i < n; i++)
        b->f[i] = -in->beta[at + (int64_t)i * in->HV] * b->decay.begin[i];
    gdn_scale_rows(b->step.kt, dk, gdn_k(in, c, gdn_key_head(in, h)), in->ldqk, b->f, 1, n, dk);
    MM_TN(b->d, E, b->decay.whole, b->step.kt, dk, b->db, E, dk, E, n);
    for (int i = n - 1; i >= 0; i--) {
        sum += b->dgam[i];
        a->dg[at + (int64_t)i * in->HV] += (float)sum;
        a->dbeta[at + (int64_t)i * in->HV] += (float)b->dbeta[i];
    }
}

static void grad_chunk(const struct gdn_summary_grad_args *a, struct grad *b, const struct gdn_chunk *c, int h, const float *x)
{
    const struct gdn_inputs *in = &a->in;
    int n = c->n, C = in->C, dk = in->dk, E = in->dv + dk, ldqk = (int)in->ldqk, hk = gdn_key_head(in, h);
    const float *k = gdn_k(in, c, hk);
    memset(b->dgam, 0, sizeof(double) * (size_t)n);
    memset(b->dbeta, 0, sizeof(double) * (size_t)n);
    gdn_decay_fill(&b->decay, in, c, h);
    gdn_decay_matrix(&b->decay, n, b->r, C);
    gdn_step_values(&b->step, in, c, &b->decay, h, x, E);
    gdn_scale_rows(b->step.kt, dk, k, ldqk, b->decay.end, 1, n, dk);
    MM_NN(b->dvn, E, 0, b->step.kt, dk, b->d, E, n, E, dk);
    MM_TN(b->db, E, 0, gdn_tm(in, c, h), C, b->dvn, E, n, E, n);
    MM_NT(b->da, C, 0, b->db, E, b->step.vn, E, n, n, E);
    MM_NT(b->kk, C, 0, k, ldqk, k, ldqk, n, n, dk);
    MM_NT(b->z, dk, 0, b->db, E, x, E, n, dk, E);
    MM_NT(b->dkt, dk, 0, b->step.vn, E, b->d, E, n, dk, E);
    through_scores(in, b, c, h);
    through_rows(a, b, c, h);
    MM_NN(a->dk + c->start * a->lddqk + (int64_t)hk * dk, (int)a->lddqk, 1, b->n, C, k, ldqk, n, dk, n);
    through_state(a, b, c, h, x);
}

void gdn_summary_grad_cpu(const struct gdn_summary_grad_args *a)
{
    const struct gdn_inputs *in = &a->in;
    struct grad b;
    grad_take(&b, a, a->work);
    int nchunks = gdn_chunks(in, GDN_LAST, b.list);
    size_t state = (size_t)in->dk * (size_t)(in->dv + in->dk);
    for (int h = 0; h < in->HV; h++) {
        const float *states = rescan(a, &b, nchunks, h);
        memcpy(b.d, a->dsm + (size_t)h * state, sizeof(float) * state);
        for (int n = nchunks - 1; n >= 0; n--)
            grad_chunk(a, &b, &b.list[n], h, states + (size_t)n * state);
    }
}

/* As a loop of small operators: two for each of the forward's, which run again where its states were not kept. */
struct cost gdn_summary_grad_cost(const struct gdn_summary_grad_args *a)
{
    const struct gdn_inputs *in = &a->in;
    double E = in->dv + in->dk;
    return (struct cost){gdn_flops(in, 3 * E + 2.0 * in->dk, (a->states ? 5 : 7) * E / in->dv), 2 * gdn_input_bytes(in) + 8.0 * in->HV * in->dk * E,
                         (a->states ? 2 : 3) * ((double)in->T + in->C - 1) / in->C};
}

GDN_OP(gdn_summary_grad, a);
