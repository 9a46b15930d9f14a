/* The convolution against its formula, token by token in double; backward against central differences; shards with halos. */
#include "kernels/ops/conv1d.h"
#include "unit.h"

#include <math.h>

enum { MOST = 8192, TAPS = 2048 };

/* One run of packed tokens with `before` real rows in front of its first segment. */
struct conv {
    int T, D, W, nseg, before;
    int64_t cu[8];
    double x[MOST], w[TAPS], halo[TAPS], dy[MOST], y[MOST];
};

static double value(const struct conv *c, int64_t t, int64_t start, bool first, int ch)
{
    if (t >= start)
        return c->x[t * c->D + ch];
    int64_t back = start - t; /* 1: the newest row of the halo */
    return first && back <= c->before ? c->halo[(c->W - 1 - back) * c->D + ch] : 0;
}

static double loss(struct conv *c)
{
    double sum = 0;
    bool first = true;
    for (int s = 0; s < c->nseg; s++) {
        for (int64_t t = c->cu[s]; t < c->cu[s + 1]; t++)
            for (int ch = 0; ch < c->D; ch++) {
                double v = 0;
                for (int j = 0; j < c->W; j++)
                    v += c->w[ch * c->W + j] * value(c, t - (c->W - 1) + j, c->cu[s], first, ch);
                double y = c->y[t * c->D + ch] = v / (1 + exp(-v));
                sum += y * c->dy[t * c->D + ch];
            }
        first = first && c->cu[s] == c->cu[s + 1];
    }
    return sum;
}

static void draw(float *f, double *d, int n)
{
    for (int i = 0; i < n; i++)
        d[i] = f[i] = (float)rnd_real();
}

static void near(const char *what, const struct conv *c, const float *got, const double *want, int n)
{
    double most = 0.05; /* what numbers of order one leave by cancelling */
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(want[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-5 * most))
            fail_msg("%s: element %d is %.9g, not %.9g (T %d D %d W %d segments %d before %d)", what, i, got[i], want[i], c->T, c->D, c->W, c->nseg,
                     c->before);
}

static void check_differences(const char *what, struct conv *c, double *x, const float *got, int n)
{
    static double want[MOST];
    for (int i = 0; i < n; i++) {
        double old = x[i], h = 1e-5;
        x[i] = old + h;
        double up = loss(c);
        x[i] = old - h;
        want[i] = (up - loss(c)) / (2 * h);
        x[i] = old;
    }
    near(what, c, got, want, n);
}

static void draw_cu(struct conv *c)
{
    c->cu[0] = 0, c->cu[c->nseg] = c->T;
    for (int i = 1; i < c->nseg; i++) {
        int64_t left = c->T - c->cu[i - 1];
        c->cu[i] = c->cu[i - 1] + (rnd(4) ? (int64_t)rnd((uint64_t)left + 1) / 2 : (int64_t)rnd(2)); /* short and empty ones too */
        c->cu[i] = c->cu[i] > c->T ? c->T : c->cu[i];
    }
}

static struct conv c;
static float x[MOST], w[TAPS], halo[TAPS], dy[MOST], y[MOST], dx[MOST], dw[TAPS], d_halo[TAPS];

static void draw_conv(int T, int D, int W)
{
    c = (struct conv){.T = T, .D = D, .W = W, .nseg = 1 + (int)rnd(5)};
    c.before = (int)rnd((uint64_t)c.W);
    draw_cu(&c);
    draw(x, c.x, c.T * c.D), draw(w, c.w, c.D * c.W), draw(halo, c.halo, (c.W - 1) * c.D), draw(dy, c.dy, c.T * c.D);
    for (int i = 0; i < (c.W - 1 - c.before) * c.D; i++)
        halo[i] = NAN; /* a neighbour's row of another sequence: must not be seen, not even times zero */
    memset(dw, 0, sizeof dw);
    conv1d_fwd_cpu(&(struct conv1d_fwd_args){x, w, halo, y, c.cu, c.D, c.D, c.T, c.D, c.W, c.nseg, c.before});
    conv1d_bwd_cpu(&(struct conv1d_bwd_args){x, w, halo, dy, dx, dw, d_halo, c.cu, c.D, c.D, c.D, c.T, c.D, c.W, c.nseg, c.before});
}

TEST(conv_matches_its_formula)
{
    PROP(60)
    {
        draw_conv(1 + (int)rnd(12), 1 + (int)rnd(4), 1 + (int)rnd(6));
        loss(&c);
        near("y", &c, y, c.y, c.T * c.D);
        check_differences("dx", &c, c.x, dx, c.T * c.D);
        check_differences("dw", &c, c.w, dw, c.D * c.W);
        check_differences("d_halo", &c, c.halo, d_halo, (c.W - 1) * c.D); /* masked rows: both are zero */
    }
}

