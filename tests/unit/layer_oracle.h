/* layer_oracle.h - a whole Gated DeltaNet layer in double, straight from its definition (spec A.2), forward only: gradients
 * come from central differences of it. One token after the other, one head after the other. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ORACLE_MOST = 512 };

struct layer_oracle {
    int T, hidden, HK, HV, dk, dv, W, nseg;
    const int64_t *cu;
    /* w_in, w_conv, A_log, dt_bias, w_norm, w_out; then x, dy */
    double p[6][ORACLE_MOST], x[ORACLE_MOST], dy[ORACLE_MOST], out[ORACLE_MOST];
};

/* Sizes of the six parameters. */
static inline void oracle_sizes(const struct layer_oracle *l, int rows[6], int cols[6])
{
    int mix = 2 * l->HK * l->dk + l->HV * l->dv;
    const int r[6] = {mix + l->HV * l->dv + 2 * l->HV, mix, 1, 1, 1, l->hidden}, c[6] = {l->hidden, l->W, l->HV, l->HV, l->dv, l->HV * l->dv};
    memcpy(rows, r, sizeof r);
    memcpy(cols, c, sizeof c);
}

/* Row `row` of the projection of token t. */
static inline double oracle_project(const struct layer_oracle *l, int t, int row)
{
    double sum = 0;
    for (int i = 0; i < l->hidden; i++)
        sum += l->p[0][row * l->hidden + i] * l->x[t * l->hidden + i];
    return sum;
}

/* Channel ch after conv and SiLU; the sequence starts at `start`. */
static inline double oracle_conv(const struct layer_oracle *l, int t, int start, int ch)
{
    double sum = 0;
    for (int j = 0; j < l->W; j++)
        if (t - (l->W - 1) + j >= start)
            sum += l->p[1][ch * l->W + j] * oracle_project(l, t - (l->W - 1) + j, ch);
    return sum / (1 + exp(-sum));
}

static inline void oracle_unit(const struct layer_oracle *l, int t, int start, int first_channel, double *out)
{
    double sum = 1e-6;
    for (int i = 0; i < l->dk; i++)
        out[i] = oracle_conv(l, t, start, first_channel + i), sum += out[i] * out[i];
    for (int i = 0; i < l->dk; i++)
        out[i] /= sqrt(sum);
}

/* Head h of token t: moves the state on, adds its share of the output row. */
static inline void oracle_head(struct layer_oracle *l, int t, int start, int h, double *s)
{
    double q[16], k[16], o[16], square = 0;
    int hk = h / (l->HV / l->HK), v0 = 2 * l->HK * l->dk + h * l->dv, z0 = v0 + l->HV * l->dv, b0 = 2 * l->HK * l->dk + 2 * l->HV * l->dv;
    oracle_unit(l, t, start, hk * l->dk, q);
    oracle_unit(l, t, start, (l->HK + hk) * l->dk, k);
    double beta = 1 / (1 + exp(-oracle_project(l, t, b0 + h)));
    double alpha = exp(-exp(l->p[2][h]) * log1p(exp(oracle_project(l, t, b0 + l->HV + h) + l->p[3][h])));
    for (int j = 0; j < l->dv; j++) {
        double r = 0;
        for (int i = 0; i < l->dk; i++)
            s[i * l->dv + j] *= alpha, r += s[i * l->dv + j] * k[i];
        double u = beta * (oracle_conv(l, t, start, v0 + j) - r);
        o[j] = 0;
        for (int i = 0; i < l->dk; i++)
            s[i * l->dv + j] += k[i] * u, o[j] += s[i * l->dv + j] * q[i] / sqrt(l->dk);
        square += o[j] * o[j];
    }
    for (int j = 0; j < l->dv; j++) {
        double z = oracle_project(l, t, z0 + j), m = o[j] / sqrt(square / l->dv + 1e-6) * l->p[4][j] * z / (1 + exp(-z));
        for (int i = 0; i < l->hidden; i++)
            l->out[t * l->hidden + i] += l->p[5][i * l->HV * l->dv + h * l->dv + j] * m;
    }
}

/* Fills out; sum of out dy. */
static inline double layer_oracle(struct layer_oracle *l)
{
    double loss = 0;
    memset(l->out, 0, sizeof l->out);
    for (int n = 0; n < l->nseg; n++)
        for (int h = 0; h < l->HV; h++) {
            double s[256] = {0};
            for (int t = (int)l->cu[n]; t < l->cu[n + 1]; t++)
                oracle_head(l, t, (int)l->cu[n], h, s);
        }
    for (int i = 0; i < l->T * l->hidden; i++)
        loss += l->out[i] * l->dy[i];
    return loss;
}
