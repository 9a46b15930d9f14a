/* conv1d.c - channels in blocks of 128: a row of a block is a run of memory, the taps of a block fit a cache. */
#include "kernels/ops/conv1d_body.h"

#include <assert.h>

enum { BLOCK = 128 };

/* Channels from .. from + n - 1 of one segment: rows start .. end - 1, before them `before` rows of the halo. */
struct span {
    int64_t start, end;
    int from, n, before;
};

typedef void span_fn(const void *args, const struct span *s, float taps[][BLOCK], void *sums);

static void load_taps(const float *w, int W, int from, int n, float taps[][BLOCK])
{
    for (int j = 0; j < W; j++)
        for (int i = 0; i < n; i++)
            taps[j][i] = w[(int64_t)(from + i) * W + j];
}

/* c_t of the block. */
HOT_INLINE void convolve(const float *x, int64_t ldx, const float *halo, int W, int D, const struct span *s, int64_t t, float taps[][BLOCK], float *c)
{
    for (int i = 0; i < s->n; i++)
        c[i] = 0;
    for (int j = conv1d_first_tap(t - s->start, s->before, W); j < W; j++) {
        const float *row = conv1d_row(x, ldx, halo, W, D, s->start, t - (W - 1) + j) + s->from, *tap = taps[j];
        for (int i = 0; i < s->n; i++)
            c[i] += tap[i] * row[i];
    }
}

/* Calls fn for every non-empty segment; only the first of them sees the halo. */
static void each_segment(const int64_t *cu, int nseg, int halo_rows, struct span s, span_fn *fn, const void *args, float taps[][BLOCK], void *sums)
{
    s.before = halo_rows;
    for (int i = 0; i < nseg; i++) {
        if (cu[i] == cu[i + 1])
            continue;
        s.start = cu[i], s.end = cu[i + 1];
        fn(args, &s, taps, sums);
        s.before = 0;
    }
}

HOT static void fwd_span(const void *args, const struct span *s, float taps[][BLOCK], void *unused)
{
    const struct conv1d_fwd_args *a = args;
    (void)unused;
    for (int64_t t = s->start; t < s->end; t++) {
        float c[BLOCK], *y = a->y + t * a->ldy + s->from;
        convolve(a->x, a->ldx, a->halo, a->W, a->D, s, t, taps, c);
        for (int i = 0; i < s->n; i++)
            y[i] = c[i] * sigmoid_f(c[i]);
    }
}

void conv1d_fwd_cpu(const struct conv1d_fwd_args *a)
{
    float taps[CONV1D_WIDTH_MAX][BLOCK];
    assert(a->W >= 1 && a->W <= CONV1D_WIDTH_MAX && a->halo_valid >= 0 && a->halo_valid < a->W);
    for (int from = 0; from < a->D; from += BLOCK) {
        struct span s = {.from = from, .n = a->D - from < BLOCK ? a->D - from : BLOCK};
        load_taps(a->w, a->W, from, s.n, taps);
        each_segment(a->cu, a->nseg, a->halo ? a->halo_valid : 0, s, fwd_span, a, taps, NULL);
    }
}

struct cost conv1d_fwd_cost(const struct conv1d_fwd_args *a)
{
    double n = (double)a->T * a->D;
    return (struct cost){(2.0 * a->W + 5) * n, 8 * n + 4.0 * a->D * a->W};
}

/* dL/dc of token t: dy silu'(c). */
HOT_INLINE void grad_c(const struct conv1d_bwd_args *a, const struct span *s, int64_t t, float taps[][BLOCK], float *dc)
{
    const float *dy = a->dy + t * a->lddy + s->from;
    convolve(a->x, a->ldx, a->halo, a->W, a->D, s, t, taps, dc);
    for (int i = 0; i < s->n; i++)
        dc[i] = dy[i] * conv1d_slope(dc[i]);
}

/* Sums of dw: in single precision over some tokens, in double over all. */
struct tap_sums {
    float some[CONV1D_WIDTH_MAX][BLOCK];
    double all[CONV1D_WIDTH_MAX][BLOCK];
};
enum { SOME = 64 };

HOT static void gather_sums(struct tap_sums *sums, int W, int n)
{
    for (int j = 0; j < W; j++)
        for (int i = 0; i < n; i++) {
            sums->all[j][i] += (double)sums->some[j][i];
            sums->some[j][i] = 0;
        }
}

/* Every token gives to the rows that its taps met; rows of the halo have a place of their own. */
HOT static void bwd_span(const void *args, const struct span *s, float taps[][BLOCK], void *sums)
{
    const struct conv1d_bwd_args *a = args;
    struct tap_sums *dw = sums;
    for (int64_t t = s->start; t < s->end; t++)
        memset(a->dx + t * a->lddx + s->from, 0, (size_t)s->n * sizeof(float));
    for (int64_t t = s->start; t < s->end; t++) {
        float dc[BLOCK];
        grad_c(a, s, t, taps, dc);
        for (int j = conv1d_first_tap(t - s->start, s->before, a->W); j < a->W; j++) {
            int64_t from = t - (a->W - 1) + j;
            const float *row = conv1d_row(a->x, a->ldx, a->halo, a->W, a->D, s->start, from) + s->from;
            for (int i = 0; i < s->n; i++)
                dw->some[j][i] += dc[i] * row[i];
            float *to = from >= s->start ? a->dx + from * a->lddx : a->d_halo ? a->d_halo + (a->W - 1 + (from - s->start)) * a->D : NULL;
            for (int i = 0; to && i < s->n; i++)
                to[s->from + i] += taps[j][i] * dc[i];
        }
        if ((t - s->start) % SOME == SOME - 1 || t == s->end - 1)
            gather_sums(dw, a->W, s->n);
    }
}

void conv1d_bwd_cpu(const struct conv1d_bwd_args *a)
{
    float taps[CONV1D_WIDTH_MAX][BLOCK];
    assert(a->W >= 1 && a->W <= CONV1D_WIDTH_MAX && a->halo_valid >= 0 && a->halo_valid < a->W);
    if (a->d_halo)
        memset(a->d_halo, 0, sizeof(float) * (size_t)(a->W - 1) * (size_t)a->D);
    for (int from = 0; from < a->D; from += BLOCK) {
        struct tap_sums dw = {{{0}}, {{0}}};
        struct span s = {.from = from, .n = a->D - from < BLOCK ? a->D - from : BLOCK};
        load_taps(a->w, a->W, from, s.n, taps);
        each_segment(a->cu, a->nseg, a->halo ? a->halo_valid : 0, s, bwd_span, a, taps, &dw);
        for (int i = 0; i < s.n; i++)
            for (int j = 0; j < a->W; j++)
                a->dw[(int64_t)(from + i) * a->W + j] += (float)dw.all[j][i];
    }
}

struct cost conv1d_bwd_cost(const struct conv1d_bwd_args *a)
{
    double n = (double)a->T * a->D;
    return (struct cost){(6.0 * a->W + 8) * n, 12 * n + 12.0 * a->D * a->W};
}

OP_DEFINE(conv1d_fwd);
OP_DEFINE(conv1d_bwd);