/* More tokens than the gradient of a tap is summed over at once. */
TEST(long_runs_match_the_formula)
{
    PROP(3)
    {
        draw_conv(120 + (int)rnd(80), 2, 4);
        loss(&c);
        near("y", &c, y, c.y, c.T * c.D);
        check_differences("dx", &c, c.x, dx, c.T * c.D);
        check_differences("dw", &c, c.w, dw, c.D * c.W);
    }
}

/* More channels than a block holds: every channel as if it were alone. */
TEST(channels_do_not_meet)
{
    PROP(4)
    {
        draw_conv(1 + (int)rnd(20), 120 + (int)rnd(200), 4);
        static float one_x[64], one_dx[64], one_dy[64], one_y[64], one_halo[8], one_dw[8], one_d_halo[8];
        for (int i = 0; i < 20; i++) {
            int ch = (int)rnd((uint64_t)c.D);
            for (int t = 0; t < c.T; t++)
                one_x[t] = x[t * c.D + ch], one_dy[t] = dy[t * c.D + ch];
            for (int t = 0; t < 3; t++)
                one_halo[t] = halo[t * c.D + ch];
            memset(one_dw, 0, sizeof one_dw);
            conv1d_fwd_cpu(&(struct conv1d_fwd_args){one_x, w + ch * 4, one_halo, one_y, c.cu, 1, 1, c.T, 1, 4, c.nseg, c.before});
            conv1d_bwd_cpu(&(struct conv1d_bwd_args){one_x, w + ch * 4, one_halo, one_dy, one_dx, one_dw, one_d_halo, c.cu, 1, 1, 1, c.T, 1, 4,
                                                     c.nseg, c.before});
            for (int t = 0; t < c.T; t++)
                assert_true(one_y[t] == y[t * c.D + ch] && one_dx[t] == dx[t * c.D + ch]);
            for (int j = 0; j < 4; j++)
                assert_true(one_dw[j] == dw[ch * 4 + j]);
            for (int j = 0; j < 3; j++)
                assert_true(one_d_halo[j] == d_halo[j * c.D + ch]);
        }
    }
}

/* A sequence cut anywhere (both parts at least W-1 long) gives what the whole gives. */
TEST(shards_make_the_whole)
{
    PROP(40)
    {
        c = (struct conv){.T = 20, .D = 3, .W = 4, .nseg = 1 + (int)rnd(4)};
        draw_cu(&c);
        draw(x, c.x, 60), draw(w, c.w, 12), draw(dy, c.dy, 60);
        int cut = 3 + (int)rnd(15), before = 0, segments = 0;
        int64_t local[2][8] = {{0}}, n[2] = {0};
        for (int s = 0; s < c.nseg; s++) {
            int64_t a = c.cu[s], b = c.cu[s + 1];
            if (a < cut && b > a)
                local[0][++n[0]] = b < cut ? b : cut;
            if (b > cut && b > a)
                local[1][++n[1]] = b - cut;
            if (a < cut && b > cut)
                before = cut - a < 3 ? (int)(cut - a) : 3;
            segments++;
        }
        assert_int_equal(segments, c.nseg);
        memset(dw, 0, sizeof dw);
        conv1d_bwd_cpu(&(struct conv1d_bwd_args){x, w, NULL, dy, dx, dw, NULL, local[0], 3, 3, 3, cut, 3, 4, (int)n[0], 0});
        conv1d_fwd_cpu(&(struct conv1d_fwd_args){x, w, NULL, y, local[0], 3, 3, cut, 3, 4, (int)n[0], 0});
        const float *rest = x + cut * 3, *neighbour = rest - 9;
        conv1d_fwd_cpu(&(struct conv1d_fwd_args){rest, w, neighbour, y + cut * 3, local[1], 3, 3, 20 - cut, 3, 4, (int)n[1], before});
        conv1d_bwd_cpu(&(struct conv1d_bwd_args){rest, w, neighbour, dy + cut * 3, dx + cut * 3, dw, d_halo, local[1], 3, 3, 3, 20 - cut, 3, 4,
                                                 (int)n[1], before});
        for (int i = 0; i < 9; i++)
            dx[cut * 3 - 9 + i] += d_halo[i];
        loss(&c);
        near("y", &c, y, c.y, 60);
        check_differences("dx", &c, c.x, dx, 60);
        check_differences("dw", &c, c.w, dw, 12);
    }
}

UNIT_MAIN(UNIT(conv_matches_its_formula), UNIT(long_runs_match_the_formula), UNIT(channels_do_not_meet), UNIT(shards_make_the_whole))
