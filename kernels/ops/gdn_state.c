/* gdn_state.c - small dense maps, head by head. */
#include "kernels/ops/gdn_chunk.h"
#include "kernels/ops/gdn_state_body.h"

#include <string.h>

static size_t bytes_of(int64_t rows, int64_t cols)
{
    return sizeof(float) * (size_t)rows * (size_t)cols;
}

/* ---- composition ---- */

void gdn_map_compose_cpu(const struct gdn_map_compose_args *a)
{
    int dk = a->dk, dv = a->dv, E = dv + dk;
    for (int64_t at = 0; at < (int64_t)a->HV * dk * E; at += (int64_t)dk * E) {
        const float *later = a->later + at;
        float *out = a->out + at;
        MM_NN(out, E, 0, later + dv, E, a->earlier + at, E, dk, E, dk);
        for (int i = 0; i < dk; i++)
            for (int j = 0; j < dv; j++)
                out[(int64_t)i * E + j] += later[(int64_t)i * E + j];
    }
}

struct cost gdn_map_compose_cost(const struct gdn_map_compose_args *a)
{
    double map = (double)a->HV * a->dk * (a->dk + a->dv);
    return (struct cost){2 * map * a->dk, 12 * map};
}

/* ---- turning round: gdn_state_body.h ---- */

struct cost gdn_map_turn_cost(const struct gdn_map_turn_args *a)
{
    return (struct cost){0, 8.0 * a->HV * a->dk * (a->dk + a->dv)};
}

/* ---- gradient of a map from that of its result ---- */

/* [dh | dh h^T] of one head. */
static void outer(float *out, const float *dh, const float *h, int dk, int dv)
{
    int E = dv + dk;
    for (int i = 0; i < dk; i++) {
        memcpy(out + (int64_t)i * E, dh + (int64_t)i * dv, bytes_of(1, dv));
        if (!h)
            memset(out + (int64_t)i * E + dv, 0, bytes_of(1, dk));
    }
    if (h)
        MM_NT(out + dv, E, 0, dh, dv, h, dv, dk, dk, dv);
}

void gdn_map_outer_cpu(const struct gdn_map_outer_args *a)
{
    int64_t state = (int64_t)a->dk * a->dv;
    for (int64_t h = 0; h < a->HV; h++)
        outer(a->out + h * a->dk * (a->dk + a->dv), a->dh + h * state, a->h ? a->h + h * state : NULL, a->dk, a->dv);
}

struct cost gdn_map_outer_cost(const struct gdn_map_outer_args *a)
{
    double state = (double)a->HV * a->dk * a->dv;
    return (struct cost){2 * state * a->dk, 4.0 * a->HV * a->dk * (a->dk + a->dv) + 8 * state};
}

/* ---- derivative of the fold ---- */

size_t gdn_merge_grad_work(const struct gdn_merge_grad_args *a)
{
    return bytes_of(a->count + 2, (int64_t)a->dk * a->dv);
}

/* x[i] is the state before block first + i; d goes from the end to the start. */
static void merge_grad_head(const struct gdn_merge_grad_args *a, int64_t h)
{
    int dk = a->dk, dv = a->dv, E = dv + dk;
    int64_t state = (int64_t)dk * dv, block = (int64_t)a->HV * dk * E, at = a->first * block + h * dk * E;
    float *x = a->work, *d = x + a->count * state, *before = d + state;
    memset(x, 0, bytes_of(1, state));
    for (int i = 0; i + 1 < a->count; i++) {
        const float *sm = a->all + at + i * block;
        float *next = x + (i + 1) * state;
        for (int r = 0; r < dk; r++)
            memcpy(next + (int64_t)r * dv, sm + (int64_t)r * E, bytes_of(1, dv));
        if (i > 0)
            MM_NN(next, dv, 1, sm + dv, E, x + i * state, dv, dk, dv, dk);
    }
    memcpy(d, a->dx + h * state, bytes_of(1, state));
    for (int i = a->count - 1; i >= 0; i--) {
        outer(a->dall + at + i * block, d, i > 0 ? x + i * state : NULL, dk, dv);
        MM_TN(before, dv, 0, a->all + at + i * block + dv, E, d, dv, dk, dv, dk);
        memcpy(d, before, bytes_of(1, state));
    }
}

void gdn_merge_grad_cpu(const struct gdn_merge_grad_args *a)
{
    for (int64_t h = 0; h < a->HV && a->count > 0; h++)
        merge_grad_head(a, h);
}

struct cost gdn_merge_grad_cost(const struct gdn_merge_grad_args *a)
{
    double state = (double)a->HV * a->dk * a->dv, map = (double)a->HV * a->dk * (a->dk + a->dv);
    return (struct cost){6 * state * a->dk * a->count, 8 * map * a->count};
}

OP_DEFINE(gdn_map_compose);
OP_DEFINE(gdn_map_turn);
OP_DEFINE(gdn_map_outer);
GDN_OP(gdn_merge_grad, a);
