/* gdn_bwd.c - backward of the scan: the states are scanned again and kept, then the chunks are swept in reverse.
 *
 * With B = diag(beta) (V - diag(exp gam) K S0) and (I + A) Vn = B the gradients never need W or U of the WY form:
 *
 *   dVn = P^T dO + Kt D          D: gradient of the state after the chunk; P = scale lower(QK^T o R); Kt = diag(exp(gam_n - gam)) K
 *   dB  = T^T dVn                dA = -strictly_lower(dB Vn^T)
 *   dP  = lower(dO Vn^T)         G = scale dP o R        Z = dB S0^T
 *   dV  = diag(beta) dB
 *   dQ  = scale diag(exp gam) dO S0^T + G K
 *   dK  = diag(exp(gam_n - gam)) Vn D^T - diag(beta exp gam) Z + G^T Q + (N + N^T) K,   N = diag(beta) (dA o R)
 *   D  <- exp(gam_n) D + scale (diag(exp gam) Q)^T dO - (diag(beta exp gam) K)^T dB
 *
 * q and k are shared by the value heads of a key head, so G and N are added up over them and multiplied once.
 * dgam collects, per token, what the exponents get; dg is its running sum from the chunk's end.
 */
#include "kernels/ops/gdn.h"
#include "kernels/ops/gdn_chunk.h"
#include "kernels/ops/hot.h"

struct backward {
    struct gdn_chunk *list;
    struct gdn_decay decay;
    struct gdn_step step;
    float *qk, *kk;            /* [C][C], of a key head */
    float *g, *n;              /* [C][C], sums of G and N over its value heads */
    float *p, *r, *da, *dp;    /* [C][C] */
    float *dvn, *db;           /* [C][dv] */
    float *dqi, *dkt, *z, *qs; /* [C][dk] */
    double *dgam, *dbeta;      /* [C] */
    float *states;             /* [chunks][rep][dk][dv]: before each chunk */
    float *values;             /* [rep][T][dv]: Vn */
    float *d;                  /* [rep][dk][dv] */
    float *x;                  /* [rep][dk][dv]: the running state of the scan */
};

static size_t backward_take(struct backward *b, const struct gdn_inputs *in, void *base)
{
    struct gdn_work w = {.base = base};
    int64_t C = in->C, rep = in->HV / in->HK, state = rep * in->dk * in->dv, chunks = gdn_max_chunks(in);
    float **square[] = {&b->qk, &b->kk, &b->g, &b->n, &b->p, &b->r, &b->da, &b->dp};
    float **by_dk[] = {&b->dqi, &b->dkt, &b->z, &b->qs};
    b->list = gdn_take(&w, sizeof *b->list * (size_t)chunks);
    b->decay = gdn_decay_take(&w, in->C);
    b->step = gdn_step_take(&w, in, in->dv);
    for (size_t i = 0; i < sizeof square / sizeof *square; i++)
        *square[i] = gdn_floats(&w, C * C);
    for (size_t i = 0; i < sizeof by_dk / sizeof *by_dk; i++)
        *by_dk[i] = gdn_floats(&w, C * in->dk);
    b->dvn = gdn_floats(&w, C * in->dv);
    b->db = gdn_floats(&w, C * in->dv);
    b->dgam = gdn_take(&w, sizeof(double) * (size_t)C);
    b->dbeta = gdn_take(&w, sizeof(double) * (size_t)C);
    b->states = gdn_floats(&w, chunks * state);
    b->values = gdn_floats(&w, rep * in->T * in->dv);
    b->d = gdn_floats(&w, state);
    b->x = gdn_floats(&w, state);
    return w.used;
}

size_t gdn_scan_bwd_work(const struct gdn_inputs *in)
{
    struct backward b;
    return backward_take(&b, in, NULL);
}

