/* model.c - a model's life and its steps. */
#include "kernels/model/model_impl.h"
#include "kernels/model/tokens.h"
#include "kernels/ops/elementwise.h"

#include <stdlib.h>

static void upload_params(struct model *m)
{
    if (!device_has_storage(m->rank.device))
        return;
    struct arena a = {0};
    float *host = arena_array(&a, float, m->net.floats);
    stack_draw(host, &m->stack, m->config->seed);
    net_draw(host, &m->net, m->config->seed);
    dev_upload_async(m->rank.stream, m->params, host, (size_t)m->net.floats * sizeof(float));
    arena_free(&a);
}

static void allocate(struct model *m)
{
    int64_t n = model_floats(m) * m->shape->microbatches;
    m->params = dev_alloc_rows(m->rank.device, m->net.floats);
    m->grads = dev_alloc(m->rank.device, (size_t)m->net.floats * sizeof *m->grads);
    m->sums = dev_alloc(m->rank.device, SUMS * sizeof(double));
    m->inputs = dev_alloc_rows(m->rank.device, n);
    m->outputs = dev_alloc_rows(m->rank.device, n);
    m->dinputs = dev_alloc_rows(m->rank.device, n);
    if (m->net.vocab) {
        size_t bytes = (size_t)(shape_own_rows(m->shape) * m->shape->microbatches) * sizeof *m->ids;
        m->ids = dev_alloc(m->rank.device, bytes);
        m->targets = dev_alloc(m->rank.device, bytes);
    }
    m->marks = calloc((size_t)(MARKS * m->shape->microbatches), sizeof *m->marks);
    for (int64_t i = 0; m->marks && i < MARKS * m->shape->microbatches; i++)
        m->marks[i] = dev_event_open(m->rank.device);
    upload_params(m);
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
    m->number = rank;
    m->rank = (struct cp_rank){.device = device_open(c->device, rank, rank, e)};
    if (!m->rank.device || !model_comms_open(m, w, e)) {
        model_close(m);
        return NULL;
    }
    m->rank.stream = device_stream(m->rank.device);
    m->rank.kv = &m->plans;
    device_host_cost(m->rank.device, c->host_cost_ns);
    device_eager(m->rank.device, c->eager);
    device_number(m->rank.device, numbers[c->shape.dtype]);
    if (rank == (w ? comm_world_first(w) : 0))
        dev_meta("backend", device_backend_name(m->rank.device));
    stack_init(&m->stack, c, rank % shape_tp(m->shape), device_has_storage(m->rank.device), &m->stack_arena);
    net_init(&m->net, c, &m->stack);
    allocate(m);
    return m;
}

void model_close(struct model *m)
{
    if (!m)
        return;
    for (int64_t i = 0; m->marks && i < MARKS * m->shape->microbatches; i++)
        dev_event_close(m->marks[i]);
    free(m->marks);
    void *const buffers[] = {m->params, m->grads, m->sums, m->inputs, m->outputs, m->dinputs, m->ids, m->targets};
    for (size_t i = 0; m->rank.device && i < sizeof buffers / sizeof *buffers; i++)
        dev_free(m->rank.device, buffers[i]);
    if (m->rank.device)
        kv_cache_clear(&m->plans);
    model_comms_close(m);
    device_close(m->rank.device);
    arena_free(&m->arena);
    arena_free(&m->stack_arena);
    free(m);
}

static const struct cp_group *group_of(const struct model *m, int cp)
{
    int i = 0;
    while (m->groups[i].shape.cp != cp)
        i++;
    return &m->groups[i];
}

/* Own rows of a micro-batch: the TP rank's share of the CP rank's. */
static void plan_rows(struct model *m, struct turn *t, const struct packing *whole)
{
    int64_t own = shape_own_rows(m->shape), *tokens = arena_array(&m->arena, int64_t, own), *padding = arena_array(&m->arena, int64_t, own);
    const int64_t *numbers = packing_numbers(whole, &m->arena), first = t->at.group * t->pack.total;
    const int64_t *rows = batch_rows(&t->pack, t->at.cp, t->at.rank, m->config->mode->entry_layout, &m->arena);
    for (int64_t i = 0; i < own; i++) {
        tokens[i] = numbers[first + rows[t->at.tp_rank * own + i]];
        if (tokens[i] >= whole->total)
            padding[t->npadding++] = i;
    }
    t->tokens = tokens;
    t->padding = padding;
}

/* Where documents end, for targets. */
static void plan_documents(struct model *m, struct turn *t, const struct packing *whole)
{
    t->ends = arena_array(&m->arena, int64_t, whole->sequences + 1);
    for (int64_t i = 0, end = 0; i < whole->sequences; i++) {
        int64_t length = whole->valid ? whole->valid[i] : whole->cu[i + 1] - whole->cu[i];
        end += length;
        if (length)
            t->ends[t->documents++] = end;
    }
}

