/* Every op against its formula in double; every backward against central differences of that formula. */
#include "kernels/ops/elementwise.h"
#include "kernels/ops/gates.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/hot.h"
#include "kernels/ops/l2norm.h"
#include "kernels/ops/norm.h"
#include "unit.h"

enum { MOST = 4096 };

/* Random numbers that a float holds exactly, as float and as double. */
static void draw(float *f, double *d, int n, double scale)
{
    for (int i = 0; i < n; i++)
        d[i] = f[i] = (float)(scale * rnd_real());
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static void within(const char *what, const float *got, const double *want, int n, double limit)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= limit)) /* a NaN is not */
            fail_msg("%s: element %d of %d is %.9g, not %.9g", what, i, n, got[i], want[i]);
}

static void near(const char *what, const float *got, const double *want, int n, double limit)
{
    within(what, got, want, n, limit * fmax(largest(want, n), 1e-3));
}

/* d loss / d x[i] for all i; loss(ctx) looks at x. */
static void differences(double (*loss)(void *ctx), void *ctx, double *x, int n, double *out)
{
    for (int i = 0; i < n; i++) {
        double old = x[i], h = 1e-5;
        x[i] = old + h;
        double up = loss(ctx);
        x[i] = old - h;
        out[i] = (up - loss(ctx)) / (2 * h);
        x[i] = old;
    }
}

/* ---- the functions of hot.h ---- */

TEST(exp_is_close)
{
    for (double x = -90; x < 88; x += 0.00173) {
        float f = (float)x;
        double want = exp((double)f), got = exp_f(f);
        if (f < -87 ? got != 0 : fabs(got - want) > 3e-7 * want)
            fail_msg("exp(%g) = %g, not %g", f, got, want);
    }
    assert_true(exp_f(0) == 1 && exp_f(-INFINITY) == 0 && isnan(exp_f(NAN)) && isfinite(exp_f(1000)));
    assert_true(sigmoid_f(-1000) >= 0 && sigmoid_f(-1000) < 1e-37f && sigmoid_f(1000) == 1 && sigmoid_f(0) == 0.5f);
}

/* ---- products ---- */

struct product {
    float a[MOST], b[MOST], c[MOST];
    double da[MOST], db[MOST], want[MOST];
    int m, n, k, lda, ldb, ldc;
    double beta;
};

/* ta: a is [k][m]; tb: b is [n][k]. Gaps between the rows of c must stay as they are. */
static void draw_product(struct product *p, bool ta, bool tb, int most)
{
    p->m = (int)rnd((uint64_t)most), p->n = (int)rnd((uint64_t)most), p->k = (int)rnd((uint64_t)most);
    p->lda = (ta ? p->m : p->k) + 1 + (int)rnd(3), p->ldb = (tb ? p->k : p->n) + 1 + (int)rnd(3), p->ldc = p->n + 1 + (int)rnd(3);
    p->beta = rnd(2) ? 0 : rnd(2) ? 1 : 0.75;
    draw(p->a, p->da, MOST, 1), draw(p->b, p->db, MOST, 1), draw(p->c, p->want, MOST, 1);
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            double s = p->beta * p->want[i * p->ldc + j];
            for (int l = 0; l < p->k; l++)
                s += p->da[ta ? l * p->lda + i : i * p->lda + l] * p->db[tb ? j * p->ldb + l : l * p->ldb + j];
            p->want[i * p->ldc + j] = s;
        }
    for (int i = 0; i < p->m && p->beta == 0; i++) /* overwritten, whatever it holds */
        for (int j = 0; j < p->n; j++)
            p->c[i * p->ldc + j] = NAN;
}

TEST(gemm_matches_its_formula)
{
    static void (*const op[])(const struct gemm_args *) = {gemm_nn_cpu, gemm_nt_cpu, gemm_tn_cpu};
    static struct product p;
    PROP(300)
    {
        int kind = (int)rnd(3);
        draw_product(&p, kind == 2, kind == 1, 40);
        op[kind](&(struct gemm_args){p.a, p.b, p.c, p.m, p.n, p.k, p.lda, p.ldb, p.ldc, (float)p.beta});
        near("gemm", p.c, p.want, MOST, 1e-6);
    }
}

/* ---- gates ---- */

struct gates {
    int T, HV;
    double b[256], a[256], A_log[8], dt_bias[8], dbeta[256], dg[256];
};