/* The forward scan of value head hk rep + i without its outputs; keeps every S0 and Vn. */
static void rescan(const struct gdn_scan_bwd_args *a, struct backward *b, int nchunks, int hk, int i)
{
    const struct gdn_inputs *in = &a->in;
    int rep = in->HV / in->HK, h = hk * rep + i;
    size_t state = (size_t)in->dk * (size_t)in->dv, bytes = sizeof(float) * state;
    float *x = b->x + (size_t)i * state, *values = b->values + (int64_t)i * in->T * in->dv;
    for (int n = 0; n < nchunks; n++) {
        const struct gdn_chunk *c = &b->list[n];
        if (c->opens && c->first && a->h_in)
            memcpy(x, a->h_in + (size_t)h * state, bytes);
        else if (c->opens)
            memset(x, 0, bytes);
        memcpy(b->states + ((size_t)n * (size_t)rep + (size_t)i) * state, x, bytes);
        gdn_decay_fill(&b->decay, in, c, h);
        b->step.vn = values + c->start * in->dv;
        gdn_step_values(&b->step, in, c, &b->decay, h, x, in->dv);
        if (!c->closes)
            gdn_step_state(&b->step, in, c, &b->decay, h, x, in->dv);
    }
}

/* One value head over one chunk. */
struct head {
    const struct gdn_scan_bwd_args *a;
    struct backward *b;
    const struct gdn_chunk *c;
    int h, hk;
    const float *s0, *vn, *d_o; /* [dk][dv]; [n][dv]; [n][dv] with rows lddo apart */
    float *d;                   /* [dk][dv] */
    float *dq, *dk;             /* [n][dk], rows lddqk apart */
};

/* P = scale lower(QK^T o R); r is zero above the diagonal. */
HOT static void weigh_scores(const struct gdn_inputs *in, struct backward *b, int n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            b->p[i * in->C + j] = in->scale * b->qk[i * in->C + j] * b->r[i * in->C + j];
}

static void products(const struct head *x)
{
    const struct gdn_inputs *in = &x->a->in;
    struct backward *b = x->b;
    int n = x->c->n, C = in->C, dk = in->dk, dv = in->dv, lddo = (int)x->a->lddo;
    gdn_scale_rows(b->step.kt, dk, gdn_k(in, x->c, x->hk), in->ldqk, b->decay.end, 1, n, dk);
    MM_TN(b->dvn, dv, 0, b->p, C, x->d_o, lddo, n, dv, n);
    MM_NN(b->dvn, dv, 1, b->step.kt, dk, x->d, dv, n, dv, dk);
    MM_TN(b->db, dv, 0, gdn_tm(in, x->c, x->h), C, b->dvn, dv, n, dv, n);
    MM_NT(b->da, C, 0, b->db, dv, x->vn, dv, n, n, dv); /* -dA on and below the diagonal */
    MM_NT(b->dp, C, 0, x->d_o, lddo, x->vn, dv, n, n, dv);
    MM_NT(b->z, dk, 0, b->db, dv, x->s0, dv, n, dk, dv);
    MM_NT(b->dqi, dk, 0, x->d_o, lddo, x->s0, dv, n, dk, dv);
    MM_NT(b->dkt, dk, 0, x->vn, dv, x->d, dv, n, dk, dv);
}

/* Through the two n x n matrices: adds to G and N, and what exponents and beta get from them. */
HOT static void through_scores(const struct head *x)
{
    const struct gdn_inputs *in = &x->a->in;
    const float *beta = in->beta + x->c->start * in->HV + x->h;
    struct backward *b = x->b;
    for (int i = 0; i < x->c->n; i++) {
        int64_t row = (int64_t)i * in->C;
        const float *r = b->r + row, *qk = b->qk + row, *kk = b->kk + row, *da = b->da + row, *dp = b->dp + row;
        float *g = b->g + row, *n = b->n + row, strength = beta[(int64_t)i * in->HV];
        float *e = b->step.kt; /* [C] scratch: at least one row of C or dk */
        for (int j = 0; j <= i; j++) {
            float v = in->scale * dp[j] * r[j];
            g[j] += v;
            e[j] = v * qk[j];
            b->dgam[j] -= e[j];
        }
        b->dgam[i] += sum_f(e, i + 1);
        for (int j = 0; j < i; j++) {
            float v = -da[j] * r[j];
            n[j] += strength * v;
            e[j] = v * kk[j];
            b->dgam[j] -= (double)(strength * e[j]);
        }
        double to_beta = sum_f(e, i);
        b->dbeta[i] += to_beta;
        b->dgam[i] += strength * to_beta;
    }
}

