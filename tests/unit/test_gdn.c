/* The chunk form in single precision against the token recurrence in double, alone and composed over ranks. */
#include "kernels/ops/gdn.h"
#include "kernels/ops/gemm.h"
#include "schemas/arena.h"
#include "unit.h"

#include "gdn_oracle.h"

/* One problem: double inputs, their float copies, results of both. */
struct problem {
    struct arena a;
    int T, HK, HV, dk, dv, C, nseg;
    int64_t *cu;
    double *q, *k, *v, *g, *beta, *h_in, *d_o, *dh_out;
    double *o, *h_out, *dq, *dk_, *dv_, *dg, *dbeta, *dh_in;
    float *fq, *fk, *fv, *fg, *fbeta, *fh_in, *fd_o, *fdh_out, *tm;
};

static double *reals(struct problem *p, int64_t n, double scale)
{
    double *x = arena_array(&p->a, double, n + 1);
    for (int64_t i = 0; i < n; i++)
        x[i] = scale * (double)(float)rnd_real();
    return x;
}

/* The float copy; the double is rounded to it so that both have the same input. */
static float *single(struct problem *p, double *x, int64_t n)
{
    float *f = arena_array(&p->a, float, n + 1);
    for (int64_t i = 0; i < n; i++)
        x[i] = f[i] = (float)x[i];
    return f;
}

static void unit_length(double *x, int rows, int d)
{
    for (int r = 0; r < rows; r++, x += d) {
        double sum = 1e-6;
        for (int i = 0; i < d; i++)
            sum += x[i] * x[i];
        for (int i = 0; i < d; i++)
            x[i] /= sqrt(sum);
    }
}

static void draw_cu(struct problem *p)
{
    int64_t *cu = p->cu = arena_array(&p->a, int64_t, p->nseg + 1);
    for (int i = 1; i < p->nseg; i++)
        cu[i] = (int64_t)rnd((uint64_t)p->T + 1);
    cu[p->nseg] = p->T;
    for (int i = 1; i < p->nseg; i++)
        for (int j = i; j > 1 && cu[j] < cu[j - 1]; j--) {
            int64_t t = cu[j];
            cu[j] = cu[j - 1], cu[j - 1] = t;
        }
}

/* Decay: slow (A about 0.05), as trained, or fast; mixed within a sequence. */
static void draw_gates(struct problem *p)
{
    static const double rates[] = {0.002, 0.05, 1, 16};
    int64_t n = (int64_t)p->T * p->HV;
    double rate = rates[rnd(4)];
    p->g = reals(p, n, 1), p->beta = reals(p, n, 1);
    for (int64_t i = 0; i < n; i++) {
        p->g[i] = -fabs(p->g[i]) * (rnd(8) ? rate : rates[rnd(4)]);
        p->beta[i] = 0.5 + 0.499 * p->beta[i];
    }
    p->fg = single(p, p->g, n), p->fbeta = single(p, p->beta, n);
}

static void draw(struct problem *p)
{
    int64_t nqk = (int64_t)p->T * p->HK * p->dk, nv = (int64_t)p->T * p->HV * p->dv, ns = (int64_t)p->HV * p->dk * p->dv;
    draw_cu(p);
    draw_gates(p);
    p->q = reals(p, nqk, 1), p->k = reals(p, nqk, 1), p->v = reals(p, nv, 1), p->d_o = reals(p, nv, 1);
    p->h_in = reals(p, ns, 1), p->dh_out = reals(p, ns, 1);
    unit_length(p->q, p->T * p->HK, p->dk);
    unit_length(p->k, p->T * p->HK, p->dk);
    p->fq = single(p, p->q, nqk), p->fk = single(p, p->k, nqk), p->fv = single(p, p->v, nv), p->fd_o = single(p, p->d_o, nv);
    p->fh_in = single(p, p->h_in, ns), p->fdh_out = single(p, p->dh_out, ns);
    double **results[] = {&p->o, &p->dv_, &p->dq, &p->dk_, &p->dg, &p->dbeta, &p->h_out, &p->dh_in};
    int64_t sizes[] = {nv, nv, nqk, nqk, nv, nv, ns, ns};
    for (int i = 0; i < 8; i++)
        *results[i] = arena_array(&p->a, double, sizes[i] + 1);
    p->tm = arena_array(&p->a, float, (int64_t)p->T * p->HV * p->C + 1);
}