static double gates_loss(void *ctx)
{
    const struct gates *x = ctx;
    double loss = 0;
    for (int i = 0; i < x->T * x->HV; i++) {
        int h = i % x->HV;
        loss += x->dbeta[i] / (1 + exp(-x->b[i])) - x->dg[i] * exp(x->A_log[h]) * log(1 + exp(x->a[i] + x->dt_bias[h]));
    }
    return loss;
}

TEST(gates_match_their_formula)
{
    PROP(40)
    {
        struct gates x = {.T = 1 + (int)rnd(20), .HV = 1 + (int)rnd(8)};
        float b[256], a[256], A_log[8], dt_bias[8], dbeta[256], dg[256], beta[256], g[256], db[256], da[256], dA_log[8] = {0}, ddt[8] = {0};
        double want[256], wb[256], wg[256];
        int n = x.T * x.HV;
        draw(b, x.b, n, 4), draw(a, x.a, n, 4), draw(A_log, x.A_log, x.HV, 2), draw(dt_bias, x.dt_bias, x.HV, 1);
        draw(dbeta, x.dbeta, n, 1), draw(dg, x.dg, n, 1);
        for (int i = 0; i < n; i++) {
            wb[i] = 1 / (1 + exp(-x.b[i]));
            wg[i] = -exp(x.A_log[i % x.HV]) * log(1 + exp(x.a[i] + x.dt_bias[i % x.HV]));
        }
        gate_fwd_cpu(&(struct gate_fwd_args){b, a, A_log, dt_bias, beta, g, x.HV, x.HV, x.T, x.HV});
        near("beta", beta, wb, n, 1e-6), near("g", g, wg, n, 1e-6);
        gate_bwd_cpu(&(struct gate_bwd_args){beta, g, dbeta, dg, a, A_log, dt_bias, db, da, dA_log, ddt, x.HV, x.HV, x.HV, x.T, x.HV});
        differences(gates_loss, &x, x.b, n, want), near("db", db, want, n, 1e-5);
        differences(gates_loss, &x, x.a, n, want), near("da", da, want, n, 1e-5);
        differences(gates_loss, &x, x.A_log, x.HV, want), near("dA_log", dA_log, want, x.HV, 1e-5);
        differences(gates_loss, &x, x.dt_bias, x.HV, want), near("ddt_bias", ddt, want, x.HV, 1e-5);
    }
}

TEST(gates_far_out)
{
    float b[] = {100, -100}, a[] = {200, -200}, zero[] = {0}, beta[2], g[2];
    gate_fwd_cpu(&(struct gate_fwd_args){b, a, zero, zero, beta, g, 1, 1, 2, 1});
    assert_true(beta[0] == 1 && beta[1] >= 0 && beta[1] < 1e-40 && g[0] == -200 && g[1] <= 0 && g[1] > -1e-30);
}

/* ---- norms ---- */

struct norms {
    int T, H, d;
    double x[1024], z[1024], w[64], dy[1024];
};

static double l2_loss(void *ctx)
{
    const struct norms *s = ctx;
    double loss = 0;
    for (int r = 0; r < s->T * s->H; r++) {
        double sum = 1e-6;
        for (int i = 0; i < s->d; i++)
            sum += s->x[r * s->d + i] * s->x[r * s->d + i];
        for (int i = 0; i < s->d; i++)
            loss += s->dy[r * s->d + i] * s->x[r * s->d + i] / sqrt(sum);
    }
    return loss;
}

static double rms_loss(void *ctx)
{
    const struct norms *s = ctx;
    double loss = 0;
    for (int r = 0; r < s->T * s->H; r++) {
        double sum = 0;
        for (int i = 0; i < s->d; i++)
            sum += s->x[r * s->d + i] * s->x[r * s->d + i];
        for (int i = 0; i < s->d; i++) {
            double z = s->z[r * s->d + i];
            loss += s->dy[r * s->d + i] * s->x[r * s->d + i] / sqrt(sum / s->d + 1e-6) * s->w[i] * z / (1 + exp(-z));
        }
    }
    return loss;
}

/* Away from 0, where differences of the width used here would not see the slope. */
static void draw_away(float *f, double *d, int n)
{
    draw(f, d, n, 1);
    for (int i = 0; i < n; i++)
        d[i] = f[i] += f[i] < 0 ? -0.1f : 0.1f;
}

