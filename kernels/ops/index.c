/* index.c - the launches of the index kernels, and the sort; the other bodies are in index_body.h. */
#include "kernels/ops/index_body.h"
#include "kernels/ops/op.h"

static struct cost index_cost(const void *args)
{
    const struct index_args *x = args;
    return (struct cost){.bytes = x->moved};
}

static void launch(struct stream *s, const struct kernel *k, struct index_args x, int values, int masks)
{
    x.moved = (double)x.n * (values * (double)sizeof(int64_t) + masks);
    dev_launch(s, k, &x, sizeof x);
}

/* Merges the neighbouring runs [at, middle) and [middle, end) of `from` into `to`; equal keys keep their order. */
static void merge(int64_t *to, const int64_t *from, const int64_t *keys, int64_t at, int64_t middle, int64_t end)
{
    for (int64_t i = at, j = middle, k = at; k < end; k++)
        to[k] = from[j == end || (i < middle && keys[from[i]] <= keys[from[j]]) ? i++ : j++];
}

/* Bottom-up merge sort of the numbers 0 .. n-1 by key; c is scratch of n values. */
static void index_argsort_cpu(const struct index_args *x)
{
    int64_t *out = x->out, *from = out, *to = (int64_t *)x->c, n = x->n;
    const int64_t *keys = x->a;
    for (int64_t i = 0; i < n; i++)
        from[i] = i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t at = 0; at < n; at += 2 * run) {
            int64_t middle = at + run < n ? at + run : n, end = at + 2 * run < n ? at + 2 * run : n;
            merge(to, from, keys, at, middle, end);
        }
        int64_t *swap = from;
        from = to, to = swap;
    }
    if (from != out)
        memcpy(out, from, (size_t)n * sizeof *out);
}

OP_KERNEL_PRICED(index_arange, index_cost, true);
OP_KERNEL_PRICED(index_diff, index_cost, true);
OP_KERNEL_PRICED(index_compare, index_cost, true);
OP_KERNEL_PRICED(index_where, index_cost, true);
OP_KERNEL_PRICED(index_any, index_cost, true);
OP_KERNEL_PRICED(index_differences, index_cost, true);
OP_KERNEL_PRICED(index_bucketize, index_cost, true);
OP_KERNEL_PRICED(index_argsort, index_cost, true);
OP_KERNEL_PRICED(index_gather, index_cost, true);
OP_KERNEL_PRICED(index_scatter, index_cost, true);
OP_KERNEL_PRICED(index_scatter_value, index_cost, true);
OP_KERNEL_PRICED(index_add_scalar, index_cost, true);
OP_KERNEL_PRICED(index_add, index_cost, true);
OP_KERNEL_PRICED(index_sub_scalar, index_cost, true);
OP_KERNEL_PRICED(index_sub, index_cost, true);
OP_KERNEL_PRICED(index_rsub_scalar, index_cost, true);
OP_KERNEL_PRICED(index_rsub, index_cost, true);
OP_KERNEL_PRICED(index_mul_scalar, index_cost, true);
OP_KERNEL_PRICED(index_mul, index_cost, true);
OP_KERNEL_PRICED(index_div_scalar, index_cost, true);
OP_KERNEL_PRICED(index_div, index_cost, true);
OP_KERNEL_PRICED(index_mod_scalar, index_cost, true);
OP_KERNEL_PRICED(index_mod, index_cost, true);

void index_arange(struct stream *s, int64_t *out, int64_t n, int64_t start)
{
    if (n > 0)
        launch(s, &index_arange_kernel, (struct index_args){.out = out, .n = n, .value = start}, 1, 0);
}

void index_diff(struct stream *s, int64_t *out, const int64_t *in, int64_t n)
{
    if (n > 1)
        launch(s, &index_diff_kernel, (struct index_args){.out = out, .a = in, .n = n - 1}, 2, 0);
}

