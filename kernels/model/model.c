/* model.c - a model's life and its steps. */
#include "kernels/model/model_impl.h"
#include "kernels/ops/elementwise.h"

#include <stdlib.h>

static void *device_floats(struct model *m, int64_t n)
{
    return dev_alloc(m->rank.device, (size_t)n * sizeof(float));
}

static void upload_params(struct model *m)
{
    if (!device_has_storage(m->rank.device))
        return;
    struct arena a = {0};
    float *host = arena_array(&a, float, m->layout.floats);
    param_draw(host, &m->layout, m->shape, PARAM_INIT_DEFAULT, m->config->seed);
    dtype_round_host(m->shape->dtype, host, m->layout.floats);
    dev_upload_async(m->rank.stream, m->params, host, (size_t)m->layout.floats * sizeof(float));
    arena_free(&a);
}

static void allocate(struct model *m)
{
    int64_t n = model_floats(m) * m->shape->microbatches;
    m->params = device_floats(m, m->layout.floats);
    m->grads = device_floats(m, m->layout.floats);
    m->sums = dev_alloc(m->rank.device, SUMS * sizeof(double));
    m->inputs = device_floats(m, n);
    m->outputs = device_floats(m, n);
    m->dinputs = device_floats(m, n);
    m->marks = calloc((size_t)(2 * m->shape->microbatches), sizeof *m->marks);
    for (int64_t i = 0; m->marks && i < 2 * m->shape->microbatches; i++)
        m->marks[i] = dev_event_open(m->rank.device);
    upload_params(m);
}

static bool open_comms(struct model *m, struct comm_world *w, int rank, struct err *e)
{
    if (m->shape->cp == 1)
        return true;
    m->rank.comm = comm_open(w, rank, "cp", e);
    m->grad = m->rank.comm ? comm_open(w, rank, "grad", e) : NULL;
    return m->grad != NULL;
}

struct model *model_open(const struct run_config *c, struct comm_world *w, int rank, struct err *e)
{
    static const enum dev_number numbers[] = {[DTYPE_FP32] = DEV_FP32, [DTYPE_BF16] = DEV_BF16, [DTYPE_FP16] = DEV_FP16};
    struct model *m = calloc(1, sizeof *m);
    if (!m) {
        fail(e, ERR_FAIL, "rank %d: out of memory", rank);
        return NULL;
    }
    m->config = c;
    m->shape = &c->shape;
    m->rank = (struct cp_rank){.shape = &c->shape, .rank = rank, .device = device_open(c->device, rank, rank, e)};
    if (!m->rank.device || !open_comms(m, w, rank, e)) {
        model_close(m);
        return NULL;
    }
    m->rank.stream = device_stream(m->rank.device);
    m->rank.kv = &m->plans;
    device_host_cost(m->rank.device, c->host_cost_ns);
    device_number(m->rank.device, numbers[c->shape.dtype]);
    if (rank == (w ? comm_world_first(w) : 0))
        dev_meta("backend", device_backend_name(m->rank.device));
    param_layout(&m->layout, m->shape);
    allocate(m);
    return m;
}

void model_close(struct model *m)
{
    if (!m)
        return;
    for (int64_t i = 0; m->marks && i < 2 * m->shape->microbatches; i++)
        dev_event_close(m->marks[i]);
    free(m->marks);
    void *const buffers[] = {m->params, m->grads, m->sums, m->inputs, m->outputs, m->dinputs};
    for (size_t i = 0; m->rank.device && i < sizeof buffers / sizeof *buffers; i++)
        dev_free(m->rank.device, buffers[i]);
    if (m->rank.device)
        kv_cache_clear(&m->plans);
    comm_close(m->rank.comm);
    comm_close(m->grad);
    device_close(m->rank.device);
    arena_free(&m->arena);
    free(m);
}

static void upload_inputs(struct model *m, int64_t step)
{
    struct arena a = {0};
    int64_t n = model_floats(m);
    if (!device_has_storage(m->rank.device))
        return;
    float *host = arena_array(&a, float, n);
    for (int64_t b = 0; b < m->shape->microbatches; b++) {
        batch_inputs(host, m->config, &m->packs[b], m->rank.rank, step, b);
        dtype_round_host(m->shape->dtype, host, n);
        dev_upload_async(m->rank.stream, m->inputs + b * n, host, (size_t)n * sizeof(float));
    }
    arena_free(&a);
}

/* Every gradient counts once: parameter gradients are the same on all ranks when they are squared, inputs are not. */
static void reduce(struct model *m)
{
    if (m->grad)
        comm_all_reduce_f32(m->grad, m->rank.stream, m->grads, m->layout.floats);
    op_elementwise_sumsq(m->rank.stream,
                         &(struct elementwise_sumsq_args){.x = m->grads, .sum = m->sums + SUM_PARAM_GRADS, .n = m->layout.floats, .factor = 1});
    if (m->grad)
        comm_all_reduce_f64(m->grad, m->rank.stream, m->sums, SUM_PARAM_GRADS);
}

static bool train_step(struct model *m, const char *range, int64_t index, struct err *e)
{
    DEV_RANGE(m->rank.device, range, index);
    dev_set_async(m->rank.stream, m->grads, 0, (size_t)m->layout.floats * sizeof(float));
    dev_set_async(m->rank.stream, m->sums, 0, SUMS * sizeof(double));
    for (int64_t b = 0; b < m->shape->microbatches; b++)
        if (!model_pass(m, b, e))
            return false;
    reduce(m);
    dev_device_sync(m->rank.device, SITE_HERE);
    return true;
}

bool model_step(struct model *m, int64_t step, const char *range, int64_t index, struct step_times *out, struct err *e)
{
    arena_free(&m->arena);
    m->packs = config_packs(m->config, step, &m->arena);
    upload_inputs(m, step);
    dev_device_sync(m->rank.device, SITE_HERE);
    if (m->grad)
        comm_barrier(m->grad);
    dev_memory_reset_peak(m->rank.device);
    int64_t start = dev_now(m->rank.device);
    if (!train_step(m, range, index, e))
        return false;
    *out = (struct step_times){.step_ns = dev_now(m->rank.device) - start, .peak_bytes = dev_memory_peak(m->rank.device)};
    for (int64_t b = 0; b < m->shape->microbatches; b++)
        out->fwd_ns += dev_event_time(m->marks[2 * b + 1]) - dev_event_time(m->marks[2 * b]);
    return true;
}

const struct param_layout *model_params(const struct model *m)
{
    return &m->layout;
}
