/* values.c - what a step computed, brought to the host after the clock has stopped. */
#include "kernels/model/model_impl.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <math.h>

static void read_back(struct model *m, void *host, const void *device, size_t bytes)
{
    dev_download(m->rank.stream, host, device, bytes, SITE_HERE);
}

void model_read(struct model *m, float *outputs, float *dinputs, float *grads)
{
    size_t bytes = (size_t)(model_floats(m) * m->shape->microbatches) * sizeof(float);
    if (outputs)
        read_back(m, outputs, m->outputs, bytes);
    if (dinputs)
        read_back(m, dinputs, m->dinputs, bytes);
    if (grads)
        read_back(m, grads, m->grads, (size_t)m->stack.floats * sizeof(float));
}

uint64_t rows_hash(const float *rows, const int64_t *numbers, int64_t n, int64_t width)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += XXH3_64bits_withSeed(rows + i * width, (size_t)width * sizeof *rows, (uint64_t)numbers[i]);
    return sum;
}

/* Outputs and input gradients, row by row: a row's number counts tokens through all micro-batches. Padding has none. */
static void hash_rows(struct model *m, struct step_values *v, const float *outputs, const float *dinputs)
{
    int64_t rows = shape_own_rows(m->shape), hidden = m->shape->hidden;
    for (int64_t b = 0; b < m->shape->microbatches; b++)
        for (int64_t i = 0; i < rows; i++) {
            int64_t token = m->turns[b].tokens[i], number = b * m->shape->tokens + token, at = (b * rows + i) * hidden;
            if (token >= m->shape->tokens)
                continue;
            v->out_rows += rows_hash(outputs + at, &number, 1, hidden);
            v->dx_rows += rows_hash(dinputs + at, &number, 1, hidden);
        }
}

void model_values(struct model *m, struct step_values *out)
{
    *out = (struct step_values){.loss = NAN, .grad_norm = NAN};
    if (!device_has_storage(m->rank.device))
        return;
    struct arena a = {0};
    int64_t n = model_floats(m) * m->shape->microbatches;
    float *outputs = arena_array(&a, float, n), *dinputs = arena_array(&a, float, n), *flat = arena_array(&a, float, m->stack.floats);
    double sums[SUMS];
    *out = (struct step_values){0};
    read_back(m, sums, m->sums, sizeof sums);
    out->loss = sums[SUM_LOSS];
    out->grad_norm = sqrt(sums[SUM_INPUT_GRADS] + sums[SUM_PARAM_GRADS]);
    model_read(m, outputs, dinputs, flat);
    out->grad_hash = stack_hash(&m->stack, flat);
    hash_rows(m, out, outputs, dinputs);
    read_back(m, flat, m->params, (size_t)m->stack.floats * sizeof *flat);
    out->param_hash = stack_hash(&m->stack, flat);
    arena_free(&a);
}