static struct gdn_oracle oracle_of(struct problem *p)
{
    return (struct gdn_oracle){p->T,    p->HK,   p->HV, p->dk,    p->dv,  p->nseg,   p->cu, 1 / sqrt(p->dk), p->q,   p->k,  p->v,     p->g,
                               p->beta, p->h_in, p->o,  p->h_out, p->d_o, p->dh_out, p->dq, p->dk_,          p->dv_, p->dg, p->dbeta, p->dh_in};
}

static struct gdn_inputs inputs_of(struct problem *p)
{
    return (struct gdn_inputs){p->fq, p->fk, p->fv, p->fg, p->fbeta, p->tm, p->cu,   p->HK * p->dk,           p->HV * p->dv,
                               p->T,  p->HK, p->HV, p->dk, p->dv,    p->C,  p->nseg, (float)(1 / sqrt(p->dk))};
}

static void *work(struct problem *p, size_t bytes)
{
    char *w = arena_alloc(&p->a, bytes + 64);
    return w + (64 - (uintptr_t)w % 64) % 64;
}

/* Every element within `limit` of the largest, or of what numbers of order one leave by cancelling. */
static void close_to(const char *what, const struct problem *p, const float *got, const double *want, int64_t n, double limit)
{
    double most = 0, worst = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(want[i]));
    for (int64_t i = 0; i < n; i++)
        worst = fmax(worst, isfinite(got[i]) ? fabs(got[i] - want[i]) : INFINITY);
    if (worst > limit * fmax(most, 0.05))
        fail_msg("%s off by %g of %g: T %d heads %d/%d dims %d/%d chunk %d segments %d", what, worst, most, p->T, p->HK, p->HV, p->dk, p->dv, p->C,
                 p->nseg);
}

static float *floats(struct problem *p, int64_t n)
{
    float *f = arena_array(&p->a, float, n + 1);
    for (int64_t i = 0; i <= n; i++)
        f[i] = NAN; /* whoever does not overwrite is found */
    return f;
}

static void compare(struct problem *p, double limit)
{
    struct gdn_oracle want = oracle_of(p);
    struct gdn_inputs in = inputs_of(p);
    int64_t nqk = (int64_t)p->T * p->HK * p->dk, nv = (int64_t)p->T * p->HV * p->dv, ng = (int64_t)p->T * p->HV, ns = (int64_t)p->HV * p->dk * p->dv;
    float *o = floats(p, nv), *h_out = floats(p, ns), *dq = floats(p, nqk), *dk = floats(p, nqk), *dv = floats(p, nv), *dg = floats(p, ng),
          *dbeta = floats(p, ng), *dh_in = floats(p, ns);
    gdn_oracle(&want);
    gdn_scan_prepare_cpu(&(struct gdn_scan_prepare_args){in, work(p, gdn_scan_prepare_work(&in))});
    gdn_scan_fwd_cpu(&(struct gdn_scan_fwd_args){in, p->fh_in, o, h_out, work(p, gdn_scan_fwd_work(&in)), in.ldv});
    gdn_scan_bwd_cpu(&(struct gdn_scan_bwd_args){in, p->fh_in, p->fd_o, p->fdh_out, dq, dk, dv, dg, dbeta, dh_in, work(p, gdn_scan_bwd_work(&in)),
                                                 in.ldv, in.ldqk, in.ldv});
    close_to("o", p, o, p->o, nv, limit);
    close_to("h_out", p, h_out, p->h_out, ns, limit);
    close_to("dq", p, dq, p->dq, nqk, limit);
    close_to("dk", p, dk, p->dk_, nqk, limit);
    close_to("dv", p, dv, p->dv_, nv, limit);
    close_to("dg", p, dg, p->dg, ng, limit);
    close_to("dbeta", p, dbeta, p->dbeta, ng, limit);
    close_to("dh_in", p, dh_in, p->dh_in, ns, limit);
}

