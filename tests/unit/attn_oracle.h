/* attn_oracle.h - softmax attention in double, pair by pair: the definition (spec E.1), forward and backward. */
#pragma once
#include "kernels/ops/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct attn_oracle { /* dense; gradients and o are overwritten */
    int64_t rows, keys;
    int H, Hk, d, e;
    const bool *see; /* [rows][keys] */
    double scale;
    const float *q, *k, *v, *d_o;
    double *o, *lse, *dq, *dk, *dv;
};

static inline double attn_oracle_score(const struct attn_oracle *a, int64_t i, int64_t j, int h)
{
    double s = 0;
    for (int x = 0; x < a->d; x++)
        s += (double)a->q[(i * a->H + h) * a->d + x] * a->k[(j * a->Hk + h / (a->H / a->Hk)) * a->d + x];
    return s * a->scale;
}

static inline double attn_oracle_dot(const double *x, const float *y, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

static inline void attn_oracle_row(const struct attn_oracle *a, int64_t i, int h, double *p)
{
    double top = -INFINITY, sum = 0, *o = a->o + (i * a->H + h) * a->e;
    int g = h / (a->H / a->Hk);
    for (int64_t j = 0; j < a->keys; j++) {
        p[j] = a->see[i * a->keys + j] ? attn_oracle_score(a, i, j, h) : -INFINITY;
        top = fmax(top, p[j]);
    }
    for (int64_t j = 0; j < a->keys; j++)
        sum += top == -INFINITY ? 0 : exp(p[j] - top);
    a->lse[i * a->H + h] = top + log(sum);
    for (int64_t j = 0; j < a->keys; j++) {
        p[j] = sum > 0 ? exp(p[j] - top) / sum : 0;
        for (int x = 0; x < a->e; x++)
            o[x] += p[j] * a->v[(j * a->Hk + g) * a->e + x];
    }
}

static inline void attn_oracle_row_back(const struct attn_oracle *a, int64_t i, int h, const double *p)
{
    const float *d_o = a->d_o + (i * a->H + h) * a->e, *q = a->q + (i * a->H + h) * a->d;
    double delta = attn_oracle_dot(a->o + (i * a->H + h) * a->e, d_o, a->e);
    for (int64_t j = 0; j < a->keys; j++) {
        int64_t row = j * a->Hk + h / (a->H / a->Hk);
        double dp = 0;
        for (int x = 0; x < a->e; x++) {
            dp += (double)d_o[x] * a->v[row * a->e + x];
            a->dv[row * a->e + x] += p[j] * d_o[x];
        }
        double ds = a->scale * p[j] * (dp - delta);
        for (int x = 0; x < a->d; x++) {
            a->dq[(i * a->H + h) * a->d + x] += ds * a->k[row * a->d + x];
            a->dk[row * a->d + x] += ds * q[x];
        }
    }
}

static inline void attn_oracle(const struct attn_oracle *a)
{
    double *p = calloc((size_t)a->keys + 1, sizeof *p);
    memset(a->o, 0, sizeof(double) * (size_t)(a->rows * a->H * a->e));
    memset(a->dq, 0, sizeof(double) * (size_t)(a->rows * a->H * a->d));
    memset(a->dk, 0, sizeof(double) * (size_t)(a->keys * a->Hk * a->d));
    memset(a->dv, 0, sizeof(double) * (size_t)(a->keys * a->Hk * a->e));
    for (int64_t i = 0; i < a->rows; i++)
        for (int h = 0; h < a->H; h++) {
            attn_oracle_row(a, i, h, p);
            attn_oracle_row_back(a, i, h, p);
        }
    free(p);
}
