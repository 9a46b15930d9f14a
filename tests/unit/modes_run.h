/* modes_run.h - one layer of a mode on real ranks, from and to whole host tensors; what the tests of modes share. */
#pragma once
#include "tests/unit.h"

#include "kernels/model/batch.h"
#include "kernels/model/params.h"
#include "kernels/modes/gdn_core.h"
#include "kernels/modes/mode.h"
#include "kernels/ops/gemm.h"

#include <math.h>

/* Tensors are in global token order: x, dy, out, dx (tokens, hidden); parameters and gradients flat as in params.h. */
struct layer_case {
    const struct cp_mode *mode;
    struct cp_shape shape; /* layers 1, microbatches 1 */
    struct packing pack;   /* may hold empty slots */
    const float *params, *x, *dy;
};

struct layer_result {
    float *out, *dx;
    float **grads; /* [cp]: after the sum over the ranks, as each rank holds them */
};

struct layer_run {
    const struct layer_case *c;
    struct comm_world *world;
    struct packing compact; /* the pack without its empty slots */
    struct param_layout layout;
    struct layer_result *result;
};

static inline void layer_rows(const struct layer_run *run, int rank, const float *whole, float *own, float *back_to)
{
    const struct cp_shape *s = &run->c->shape;
    struct arena a = {0};
    const int64_t *rows = batch_rows(&run->compact, s->cp, rank, run->c->mode->entry_layout, &a);
    for (int64_t i = 0; i < shape_rows(s); i++)
        if (back_to)
            memcpy(back_to + rows[i] * s->hidden, own + i * s->hidden, (size_t)s->hidden * sizeof *own);
        else
            memcpy(own + i * s->hidden, whole + rows[i] * s->hidden, (size_t)s->hidden * sizeof *own);
    arena_free(&a);
}

static inline float *layer_upload(struct layer_run *run, struct cp_rank *r, const float *whole, float *own)
{
    size_t bytes = (size_t)(shape_rows(r->shape) * r->shape->hidden) * sizeof(float);
    float *v = dev_alloc(r->device, bytes);
    layer_rows(run, r->rank, whole, own, NULL);
    dev_upload_async(r->stream, v, own, bytes);
    return v;
}

static inline void layer_download(struct layer_run *run, struct cp_rank *r, const float *v, float *own, float *whole)
{
    dev_download(r->stream, own, v, (size_t)(shape_rows(r->shape) * r->shape->hidden) * sizeof(float), SITE_HERE);
    layer_rows(run, r->rank, NULL, own, whole);
}

/* Forward (twice with recompute, as the model does), backward, sum of the gradients. */
static inline bool layer_pass(struct layer_run *run, struct cp_rank *r, struct comm *grad, struct err *e)
{
    const struct layer_case *c = run->c;
    struct arena a = {0};
    struct layer_state st;
    int64_t n = shape_rows(r->shape) * r->shape->hidden, floats = run->layout.floats;
    size_t bytes = (size_t)n * sizeof(float), param_bytes = (size_t)floats * sizeof(float);
    float *own = arena_array(&a, float, n), *x = layer_upload(run, r, c->x, own), *dy = layer_upload(run, r, c->dy, own);
    float *params = dev_alloc(r->device, param_bytes), *grads = dev_alloc(r->device, param_bytes);
    float *y = dev_alloc(r->device, bytes), *dx = dev_alloc(r->device, bytes);
    struct layer_tensors w = param_layer(&run->layout, params, 0), g = param_layer(&run->layout, grads, 0);
    dev_upload_async(r->stream, params, c->params, param_bytes);
    dev_set_async(r->stream, grads, 0, param_bytes);
    bool ok = true;
    if (c->shape.recompute) {
        layer_state_init(&st, r->device, false);
        ok = c->mode->forward(r, &w, x, y, &st, e);
        layer_state_free(&st);
    }
    layer_state_init(&st, r->device, true);
    ok = ok && c->mode->forward(r, &w, x, y, &st, e) && c->mode->backward(r, &w, &g, x, dy, dx, &st, e);
    layer_state_free(&st);
    if (ok && grad)
        comm_all_reduce_f32(grad, r->stream, grads, floats);
    if (ok) {
        layer_download(run, r, y, own, run->result->out);
        layer_download(run, r, dx, own, run->result->dx);
        dev_download(r->stream, run->result->grads[r->rank], grads, param_bytes, SITE_HERE);
    }
    float *const all[] = {x, dy, params, grads, y, dx};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dev_free(r->device, all[i]);
    arena_free(&a);
    return ok;
}