/* Through the products with S0 and D, row by row. */
HOT static void through_rows(const struct head *x)
{
    const struct gdn_inputs *in = &x->a->in;
    const struct gdn_scan_bwd_args *a = x->a;
    struct backward *b = x->b;
    int n = x->c->n, dk = in->dk, dv = in->dv;
    const float *q = gdn_q(in, x->c, x->hk), *k = gdn_k(in, x->c, x->hk), *v = gdn_v(in, x->c, x->h);
    const float *beta = in->beta + x->c->start * in->HV + x->h;
    float *to_v = a->dv + x->c->start * a->lddv + (int64_t)x->h * dv;
    for (int i = 0; i < n; i++, q += in->ldqk, k += in->ldqk, v += in->ldv, to_v += a->lddv) {
        const float *dqi = b->dqi + (int64_t)i * dk, *dkt = b->dkt + (int64_t)i * dk, *z = b->z + (int64_t)i * dk, *db = b->db + (int64_t)i * dv;
        float *dq = x->dq + i * a->lddqk, *to_k = x->dk + i * a->lddqk;
        float strength = beta[(int64_t)i * in->HV], begin = b->decay.begin[i], end = b->decay.end[i], fq = in->scale * begin, fz = strength * begin;
        for (int j = 0; j < dk; j++) {
            dq[j] += fq * dqi[j];
            to_k[j] += end * dkt[j] - fz * z[j];
        }
        for (int j = 0; j < dv; j++)
            to_v[j] = strength * db[j];
        double kz = dot_f(k, z, dk), kd = end * dot_f(k, dkt, dk);
        b->dbeta[i] += dot_f(v, db, dv) - begin * kz;
        b->dgam[i] += fq * dot_f(q, dqi, dk) - kd - fz * kz;
        b->dgam[n - 1] += kd;
    }
}

/* D of the state before the chunk out of D of the state after it. */
static void through_state(const struct head *x)
{
    const struct gdn_inputs *in = &x->a->in;
    struct backward *b = x->b;
    int n = x->c->n, dk = in->dk, dv = in->dv;
    const float *beta = in->beta + x->c->start * in->HV + x->h;
    float *f = b->r; /* no longer needed */
    b->dgam[n - 1] += b->decay.whole * dot_f(x->s0, x->d, (int64_t)dk * dv);
    gdn_scale_rows(b->qs, dk, gdn_q(in, x->c, x->hk), in->ldqk, b->decay.begin, in->scale, n, dk);
    for (int i = 0; i < n; i++)
        f[i] = -beta[(int64_t)i * in->HV] * b->decay.begin[i];
    gdn_scale_rows(b->step.kt, dk, gdn_k(in, x->c, x->hk), in->ldqk, f, 1, n, dk);
    MM_TN(x->d, dv, b->decay.whole, b->qs, dk, x->d_o, (int)x->a->lddo, dk, dv, n);
    MM_TN(x->d, dv, 1, b->step.kt, dk, b->db, dv, dk, dv, n);
}

static void head_gates(const struct head *x)
{
    const struct gdn_inputs *in = &x->a->in;
    int64_t at = x->c->start * in->HV + x->h;
    double sum = 0;
    for (int i = x->c->n - 1; i >= 0; i--) {
        sum += x->b->dgam[i];
        x->a->dg[at + (int64_t)i * in->HV] = (float)sum;
        x->a->dbeta[at + (int64_t)i * in->HV] = (float)x->b->dbeta[i];
    }
}

static void backward_head(struct head *x)
{
    const struct gdn_inputs *in = &x->a->in;
    struct backward *b = x->b;
    size_t state = (size_t)in->dk * (size_t)in->dv, bytes = sizeof(float) * state;
    if (x->c->closes && x->c->last && x->a->dh_out)
        memcpy(x->d, x->a->dh_out + (size_t)x->h * state, bytes);
    else if (x->c->closes)
        memset(x->d, 0, bytes);
    memset(b->dgam, 0, sizeof(double) * (size_t)x->c->n);
    memset(b->dbeta, 0, sizeof(double) * (size_t)x->c->n);
    gdn_decay_fill(&b->decay, in, x->c, x->h);
    gdn_decay_matrix(&b->decay, x->c->n, b->r, in->C);
    weigh_scores(in, b, x->c->n);
    products(x);
    through_scores(x);
    through_rows(x);
    through_state(x);
    head_gates(x);
    if (x->c->opens && x->c->first && x->a->dh_in)
        memcpy(x->a->dh_in + (size_t)x->h * state, x->d, bytes);
}

