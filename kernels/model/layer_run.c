/* layer_run.c - ranks as threads, each with one layer. */
#include "kernels/model/layer_run.h"
#include "kernels/layout/kv_cache.h"
#include "kernels/model/batch.h"
#include "kernels/ops/gemm.h"

#include <math.h>
#include <string.h>

struct run {
    const struct layer_case *c;
    struct comm_world *world;
    struct packing compact; /* the pack without its empty slots */
    struct param_layout layout;
    struct layer_result *result;
};

/* A rank's device memory. */
struct tensors {
    float *x, *dy, *y, *dx, *params, *grads;
};

/* own <- the rank's rows of whole, or the other way. */
static void rows(const struct run *run, int rank, float *whole, float *own, bool back)
{
    const struct cp_shape *s = &run->c->shape;
    struct arena a = {0};
    size_t bytes = (size_t)s->hidden * sizeof *own;
    const int64_t *row = batch_rows(&run->compact, s->cp, rank, run->c->mode->entry_layout, &a);
    for (int64_t i = 0; i < shape_rows(s); i++)
        if (back)
            memcpy(whole + row[i] * s->hidden, own + i * s->hidden, bytes);
        else
            memcpy(own + i * s->hidden, whole + row[i] * s->hidden, bytes);
    arena_free(&a);
}

static float *upload(const struct run *run, struct cp_rank *r, const float *whole)
{
    struct arena a = {0};
    int64_t n = shape_rows(r->shape) * r->shape->hidden;
    float *own = arena_array(&a, float, n), *v = dev_alloc(r->device, (size_t)n * sizeof *v);
    rows(run, r->rank, (float *)whole, own, false);
    dev_upload_async(r->stream, v, own, (size_t)n * sizeof *v);
    arena_free(&a);
    return v;
}

static void download(const struct run *run, struct cp_rank *r, const float *v, float *whole)
{
    struct arena a = {0};
    int64_t n = shape_rows(r->shape) * r->shape->hidden;
    float *own = arena_array(&a, float, n);
    dev_download(r->stream, own, v, (size_t)n * sizeof *v, SITE_HERE);
    rows(run, r->rank, whole, own, true);
    arena_free(&a);
}

static bool both_ways(const struct run *run, struct cp_rank *r, const struct tensors *t, struct err *e)
{
    const struct cp_mode *mode = run->c->mode;
    struct layer_tensors w = param_layer(&run->layout, t->params, 0), g = param_layer(&run->layout, t->grads, 0);
    struct layer_state st;
    bool ok = true;
    if (r->shape->recompute) {
        layer_state_init(&st, r->device, false);
        ok = mode->forward(r, &w, t->x, t->y, &st, e);
        layer_state_free(&st);
    }
    layer_state_init(&st, r->device, true);
    ok = ok && mode->forward(r, &w, t->x, t->y, &st, e) && mode->backward(r, &w, &g, t->x, t->dy, t->dx, &st, e);
    layer_state_free(&st);
    return ok;
}

static bool pass(const struct run *run, struct cp_rank *r, struct comm *grad, struct err *e)
{
    const struct layer_case *c = run->c;
    size_t bytes = (size_t)(shape_rows(r->shape) * r->shape->hidden) * sizeof(float), param_bytes = (size_t)run->layout.floats * sizeof(float);
    struct tensors t = {.x = upload(run, r, c->x), .dy = upload(run, r, c->dy)};
    float **const made[] = {&t.y, &t.dx, &t.params, &t.grads};
    for (int i = 0; i < 4; i++)
        *made[i] = dev_alloc(r->device, i < 2 ? bytes : param_bytes);
    dev_upload_async(r->stream, t.params, c->params, param_bytes);
    dev_set_async(r->stream, t.grads, 0, param_bytes);
    bool ok = both_ways(run, r, &t, e);
    if (ok && grad)
        comm_all_reduce_f32(grad, r->stream, t.grads, run->layout.floats);
    if (ok) {
        download(run, r, t.y, run->result->out);
        download(run, r, t.dx, run->result->dx);
        dev_download(r->stream, run->result->grads[r->rank], t.grads, param_bytes, SITE_HERE);
    }
    float *const all[] = {t.x, t.dy, t.y, t.dx, t.params, t.grads};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dev_free(r->device, all[i]);
    return ok;
}

static bool rank_main(int rank, void *ctx, struct err *e)
{
    struct run *run = ctx;
    const struct cp_shape *s = &run->c->shape;
    struct cp_batch batch = {0};
    struct kv_cache plans = {0};
    const char *backend = run->c->device ? run->c->device : "cpu";
    struct cp_rank r = {.shape = s, .rank = rank, .batch = &batch, .kv = &plans, .device = device_open(backend, rank, rank, e)};
    struct comm *grad = NULL;
    if (!r.device)
        return false;
    r.stream = device_stream(r.device);
    if (s->cp > 1) {
        r.comm = comm_open(run->world, rank, "cp", e);
        comm_set_rows(r.comm, s->dtype);
        grad = r.comm ? comm_open(run->world, rank, "grad", e) : NULL;
    }
    bool ok = (s->cp == 1 || grad) && batch_open(&batch, &r, &(struct batch_modes){run->c->mode, NULL}, &run->c->pack, e) && pass(run, &r, grad, e);
    batch_close(&batch, &r);
    kv_cache_clear(&plans);
    comm_close(r.comm);
    comm_close(grad);
    device_close(r.device);
    return ok;
}

static struct packing compacted(const struct packing *p, struct arena *a)
{
    struct packing out = {.cu = arena_array(a, int64_t, p->sequences + 1), .total = p->total};
    for (int64_t i = 1; i <= p->sequences; i++)
        if (p->cu[i] > p->cu[i - 1])
            out.cu[++out.sequences] = p->cu[i];
    return out;
}

bool layer_try(const struct layer_case *c, struct layer_result *result, struct arena *a, struct err *e)
{
    int64_t n = c->shape.tokens * c->shape.hidden;
    struct run run = {.c = c, .result = result, .compact = compacted(&c->pack, a)};
    param_layout(&run.layout, &c->shape);
    *result = (struct layer_result){arena_array(a, float, n), arena_array(a, float, n), arena_array(a, float *, c->shape.cp)};
    for (int i = 0; i < c->shape.cp; i++)
        result->grads[i] = arena_array(a, float, run.layout.floats);
    gemm_init();
    run.world = comm_world_open(c->comm ? c->comm : "threads", c->shape.cp, e);
    bool ok = run.world && ranks_run(c->shape.cp, rank_main, &run, e);
    comm_world_close(run.world);
    return ok;
}

struct distance distance_of(const float *got, const float *want, int64_t n)
{
    struct distance d = {0};
    double differences = 0, wants = 0, largest = 0;
    bool finite = true;
    for (int64_t i = 0; i < n; i++) {
        double x = (double)got[i] - want[i];
        finite = finite && isfinite(x);
        differences += x * x;
        wants += (double)want[i] * want[i];
        d.max_abs = fmax(d.max_abs, fabs(x));
        largest = fmax(largest, fabs(want[i]));
    }
    if (!finite)
        return (struct distance){INFINITY, INFINITY, INFINITY};
    d.max_rel_ref = d.max_abs == 0 ? 0 : d.max_abs / largest;
    d.rel_l2 = differences == 0 ? 0 : sqrt(differences / wants);
    return d;
}