TEST(chunks_match_the_recurrence)
{
    static const int chunks[] = {1, 2, 3, 5, 8, 16, 32, 64};
    PROP(150)
    {
        struct problem p = {.T = 1 + (int)rnd(90), .HK = 1 + (int)rnd(3), .dk = 1 + (int)rnd(17), .dv = 1 + (int)rnd(19), .nseg = 1 + (int)rnd(5)};
        p.HV = p.HK * (1 + (int)rnd(3)), p.C = chunks[rnd(8)];
        draw(&p);
        compare(&p, 1e-5);
        arena_free(&p.a);
    }
}

/* Sizes at which OpenBLAS does the products. */
TEST(large_heads_match_the_recurrence)
{
    PROP(3)
    {
        struct problem p = {.T = 150 + (int)rnd(60), .HK = 1, .HV = 2, .dk = 64, .dv = prop_ == 1 ? 64 : 48, .C = 64, .nseg = 1 + (int)rnd(3)};
        draw(&p);
        compare(&p, 1e-5);
        arena_free(&p.a);
    }
}

TEST(rows_may_be_part_of_wider_ones)
{
    PROP(10)
    {
        struct problem p = {.T = 20 + (int)rnd(20), .HK = 2, .HV = 4, .dk = 3, .dv = 5, .C = 8, .nseg = 2};
        draw(&p);
        struct gdn_inputs in = inputs_of(&p);
        int64_t nv = (int64_t)p.T * p.HV * p.dv, ld = 57;
        float *o = floats(&p, nv), *wide = floats(&p, p.T * ld), *wide_o = floats(&p, p.T * ld);
        gdn_scan_prepare_cpu(&(struct gdn_scan_prepare_args){in, work(&p, gdn_scan_prepare_work(&in))});
        gdn_scan_fwd_cpu(&(struct gdn_scan_fwd_args){in, NULL, o, NULL, work(&p, gdn_scan_fwd_work(&in)), in.ldv});
        for (int t = 0; t < p.T; t++) {
            memcpy(wide + t * ld, in.q + t * in.ldqk, 6 * sizeof(float));
            memcpy(wide + t * ld + 6, in.k + t * in.ldqk, 6 * sizeof(float));
            memcpy(wide + t * ld + 12, in.v + t * in.ldv, 20 * sizeof(float));
        }
        in.q = wide, in.k = wide + 6, in.v = wide + 12, in.ldqk = in.ldv = ld;
        gdn_scan_fwd_cpu(&(struct gdn_scan_fwd_args){in, NULL, wide_o + 32, NULL, work(&p, gdn_scan_fwd_work(&in)), ld});
        for (int t = 0; t < p.T; t++)
            assert_memory_equal(wide_o + t * ld + 32, o + (int64_t)t * 20, 20 * sizeof(float));
        arena_free(&p.a);
    }
}

/* The definition's own backward against central differences. */
TEST(the_oracle_is_right)
{
    PROP(6)
    {
        struct problem p = {.T = 7, .HK = 1, .HV = 2, .dk = 3, .dv = 2, .C = 4, .nseg = 2};
        draw(&p);
        struct gdn_oracle a = oracle_of(&p);
        gdn_oracle(&a);
        struct {
            double *x;
            const double *dx;
            int n;
        } in[] = {{p.q, p.dq, 21}, {p.k, p.dk_, 21}, {p.v, p.dv_, 28}, {p.g, p.dg, 14}, {p.beta, p.dbeta, 14}, {p.h_in, p.dh_in, 12}};
        struct gdn_oracle f = a;
        f.d_o = NULL;
        for (int w = 0; w < 6; w++)
            for (int i = 0; i < in[w].n; i++) {
                double loss[2], old = in[w].x[i];
                for (int side = 0; side < 2; side++) {
                    in[w].x[i] = old + (side ? 1e-5 : -1e-5);
                    gdn_oracle(&f);
                    loss[side] = 0;
                    for (int j = 0; j < 28; j++)
                        loss[side] += p.o[j] * p.d_o[j];
                    for (int j = 0; j < 12; j++)
                        loss[side] += p.h_out[j] * p.dh_out[j];
                }
                in[w].x[i] = old;
                if (fabs((loss[1] - loss[0]) / 2e-5 - in[w].dx[i]) > 1e-7)
                    fail_msg("input %d element %d: %g, differences give %g", w, i, in[w].dx[i], (loss[1] - loss[0]) / 2e-5);
            }
        arena_free(&p.a);
    }
}

