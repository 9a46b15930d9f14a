/* mode_oracle.h - a Gated DeltaNet layer in double, forward only, token by token (spec A.2): the definition.
 *
 * Gradients are checked against it by central differences along random directions.
 */
#pragma once
#include "gdn_oracle.h"

struct oracle_layer {
    int T, hidden, HK, HV, dk, dv, W, nseg;
    const int64_t *cu;
    const double *x, *w_in, *w_conv, *A_log, *dt_bias, *w_norm, *w_out;
};

static inline double oracle_silu(double x)
{
    return x / (1 + exp(-x));
}

/* y [rows][out] = x [rows][in] W^T */
static inline void oracle_linear(double *y, const double *x, const double *w, int rows, int in, int out)
{
    for (int t = 0; t < rows; t++)
        for (int i = 0; i < out; i++) {
            double s = 0;
            for (int j = 0; j < in; j++)
                s += x[t * in + j] * w[i * in + j];
            y[t * out + i] = s;
        }
}

/* Row of the sequence's first token, for a token. */
static inline int64_t oracle_start(const struct oracle_layer *a, int64_t t)
{
    int i = 0;
    while (a->cu[i + 1] <= t)
        i++;
    return a->cu[i];
}

static inline void oracle_conv(const struct oracle_layer *a, const double *proj, int width, int channels, double *out)
{
    for (int64_t t = 0; t < a->T; t++)
        for (int ch = 0; ch < channels; ch++) {
            double s = 0;
            for (int j = 0; j < a->W; j++) {
                int64_t from = t - (a->W - 1) + j;
                s += from >= oracle_start(a, t) ? a->w_conv[ch * a->W + j] * proj[from * width + ch] : 0;
            }
            out[t * channels + ch] = oracle_silu(s);
        }
}

static inline void oracle_unit(double *dst, const double *src, int n)
{
    double s = 1e-6;
    for (int i = 0; i < n; i++)
        s += src[i] * src[i];
    for (int i = 0; i < n; i++)
        dst[i] = src[i] / sqrt(s);
}

struct oracle_core {
    double *q, *k, *v, *g, *beta, *o;
};

static inline void oracle_prepare(const struct oracle_layer *a, const double *proj, int width, const double *mix, int channels, struct oracle_core *c)
{
    int at_b = channels + a->HV * a->dv, at_a = at_b + a->HV, nk = a->HK * a->dk;
    for (int t = 0; t < a->T; t++) {
        for (int h = 0; h < a->HK; h++) {
            oracle_unit(c->q + t * nk + h * a->dk, mix + t * channels + h * a->dk, a->dk);
            oracle_unit(c->k + t * nk + h * a->dk, mix + t * channels + nk + h * a->dk, a->dk);
        }
        memcpy(c->v + t * a->HV * a->dv, mix + t * channels + 2 * nk, sizeof(double) * (size_t)(a->HV * a->dv));
        for (int h = 0; h < a->HV; h++) {
            c->beta[t * a->HV + h] = 1 / (1 + exp(-proj[t * width + at_b + h]));
            c->g[t * a->HV + h] = -exp(a->A_log[h]) * log1p(exp(proj[t * width + at_a + h] + a->dt_bias[h]));
        }
    }
}

static inline void oracle_norm(const struct oracle_layer *a, const double *proj, int width, int channels, const double *o, double *m)
{
    for (int t = 0; t < a->T; t++)
        for (int h = 0; h < a->HV; h++) {
            const double *x = o + (t * a->HV + h) * a->dv, *z = proj + t * width + channels + h * a->dv;
            double s = 0;
            for (int j = 0; j < a->dv; j++)
                s += x[j] * x[j] / a->dv;
            for (int j = 0; j < a->dv; j++)
                m[(t * a->HV + h) * a->dv + j] = x[j] / sqrt(s + 1e-6) * a->w_norm[j] * oracle_silu(z[j]);
        }
}

/* out [T][hidden] */
static inline void oracle_layer(const struct oracle_layer *a, double *out)
{
    int channels = 2 * a->HK * a->dk + a->HV * a->dv, width = channels + a->HV * a->dv + 2 * a->HV, nv = a->HV * a->dv;
    double *proj = calloc((size_t)(a->T * width), sizeof *proj), *mix = calloc((size_t)(a->T * channels), sizeof *mix);
    double *m = calloc((size_t)(a->T * nv), sizeof *m), *all = calloc((size_t)(a->T * (2 * a->HK * a->dk + 2 * nv + 2 * a->HV)), sizeof *all);
    struct oracle_core c = {.q = all};
    c.k = c.q + a->T * a->HK * a->dk;
    c.v = c.k + a->T * a->HK * a->dk;
    c.o = c.v + a->T * nv;
    c.g = c.o + a->T * nv;
    c.beta = c.g + a->T * a->HV;
    oracle_linear(proj, a->x, a->w_in, a->T, a->hidden, width);
    oracle_conv(a, proj, width, channels, mix);
    oracle_prepare(a, proj, width, mix, channels, &c);
    gdn_oracle(&(struct gdn_oracle){.T = a->T,
                                    .HK = a->HK,
                                    .HV = a->HV,
                                    .dk = a->dk,
                                    .dv = a->dv,
                                    .nseg = a->nseg,
                                    .cu = a->cu,
                                    .scale = 1 / sqrt(a->dk),
                                    .q = c.q,
                                    .k = c.k,
                                    .v = c.v,
                                    .g = c.g,
                                    .beta = c.beta,
                                    .o = c.o});
    oracle_norm(a, proj, width, channels, c.o, m);
    oracle_linear(out, m, a->w_out, a->T, nv, a->hidden);
    free(proj), free(mix), free(m), free(all);
}