/* The largest 1 / sqrt(f sum x^2 + eps) of a head: terms of this size times dy cancel in the gradient of x. */
static double steepest(const struct norms *s, double f)
{
    double least = INFINITY;
    for (int r = 0; r < s->T * s->H; r++) {
        double sum = 0;
        for (int i = 0; i < s->d; i++)
            sum += s->x[r * s->d + i] * s->x[r * s->d + i];
        least = fmin(least, f * sum + 1e-6);
    }
    return 1 / sqrt(least);
}

/* Forward outputs by the loss: with dy a unit vector it is the output. */
static void outputs(double (*loss)(void *), struct norms *s, int n, double *out)
{
    struct norms one = *s;
    memset(one.dy, 0, sizeof one.dy);
    for (int i = 0; i < n; i++) {
        one.dy[i] = 1;
        out[i] = loss(&one);
        one.dy[i] = 0;
    }
}

TEST(l2norm_matches_its_formula)
{
    PROP(40)
    {
        static struct norms s;
        float x[1024], dy[1024], y[1024], inv[128], wide[2048];
        double want[1024];
        s.T = 1 + (int)rnd(5), s.H = 1 + (int)rnd(4), s.d = 1 + (int)rnd(20);
        int n = s.T * s.H * s.d, row = s.H * s.d, ld = row + (int)rnd(5);
        draw_away(x, s.x, n), draw(dy, s.dy, n, 1);
        for (int t = 0; t < s.T; t++)
            memcpy(wide + t * ld, x + t * row, sizeof(float) * (size_t)row);
        l2norm_fwd_cpu(&(struct l2norm_fwd_args){wide, y, inv, ld, row, s.T, s.H, s.d, 1e-6f});
        outputs(l2_loss, &s, n, want), near("y", y, want, n, 1e-6);
        l2norm_bwd_cpu(&(struct l2norm_bwd_args){y, inv, dy, dy, row, row, row, s.T, s.H, s.d}); /* in place */
        differences(l2_loss, &s, s.x, n, want), within("dx", dy, want, n, 1e-6 * steepest(&s, 1) * largest(s.dy, n) + 1e-7);
    }
}

TEST(norm_matches_its_formula)
{
    PROP(40)
    {
        static struct norms s;
        float o[1024], z[1024], w[64], dm[1024], m[1024], d_o[1024], dz[1024], dw[64];
        double want[1024], old[64];
        s.T = 1 + (int)rnd(4), s.H = 1 + (int)rnd(3), s.d = 1 + (int)rnd(20);
        int n = s.T * s.H * s.d, row = s.H * s.d;
        draw_away(o, s.x, n), draw(z, s.z, n, 3), draw(w, s.w, s.d, 1), draw(dm, s.dy, n, 1), draw(dw, old, s.d, 1);
        norm_fwd_cpu(&(struct norm_fwd_args){o, z, w, m, row, row, row, s.T, s.H, s.d, 1e-6f});
        outputs(rms_loss, &s, n, want), near("m", m, want, n, 2e-6);
        norm_bwd_cpu(&(struct norm_bwd_args){dm, o, z, w, d_o, dz, dw, row, row, row, row, row, s.T, s.H, s.d, 1e-6f});
        differences(rms_loss, &s, s.x, n, want), within("do", d_o, want, n, 3e-6 * steepest(&s, 1.0 / s.d) * largest(s.dy, n));
        differences(rms_loss, &s, s.z, n, want), near("dz", dz, want, n, 1e-5);
        differences(rms_loss, &s, s.w, s.d, want);
        for (int i = 0; i < s.d; i++)
            want[i] += old[i]; /* added to what was there */
        near("dw", dw, want, s.d, 1e-5);
    }
}

/* More columns than the sums are kept for at once. */
TEST(norm_of_wide_heads)
{
    enum { D = 300 };
    float o[2 * D], z[2 * D], w[D], dm[2 * D], d_o[2 * D], dz[2 * D], dw[D] = {0};
    double od[2 * D], zd[2 * D], wd[D], dmd[2 * D], want[D];
    PROP(1)
    {
        draw(o, od, 2 * D, 1), draw(z, zd, 2 * D, 3), draw(w, wd, D, 1), draw(dm, dmd, 2 * D, 1);
    }
    norm_bwd_cpu(&(struct norm_bwd_args){dm, o, z, w, d_o, dz, dw, D, D, D, D, D, 2, 1, D, 1e-6f});
    for (int i = 0; i < D; i++) {
        want[i] = 0;
        for (int t = 0; t < 2; t++) {
            double sum = 0, zz = zd[t * D + i];
            for (int j = 0; j < D; j++)
                sum += od[t * D + j] * od[t * D + j];
            want[i] += dmd[t * D + i] * od[t * D + i] / sqrt(sum / D + 1e-6) * zz / (1 + exp(-zz));
        }
    }
    near("dw", dw, want, D, 1e-5);
    for (int t = 0; t < 2; t++) { /* o is orthogonal to its gradient, but for eps */
        double along = 0;
        for (int j = 0; j < D; j++)
            along += od[t * D + j] * d_o[t * D + j];
        assert_true(fabs(along) < 1e-3);
    }
}