static void plan_step(struct model *m, int64_t step)
{
    struct packing *packs = config_packs(m->config, step, &m->arena);
    m->turns = arena_array(&m->arena, struct turn, m->shape->microbatches);
    m->tokens = 0;
    for (int64_t b = 0; b < m->shape->microbatches; b++) {
        struct turn *t = &m->turns[b];
        t->at = place_of(m->config, b, m->number);
        t->group = group_of(m, t->at.cp);
        t->pack = place_pack(&packs[b], &t->at, shape_rows(m->shape), &m->arena);
        if (device_has_storage(m->rank.device) || packs[b].valid) /* without either nobody asks which token a row is */
            plan_rows(m, t, &packs[b]);
        plan_documents(m, t, &packs[b]);
        m->tokens += packs[b].total - packing_padded(&packs[b]) - (m->net.vocab ? t->documents : 0);
    }
}

static void upload_ids(struct model *m, int64_t step)
{
    int64_t own = shape_own_rows(m->shape);
    size_t bytes = (size_t)own * sizeof(int64_t);
    for (int64_t b = 0; b < m->shape->microbatches; b++) {
        struct arena a = {0};
        const struct turn *t = &m->turns[b];
        int64_t n = t->documents ? t->ends[t->documents - 1] : 0, *ids = arena_array(&a, int64_t, n + 1), *next = arena_array(&a, int64_t, n + 1);
        int64_t *mine = arena_array(&a, int64_t, own), *targets = arena_array(&a, int64_t, own);
        tokens_of(m->config->text, m->config, step, b, t->ends, n, ids, next);
        for (int64_t i = 0; i < own; i++) {
            bool padding = t->tokens[i] >= n;
            mine[i] = padding ? 0 : ids[t->tokens[i]];
            targets[i] = padding ? -1 : next[t->tokens[i]];
        }
        dev_upload_async(m->rank.stream, m->ids + b * own, mine, bytes);
        dev_upload_async(m->rank.stream, m->targets + b * own, targets, bytes);
        arena_free(&a);
    }
}

static void upload_inputs(struct model *m, int64_t step)
{
    struct arena a = {0};
    int64_t n = model_floats(m);
    if (!device_has_storage(m->rank.device))
        return;
    if (m->net.vocab) {
        upload_ids(m, step);
        return;
    }
    float *host = arena_array(&a, float, n);
    for (int64_t b = 0; b < m->shape->microbatches; b++) {
        batch_inputs(host, m->config, m->turns[b].tokens, shape_own_rows(m->shape), step, b);
        dtype_round_host(m->shape->dtype, host, n);
        dev_upload_async(m->rank.stream, m->inputs + b * n, host, (size_t)n * sizeof(float));
    }
    arena_free(&a);
}

/* Data, clipping, logging: many calls of the host, so that drawn costs even out. */
static void between_steps(struct model *m)
{
    enum { PIECE_NS = 1000000 };
    for (int64_t left = m->config->host_step_ns; left > 0; left -= PIECE_NS)
        dev_host_work(m->rank.device, left < PIECE_NS ? left : PIECE_NS);
}

static bool train_step(struct model *m, const char *range, int64_t index, struct err *e)
{
    DEV_RANGE(m->rank.device, range, index);
    dev_set_async(m->rank.stream, m->grads, 0, (size_t)m->net.floats * sizeof(float));
    dev_set_async(m->rank.stream, m->sums, 0, SUMS * sizeof(double));
    for (int64_t b = 0; b < m->shape->microbatches; b++)
        if (!model_pass(m, b, e))
            return false;
    model_reduce(m);
    if (m->update)
        m->update(m, m->update_ctx);
    dev_device_sync(m->rank.device, SITE_HERE);
    if (m->update)
        between_steps(m);
    return true;
}

bool model_step(struct model *m, int64_t step, const char *range, int64_t index, struct step_times *out, struct err *e)
{
    arena_free(&m->arena);
    plan_step(m, m->config->one_batch ? 0 : step);
    upload_inputs(m, m->config->one_batch ? 0 : step);
    dev_device_sync(m->rank.device, SITE_HERE);
    if (m->all)
        comm_barrier(m->all);
    dev_memory_reset_peak(m->rank.device);
    int64_t start = dev_now(m->rank.device);
    if (!train_step(m, range, index, e))
        return false;
    *out = (struct step_times){.step_ns = dev_now(m->rank.device) - start, .peak_bytes = dev_memory_peak(m->rank.device)};
    for (int64_t b = 0; b < m->shape->microbatches; b++) {
        struct dev_event **at = m->marks + MARKS * b;
        out->fwd_ns += dev_event_time(at[MARK_TURN]) - dev_event_time(at[MARK_BEGIN]);
        out->pass_ns += dev_event_time(at[MARK_END]) - dev_event_time(at[MARK_BEGIN]);
    }
    return true;
}