void index_scalar(struct stream *s, int64_t *out, const int64_t *a, int64_t n, enum index_op op, int64_t b)
{
    static const struct kernel *const kernels[] = {
        [INDEX_ADD] = &index_add_scalar_kernel, [INDEX_SUB] = &index_sub_scalar_kernel, [INDEX_RSUB] = &index_rsub_scalar_kernel,
        [INDEX_MUL] = &index_mul_scalar_kernel, [INDEX_DIV] = &index_div_scalar_kernel, [INDEX_MOD] = &index_mod_scalar_kernel};
    if (n > 0)
        launch(s, kernels[op], (struct index_args){.out = out, .a = a, .n = n, .value = b}, 2, 0);
}

void index_binary(struct stream *s, int64_t *out, const int64_t *a, const int64_t *b, int64_t n, enum index_op op)
{
    static const struct kernel *const kernels[] = {
        [INDEX_ADD] = &index_add_kernel, [INDEX_SUB] = &index_sub_kernel, [INDEX_RSUB] = &index_rsub_kernel,
        [INDEX_MUL] = &index_mul_kernel, [INDEX_DIV] = &index_div_kernel, [INDEX_MOD] = &index_mod_kernel};
    if (n > 0)
        launch(s, kernels[op], (struct index_args){.out = out, .a = a, .b = b, .n = n}, 3, 0);
}

void index_compare(struct stream *s, uint8_t *mask, const int64_t *a, int64_t n, enum index_cmp cmp, int64_t b)
{
    if (n > 0)
        launch(s, &index_compare_kernel, (struct index_args){.out = mask, .a = a, .n = n, .value = b, .op = cmp}, 1, 1);
}

void index_where(struct stream *s, int64_t *out, const uint8_t *mask, const int64_t *yes, const int64_t *no, int64_t n)
{
    if (n > 0)
        launch(s, &index_where_kernel, (struct index_args){.out = out, .a = mask, .b = yes, .c = no, .n = n}, 2, 1);
}

void index_any(struct stream *s, uint8_t *flag, const uint8_t *mask, int64_t n)
{
    launch(s, &index_any_kernel, (struct index_args){.out = flag, .a = mask, .n = n}, 0, 1);
}

void index_differences(struct stream *s, int64_t *out, const int64_t *a, const int64_t *b, int64_t n)
{
    launch(s, &index_differences_kernel, (struct index_args){.out = out, .a = a, .b = b, .n = n}, 2, 0);
}

void index_bucketize(struct stream *s, int64_t *out, const int64_t *values, int64_t n, const int64_t *bounds, int64_t nbounds)
{
    if (n > 0)
        launch(s, &index_bucketize_kernel, (struct index_args){.out = out, .a = values, .b = bounds, .n = n, .m = nbounds}, 2, 0);
}

void index_argsort(struct stream *s, int64_t *out, const int64_t *keys, int64_t n)
{
    if (n <= 0)
        return;
    int64_t *scratch = dev_alloc_index(stream_device(s), (size_t)n * sizeof *scratch);
    int passes = 1;
    for (int64_t run = 1; run < n; run *= 2)
        passes++;
    launch(s, &index_argsort_kernel, (struct index_args){.out = out, .a = keys, .c = scratch, .n = n}, 3 * passes, 0);
    dev_free(stream_device(s), scratch);
}

void index_gather(struct stream *s, int64_t *out, const int64_t *values, const int64_t *index, int64_t n)
{
    if (n > 0)
        launch(s, &index_gather_kernel, (struct index_args){.out = out, .a = values, .b = index, .n = n}, 3, 0);
}

void index_scatter(struct stream *s, int64_t *out, const int64_t *values, const int64_t *index, int64_t n)
{
    if (n > 0)
        launch(s, &index_scatter_kernel, (struct index_args){.out = out, .a = values, .b = index, .n = n}, 3, 0);
}

void index_scatter_value(struct stream *s, int64_t *out, int64_t value, const int64_t *index, int64_t n)
{
    if (n > 0)
        launch(s, &index_scatter_value_kernel, (struct index_args){.out = out, .b = index, .n = n, .value = value}, 2, 0);
}
