/* gdn_oracle.h - the gated delta rule token by token in double, forward and backward: the definition itself.
 *
 * Head by head and segment by segment; no chunks, no tricks. All tensors as in kernels/ops/gdn.h but dense.
 */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct gdn_oracle {
    int T, HK, HV, dk, dv, nseg;
    const int64_t *cu;
    double scale;
    const double *q, *k, *v, *g, *beta;
    const double *h_in;         /* [HV][dk][dv] or NULL */
    double *o, *h_out;          /* h_out: of the last non-empty segment */
    const double *d_o, *dh_out; /* dh_out or NULL */
    double *dq, *dk_, *dv_, *dg, *dbeta, *dh_in;
};

/* One token: x [dk][dv] becomes the state after it; u [dv]. */
static inline void oracle_token(const struct gdn_oracle *a, int64_t t, int h, double *x, double *u)
{
    const double *k = a->k + (t * a->HK + h / (a->HV / a->HK)) * a->dk, *v = a->v + (t * a->HV + h) * a->dv;
    double alpha = exp(a->g[t * a->HV + h]), beta = a->beta[t * a->HV + h];
    for (int i = 0; i < a->dk * a->dv; i++)
        x[i] *= alpha;
    for (int j = 0; j < a->dv; j++) {
        double r = 0;
        for (int i = 0; i < a->dk; i++)
            r += x[i * a->dv + j] * k[i];
        u[j] = beta * (v[j] - r);
    }
    for (int i = 0; i < a->dk; i++)
        for (int j = 0; j < a->dv; j++)
            x[i * a->dv + j] += k[i] * u[j];
}

/* Reverse of one token. before: state before it; after, u: of it; d: gradient of the state, after -> before. */
static inline void oracle_token_back(const struct gdn_oracle *a, int64_t t, int h, const double *before, const double *after, const double *u,
                                     double *d)
{
    int hk = h / (a->HV / a->HK), dk = a->dk, dv = a->dv;
    const double *q = a->q + (t * a->HK + hk) * dk, *k = a->k + (t * a->HK + hk) * dk, *d_o = a->d_o + (t * a->HV + h) * dv;
    double *dq = a->dq + (t * a->HK + hk) * dk, *dkk = a->dk_ + (t * a->HK + hk) * dk, *dvv = a->dv_ + (t * a->HV + h) * dv;
    double alpha = exp(a->g[t * a->HV + h]), beta = a->beta[t * a->HV + h], dbeta = 0, dg = 0;
    for (int i = 0; i < dk; i++)
        for (int j = 0; j < dv; j++) {
            d[i * dv + j] += a->scale * q[i] * d_o[j];
            dq[i] += a->scale * after[i * dv + j] * d_o[j];
            dkk[i] += d[i * dv + j] * u[j];
        }
    for (int j = 0; j < dv; j++) {
        double du = 0;
        for (int i = 0; i < dk; i++)
            du += d[i * dv + j] * k[i];
        dvv[j] = beta * du;
        dbeta += beta == 0 ? 0 : du * u[j] / beta;
        for (int i = 0; i < dk; i++) {
            d[i * dv + j] -= k[i] * beta * du;
            dkk[i] -= alpha * before[i * dv + j] * beta * du;
        }
    }
    for (int i = 0; i < dk * dv; i++) {
        dg += d[i] * alpha * before[i];
        d[i] *= alpha;
    }
    a->dg[t * a->HV + h] = dg;
    a->dbeta[t * a->HV + h] = dbeta;
}

static inline void oracle_out(const struct gdn_oracle *a, int64_t t, int h, const double *x)
{
    const double *q = a->q + (t * a->HK + h / (a->HV / a->HK)) * a->dk;
    for (int j = 0; j < a->dv; j++) {
        double s = 0;
        for (int i = 0; i < a->dk; i++)
            s += x[i * a->dv + j] * q[i];
        a->o[(t * a->HV + h) * a->dv + j] = a->scale * s;
    }
}

static inline void oracle_segment(const struct gdn_oracle *a, int h, int64_t from, int64_t to, bool first, bool last)
{
    int64_t size = (int64_t)a->dk * a->dv;
    double *x = calloc((size_t)((to - from + 1) * size), sizeof *x), *u = calloc((size_t)((to - from) * a->dv), sizeof *u);
    double *d = calloc((size_t)size, sizeof *d);
    if (first && a->h_in)
        memcpy(x, a->h_in + h * size, sizeof *x * (size_t)size);
    for (int64_t t = 0; t < to - from; t++) {
        memcpy(x + (t + 1) * size, x + t * size, sizeof *x * (size_t)size);
        oracle_token(a, from + t, h, x + (t + 1) * size, u + t * a->dv);
        oracle_out(a, from + t, h, x + (t + 1) * size);
    }
    if (last && a->h_out)
        memcpy(a->h_out + h * size, x + (to - from) * size, sizeof *x * (size_t)size);
    if (last && a->dh_out)
        memcpy(d, a->dh_out + h * size, sizeof *d * (size_t)size);
    for (int64_t t = to - from - 1; a->d_o && t >= 0; t--)
        oracle_token_back(a, from + t, h, x + t * size, x + (t + 1) * size, u + t * a->dv, d);
    if (first && a->d_o && a->dh_in)
        memcpy(a->dh_in + h * size, d, sizeof *d * (size_t)size);
    free(x), free(u), free(d);
}

/* Forward, and backward when d_o is given. Gradients are overwritten. beta must not be 0. */
static inline void gdn_oracle(const struct gdn_oracle *a)
{
    int first = 0, last = a->nseg - 1;
    while (first < last && a->cu[first] == a->cu[first + 1])
        first++;
    while (last > first && a->cu[last] == a->cu[last + 1])
        last--;
    if (a->d_o) {
        memset(a->dq, 0, sizeof(double) * (size_t)a->T * (size_t)(a->HK * a->dk));
        memset(a->dk_, 0, sizeof(double) * (size_t)a->T * (size_t)(a->HK * a->dk));
    }
    for (int h = 0; h < a->HV; h++)
        for (int i = first; i <= last; i++)
            oracle_segment(a, h, a->cu[i], a->cu[i + 1], i == first, i == last);
}