/* ---- ranks ---- */

/* The shard of one rank, by the definition of B.3 spelled out. */
struct shard {
    struct gdn_inputs in;
    int64_t cu[16];
    int pre, post; /* ranks that feed me; ranks that my last segment reaches */
    const float *d_o;
};

static void cut(struct shard *s, struct problem *p, int cp, int rank)
{
    int64_t rows = p->T / cp, from = rank * rows, to = from + rows;
    int n = 0;
    s->pre = s->post = 0;
    for (int i = 0; i < p->nseg; i++) {
        int64_t a = p->cu[i] < from ? from : p->cu[i], b = p->cu[i + 1] > to ? to : p->cu[i + 1];
        if (a >= b)
            continue;
        s->cu[n++] = a - from, s->cu[n] = b - from;
        if (p->cu[i] < from)
            s->pre = rank - (int)(p->cu[i] / rows);
        if (p->cu[i + 1] > to)
            s->post = (int)((p->cu[i + 1] - 1) / rows) - rank;
    }
    s->in = inputs_of(p);
    s->in.q += from * s->in.ldqk, s->in.k += from * s->in.ldqk, s->in.v += from * s->in.ldv;
    s->in.g += from * p->HV, s->in.beta += from * p->HV, s->in.tm += from * p->HV * p->C;
    s->in.T = (int)rows, s->in.cu = s->cu, s->in.nseg = n;
    s->d_o = p->fd_o + from * s->in.ldv;
}

static void summaries(struct problem *p, struct shard *s, int cp, float *sm, float *dsm)
{
    int64_t block = (int64_t)p->HV * p->dk * (p->dv + p->dk);
    for (int r = 0; r < cp; r++) {
        struct gdn_inputs *in = &s[r].in;
        gdn_scan_prepare_cpu(&(struct gdn_scan_prepare_args){*in, work(p, gdn_scan_prepare_work(in))});
        memset(sm + r * block, 0, sizeof(float) * (size_t)block);
        memset(dsm + r * block, 0, sizeof(float) * (size_t)block);
        if (s[r].post)
            gdn_summary_fwd_cpu(&(struct gdn_summary_fwd_args){.in = *in, .sm = sm + r * block, .work = work(p, gdn_summary_fwd_work(in))});
        if (s[r].pre)
            gdn_summary_bwd_cpu(
                &(struct gdn_summary_bwd_args){*in, s[r].d_o, sm + r * block, dsm + r * block, work(p, gdn_summary_bwd_work(in)), in->ldv});
    }
}

static float *merged(struct problem *p, const float *all, int first, int count, int step)
{
    struct gdn_summary_merge_args m = {all, floats(p, (int64_t)p->HV * p->dk * p->dv), NULL, p->HV, p->dk, p->dv, first, count, step};
    m.work = work(p, gdn_summary_merge_work(&m));
    gdn_summary_merge_cpu(&m);
    return m.x;
}