/* ---- elementwise and concat ---- */

TEST(elementwise_are_what_they_say)
{
    PROP(20)
    {
        float x[300], z[300], y[300];
        double dx[300], dz[300], want[300];
        int n = (int)rnd(300);
        draw(x, dx, 300, 1), draw(z, dz, 300, 1), draw(y, want, 300, 1);
        elementwise_axpy_cpu(&(struct elementwise_args){.x = x, .y = y, .n = n, .alpha = 0.5f});
        for (int i = 0; i < n; i++)
            want[i] += 0.5 * dx[i];
        near("axpy", y, want, 300, 1e-6);
        elementwise_add_cpu(&(struct elementwise_args){.x = x, .z = z, .y = y, .n = n});
        for (int i = 0; i < n; i++)
            want[i] = dx[i] + dz[i];
        near("add", y, want, 300, 1e-6);
        elementwise_fill_cpu(&(struct elementwise_args){.y = y, .n = n, .alpha = 3});
        for (int i = 0; i < n; i++)
            assert_true(y[i] == 3);
    }
}

TEST(loss_and_its_gradient)
{
    PROP(20)
    {
        float x[300], dx[300];
        double d[300], sum = 7, want = 7, grad[300];
        int n = 1 + (int)rnd(300);
        draw(x, d, 300, 1);
        elementwise_sumsq_cpu(&(struct elementwise_sumsq_args){x, dx, &sum, n, 0.5 / 300});
        for (int i = 0; i < n; i++)
            want += d[i] * d[i] * 0.5 / 300, grad[i] = d[i] / 300;
        assert_true(fabs(sum - want) < 1e-12);
        near("dx", dx, grad, n, 1e-6);
        elementwise_sumsq_cpu(&(struct elementwise_sumsq_args){x, NULL, &sum, n, 0});
        assert_true(fabs(sum - want) < 1e-12);
    }
}

/* A matrix of random blocks taken apart and put together is itself. */
TEST(concat_there_and_back)
{
    PROP(50)
    {
        float x[1200], apart[1200], back[1200];
        double d[1200];
        int rows = 1 + (int)rnd(6), cols = 1 + (int)rnd(5), blocks = 1 + (int)rnd(8), ld = cols * blocks;
        draw(x, d, 1200, 1);
        memset(back, 0, sizeof back);
        concat_blocks_cpu(&(struct concat_blocks_args){x, apart, ld, cols, cols, rows * cols, rows, cols, blocks});
        for (int j = 0; j < blocks; j++)
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < cols; c++)
                    assert_true(apart[(j * rows + r) * cols + c] == x[r * ld + j * cols + c]);
        concat_blocks_cpu(&(struct concat_blocks_args){apart, back, cols, ld, rows * cols, cols, rows, cols, blocks});
        assert_memory_equal(back, x, sizeof(float) * (size_t)(rows * ld));
        struct concat_parts_args p = {.rows = rows, .nparts = 3};
        memset(back, 0, sizeof back);
        for (int i = 0, at = 0; i < 3; i++) {
            int w = i == 2 ? ld - at : (int)rnd((uint64_t)(ld - at) + 1);
            p.part[i] = (struct concat_part){x + at, back + at, ld, ld, w};
            at += w;
        }
        concat_parts_cpu(&p);
        assert_memory_equal(back, x, sizeof(float) * (size_t)(rows * ld));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {UNIT(exp_is_close),
                                       UNIT(gemm_matches_its_formula),

                                       UNIT(gates_match_their_formula),
                                       UNIT(gates_far_out),
                                       UNIT(l2norm_matches_its_formula),
                                       UNIT(norm_matches_its_formula),
                                       UNIT(norm_of_wide_heads),
                                       UNIT(elementwise_are_what_they_say),
                                       UNIT(loss_and_its_gradient),
                                       UNIT(concat_there_and_back)};
    gemm_init();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