/* dq += G k, dk += G^T q + (N + N^T) k, with G and N of all value heads of the key head. */
static void shared_products(const struct gdn_inputs *in, struct backward *b, const struct gdn_chunk *c, int hk, float *dq, float *dk, int ld)
{
    const float *q = gdn_q(in, c, hk), *k = gdn_k(in, c, hk);
    int n = c->n, C = in->C, ldqk = (int)in->ldqk;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            b->n[j * C + i] = b->n[i * C + j];
    MM_NN(dq, ld, 1, b->g, C, k, ldqk, n, in->dk, n);
    MM_TN(dk, ld, 1, b->g, C, q, ldqk, n, in->dk, n);
    MM_NN(dk, ld, 1, b->n, C, k, ldqk, n, in->dk, n);
}

static void backward_chunk(const struct gdn_scan_bwd_args *a, struct backward *b, int index, int hk)
{
    const struct gdn_inputs *in = &a->in;
    const struct gdn_chunk *c = &b->list[index];
    const float *q = gdn_q(in, c, hk), *k = gdn_k(in, c, hk);
    int rep = in->HV / in->HK, C = in->C, ldqk = (int)in->ldqk;
    int64_t state = (int64_t)in->dk * in->dv, at = c->start * a->lddqk + (int64_t)hk * in->dk;
    MM_NT(b->qk, C, 0, q, ldqk, k, ldqk, c->n, c->n, in->dk);
    MM_NT(b->kk, C, 0, k, ldqk, k, ldqk, c->n, c->n, in->dk);
    memset(b->g, 0, sizeof(float) * (size_t)c->n * (size_t)C);
    memset(b->n, 0, sizeof(float) * (size_t)c->n * (size_t)C);
    for (int i = 0; i < c->n; i++) {
        memset(a->dq + at + i * a->lddqk, 0, sizeof(float) * (size_t)in->dk);
        memset(a->dk + at + i * a->lddqk, 0, sizeof(float) * (size_t)in->dk);
    }
    for (int i = 0; i < rep; i++) {
        int h = hk * rep + i;
        struct head x = {.a = a, .b = b, .c = c, .h = h, .hk = hk, .dq = a->dq + at, .dk = a->dk + at};
        x.s0 = b->states + ((int64_t)index * rep + i) * state;
        x.vn = b->values + ((int64_t)i * in->T + c->start) * in->dv;
        x.d_o = a->d_o + c->start * a->lddo + (int64_t)h * in->dv;
        x.d = b->d + i * state;
        backward_head(&x);
    }
    shared_products(in, b, c, hk, a->dq + at, a->dk + at, (int)a->lddqk);
}

void gdn_scan_bwd_cpu(const struct gdn_scan_bwd_args *a)
{
    const struct gdn_inputs *in = &a->in;
    struct backward b;
    backward_take(&b, in, a->work);
    int nchunks = gdn_chunks(in, GDN_ALL, b.list);
    for (int hk = 0; hk < in->HK; hk++) {
        for (int i = 0; i < in->HV / in->HK; i++)
            rescan(a, &b, nchunks, hk, i);
        for (int n = nchunks - 1; n >= 0; n--)
            backward_chunk(a, &b, n, hk);
    }
}

/* As a loop of small operators: two for each of those of both loops of the forward. */
struct cost gdn_scan_bwd_cost(const struct gdn_scan_bwd_args *a)
{
    const struct gdn_inputs *in = &a->in;
    double shared = 5.0 * in->dk * in->HK / in->HV;
    return (struct cost){gdn_flops(in, shared + 5.0 * in->dv, 8), 2 * gdn_input_bytes(in) + 8.0 * in->T * in->HV * in->dv,
                         4 * ((double)in->T + in->C - 1) / in->C};
}

GDN_OP(gdn_scan_bwd, &a->in);