/* All ranks one after the other; results land in whole-length buffers and must be those of the whole. */
static void compose(struct problem *p, int cp)
{
    struct shard s[8];
    int64_t block = (int64_t)p->HV * p->dk * (p->dv + p->dk), rows = p->T / cp;
    int64_t nqk = (int64_t)p->T * p->HK * p->dk, nv = (int64_t)p->T * p->HV * p->dv, ng = (int64_t)p->T * p->HV;
    float *sm = floats(p, cp * block), *dsm = floats(p, cp * block);
    float *o = floats(p, nv), *dq = floats(p, nqk), *dk = floats(p, nqk), *dv = floats(p, nv), *dg = floats(p, ng), *dbeta = floats(p, ng);
    for (int r = 0; r < cp; r++)
        cut(&s[r], p, cp, r);
    summaries(p, s, cp, sm, dsm);
    for (int r = 0; r < cp; r++) {
        struct gdn_inputs *in = &s[r].in;
        float *h_in = merged(p, sm, r - s[r].pre, s[r].pre, 1), *dh_out = merged(p, dsm, r + s[r].post, s[r].post, -1);
        int64_t v = r * rows * in->ldv, qk = r * rows * in->ldqk, g = r * rows * p->HV;
        gdn_scan_fwd_cpu(&(struct gdn_scan_fwd_args){*in, h_in, o + v, NULL, work(p, gdn_scan_fwd_work(in)), in->ldv});
        gdn_scan_bwd_cpu(&(struct gdn_scan_bwd_args){*in, h_in, s[r].d_o, dh_out, dq + qk, dk + qk, dv + v, dg + g, dbeta + g, NULL,
                                                     work(p, gdn_scan_bwd_work(in)), in->ldv, in->ldqk, in->ldv});
    }
    struct gdn_oracle want = oracle_of(p);
    want.h_in = want.dh_out = NULL;
    gdn_oracle(&want);
    close_to("o", p, o, p->o, nv, 1e-5);
    close_to("dq", p, dq, p->dq, nqk, 1e-5);
    close_to("dk", p, dk, p->dk_, nqk, 1e-5);
    close_to("dv", p, dv, p->dv_, nv, 1e-5);
    close_to("dg", p, dg, p->dg, ng, 1e-5);
    close_to("dbeta", p, dbeta, p->dbeta, ng, 1e-5);
}

TEST(ranks_compose_to_the_whole)
{
    PROP(80)
    {
        int cp = 1 << rnd(4);
        struct problem p = {
            .T = cp * (1 + (int)rnd(24)), .HK = 1 + (int)rnd(2), .dk = 1 + (int)rnd(9), .dv = 1 + (int)rnd(9), .nseg = 1 + (int)rnd(4)};
        p.HV = p.HK * (1 + (int)rnd(3)), p.C = 1 << rnd(7);
        draw(&p);
        compose(&p, cp);
        arena_free(&p.a);
    }
}

/* The same call twice: the same bits. */
TEST(repeats_are_bit_identical)
{
    struct problem p = {.T = 200, .HK = 1, .HV = 2, .dk = 64, .dv = 64, .C = 64, .nseg = 3};
    draw(&p);
    struct gdn_inputs in = inputs_of(&p);
    int64_t nqk = (int64_t)p.T * p.HK * p.dk, nv = (int64_t)p.T * p.HV * p.dv;
    float *keep[2];
    gdn_scan_prepare_cpu(&(struct gdn_scan_prepare_args){in, work(&p, gdn_scan_prepare_work(&in))});
    for (int i = 0; i < 2; i++) {
        float *dk = keep[i] = floats(&p, nqk), *dq = floats(&p, nqk), *dv = floats(&p, nv), *dg = floats(&p, nv), *dbeta = floats(&p, nv);
        gdn_scan_bwd_cpu(&(struct gdn_scan_bwd_args){in, NULL, p.fd_o, NULL, dq, dk, dv, dg, dbeta, NULL, work(&p, gdn_scan_bwd_work(&in)), in.ldv,
                                                     in.ldqk, in.ldv});
    }
    assert_memory_equal(keep[0], keep[1], sizeof(float) * (size_t)nqk);
    arena_free(&p.a);
}

/* Example of the spec's table of oracles: S0 = [1,2]^T, S1 = [3,4]^T, M1 = diag(4,5) -> [7,14]^T. */
TEST(merge_of_two)
{
    float all[2][2][3] = {{{1, 9, 9}, {2, 9, 9}}, {{3, 4, 0}, {4, 0, 5}}}, x[2], old[2];
    gdn_summary_merge_cpu(&(struct gdn_summary_merge_args){&all[0][0][0], x, old, 1, 2, 1, 0, 2, 1});
    assert_true(x[0] == 7 && x[1] == 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {UNIT(chunks_match_the_recurrence),
                                       UNIT(large_heads_match_the_recurrence),
                                       UNIT(rows_may_be_part_of_wider_ones),
                                       UNIT(the_oracle_is_right),
                                       UNIT(ranks_compose_to_the_whole),
                                       UNIT(repeats_are_bit_identical),
                                       UNIT(merge_of_two)};
    gemm_init();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