static inline bool layer_rank(int rank, void *ctx, struct err *e)
{
    struct layer_run *run = ctx;
    struct cp_batch batch = {0};
    struct cp_rank r = {.shape = &run->c->shape, .rank = rank, .batch = &batch};
    struct comm *grad = NULL;
    r.device = device_open("cpu", rank, rank, e);
    if (!r.device)
        return false;
    r.stream = device_stream(r.device);
    if (run->c->shape.cp > 1) {
        r.comm = comm_open(run->world, rank, "cp", e);
        grad = comm_open(run->world, rank, "grad", e);
    }
    bool ok = (run->c->shape.cp == 1 || grad) && batch_open(&batch, &r, run->c->mode, &run->c->pack, e) && layer_pass(run, &r, grad, e);
    batch_close(&batch, &r);
    comm_close(r.comm);
    comm_close(grad);
    device_close(r.device);
    return ok;
}

/* False when the mode fails. *result lives in `a`. */
static inline bool layer_try(const struct layer_case *c, struct layer_result *result, struct arena *a, struct err *e)
{
    struct layer_result out = {0};
    struct layer_run run = {.c = c, .result = &out};
    int64_t n = c->shape.tokens * c->shape.hidden;
    param_layout(&run.layout, &c->shape);
    out.out = arena_array(a, float, n);
    out.dx = arena_array(a, float, n);
    out.grads = arena_array(a, float *, c->shape.cp);
    for (int i = 0; i < c->shape.cp; i++)
        out.grads[i] = arena_array(a, float, run.layout.floats);
    run.compact = (struct packing){.cu = arena_array(a, int64_t, c->pack.sequences + 1), .total = c->pack.total};
    for (int64_t i = 1; i <= c->pack.sequences; i++)
        if (c->pack.cu[i] > c->pack.cu[i - 1])
            run.compact.cu[++run.compact.sequences] = c->pack.cu[i];
    gemm_init();
    run.world = comm_world_open("threads", c->shape.cp, e);
    bool ok = run.world && ranks_run(c->shape.cp, layer_rank, &run, e);
    comm_world_close(run.world);
    *result = out;
    return ok;
}

/* Fails the test when the mode does. */
static inline struct layer_result layer_run(const struct layer_case *c, struct arena *a)
{
    struct layer_result out;
    struct err e = {0};
    if (!layer_try(c, &out, a, &e))
        fail_msg("%s, cp %d: %s", c->mode->name, c->shape.cp, e.msg);
    return out;
}

/* |got - want|_2 / |want|_2; of two zeros 0. */
static inline double rel_l2(const float *got, const float *want, int64_t n)
{
    double num = 0, den = 0;
    for (int64_t i = 0; i < n; i++) {
        num += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        den += (double)want[i] * want[i];
    }
    return num == 0 ? 0 : sqrt(num / den);
}

static inline struct packing pack_of(struct arena *a, const int64_t *lengths, int64_t n)
{
    struct packing p = {.cu = arena_array(a, int64_t, n + 1), .sequences = n};
    for (int64_t i = 0; i < n; i++)
        p.cu[i + 1] = p.cu[i] + lengths[i];
    p.total = p.cu[n];
    return p;
}

static inline float *random_floats(struct arena *a, int64_t n)
{
    float *v = arena_array(a, float, n);
    for (int64_t i = 0; i < n; i++)
        v[i] = (float)rnd_real();
    return v;
}
