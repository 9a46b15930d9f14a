/* index.c - bodies of the index kernels: one plain loop each, so that a thread per element is the same code. */
#include "kernels/ops/index.h"

#include <string.h>

/* What every one of them takes; a body looks at what it needs. */
struct index_args {
    void *out;
    const void *a, *b, *c;
    int64_t n, m, value;
    int op;
    double moved; /* bytes read and written, for the cost */
};

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

/* A kernel index_NAME, its body to follow. */
#define BODY(NAME)                                                                                                                                   \
    static void run_##NAME(const void *args);                                                                                                        \
    static const struct kernel kernel_##NAME = {"index_" #NAME, run_##NAME, index_cost};                                                             \
    static void run_##NAME(const void *args)

BODY(arange)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    for (int64_t i = 0; i < x->n; i++)
        out[i] = x->value + i;
}

void index_arange(struct stream *s, int64_t *out, int64_t n, int64_t start)
{
    if (n > 0)
        launch(s, &kernel_arange, (struct index_args){.out = out, .n = n, .value = start}, 1, 0);
}

BODY(diff)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    const int64_t *in = x->a;
    for (int64_t i = 0; i < x->n; i++)
        out[i] = in[i + 1] - in[i];
}

void index_diff(struct stream *s, int64_t *out, const int64_t *in, int64_t n)
{
    if (n > 1)
        launch(s, &kernel_diff, (struct index_args){.out = out, .a = in, .n = n - 1}, 2, 0);
}

static int64_t apply(int op, int64_t a, int64_t b)
{
    switch ((enum index_op)op) {
    case INDEX_ADD:
        return a + b;
    case INDEX_SUB:
        return a - b;
    case INDEX_RSUB:
        return b - a;
    case INDEX_MUL:
        return a * b;
    case INDEX_DIV:
        return a / b;
    case INDEX_MOD:
        return a % b;
    }
    return 0;
}

static void run_scalar(const void *args)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    const int64_t *a = x->a;
    for (int64_t i = 0; i < x->n; i++)
        out[i] = apply(x->op, a[i], x->value);
}

/* The trace shows which operation it was. */
static const struct kernel scalar_kernels[] = {
    [INDEX_ADD] = {"index_add_scalar", run_scalar, index_cost},   [INDEX_SUB] = {"index_sub_scalar", run_scalar, index_cost},
    [INDEX_RSUB] = {"index_rsub_scalar", run_scalar, index_cost}, [INDEX_MUL] = {"index_mul_scalar", run_scalar, index_cost},
    [INDEX_DIV] = {"index_div_scalar", run_scalar, index_cost},   [INDEX_MOD] = {"index_mod_scalar", run_scalar, index_cost}};

void index_scalar(struct stream *s, int64_t *out, const int64_t *a, int64_t n, enum index_op op, int64_t b)
{
    if (n > 0)
        launch(s, &scalar_kernels[op], (struct index_args){.out = out, .a = a, .n = n, .value = b, .op = op}, 2, 0);
}

static void run_binary(const void *args)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    const int64_t *a = x->a, *b = x->b;
    for (int64_t i = 0; i < x->n; i++)
        out[i] = apply(x->op, a[i], b[i]);
}

static const struct kernel binary_kernels[] = {
    [INDEX_ADD] = {"index_add", run_binary, index_cost},   [INDEX_SUB] = {"index_sub", run_binary, index_cost},
    [INDEX_RSUB] = {"index_rsub", run_binary, index_cost}, [INDEX_MUL] = {"index_mul", run_binary, index_cost},
    [INDEX_DIV] = {"index_div", run_binary, index_cost},   [INDEX_MOD] = {"index_mod", run_binary, index_cost}};

void index_binary(struct stream *s, int64_t *out, const int64_t *a, const int64_t *b, int64_t n, enum index_op op)
{
    if (n > 0)
        launch(s, &binary_kernels[op], (struct index_args){.out = out, .a = a, .b = b, .n = n, .op = op}, 3, 0);
}

static bool holds(int cmp, int64_t a, int64_t b)
{
    switch ((enum index_cmp)cmp) {
    case INDEX_EQ:
        return a == b;
    case INDEX_NE:
        return a != b;
    case INDEX_LT:
        return a < b;
    case INDEX_GT:
        return a > b;
    }
    return false;
}

BODY(compare)
{
    const struct index_args *x = args;
    uint8_t *out = x->out;
    const int64_t *a = x->a;
    for (int64_t i = 0; i < x->n; i++)
        out[i] = holds(x->op, a[i], x->value);
}

void index_compare(struct stream *s, uint8_t *mask, const int64_t *a, int64_t n, enum index_cmp cmp, int64_t b)
{
    if (n > 0)
        launch(s, &kernel_compare, (struct index_args){.out = mask, .a = a, .n = n, .value = b, .op = cmp}, 1, 1);
}

BODY(where)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    const uint8_t *mask = x->a;
    const int64_t *yes = x->b, *no = x->c;
    for (int64_t i = 0; i < x->n; i++)
        out[i] = mask[i] ? yes[i] : no[i];
}

void index_where(struct stream *s, int64_t *out, const uint8_t *mask, const int64_t *yes, const int64_t *no, int64_t n)
{
    if (n > 0)
        launch(s, &kernel_where, (struct index_args){.out = out, .a = mask, .b = yes, .c = no, .n = n}, 2, 1);
}

BODY(any)
{
    const struct index_args *x = args;
    uint8_t *flag = x->out;
    const uint8_t *mask = x->a;
    *flag = 0;
    for (int64_t i = 0; i < x->n; i++)
        *flag |= mask[i] != 0;
}

void index_any(struct stream *s, uint8_t *flag, const uint8_t *mask, int64_t n)
{
    launch(s, &kernel_any, (struct index_args){.out = flag, .a = mask, .n = n}, 0, 1);
}

BODY(differences)
{
    const struct index_args *x = args;
    int64_t *out = x->out, found = 0;
    const int64_t *a = x->a, *b = x->b;
    for (int64_t i = 0; i < x->n; i++)
        found += a[i] != b[i];
    *out = found;
}

void index_differences(struct stream *s, int64_t *out, const int64_t *a, const int64_t *b, int64_t n)
{
    launch(s, &kernel_differences, (struct index_args){.out = out, .a = a, .b = b, .n = n}, 2, 0);
}

BODY(bucketize)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    const int64_t *values = x->a, *bounds = x->b;
    for (int64_t i = 0; i < x->n; i++) {
        int64_t low = 0, high = x->m;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (bounds[middle] <= values[i])
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}

void index_bucketize(struct stream *s, int64_t *out, const int64_t *values, int64_t n, const int64_t *bounds, int64_t nbounds)
{
    if (n > 0)
        launch(s, &kernel_bucketize, (struct index_args){.out = out, .a = values, .b = bounds, .n = n, .m = nbounds}, 2, 0);
}

/* Merges the neighbouring runs [at, middle) and [middle, end) of `from` into `to`; equal keys keep their order. */
static void merge(int64_t *to, const int64_t *from, const int64_t *keys, int64_t at, int64_t middle, int64_t end)
{
    for (int64_t i = at, j = middle, k = at; k < end; k++)
        to[k] = from[j == end || (i < middle && keys[from[i]] <= keys[from[j]]) ? i++ : j++];
}

/* Bottom-up merge sort of the numbers 0 .. n-1 by key; c is scratch of n values. */
BODY(argsort)
{
    const struct index_args *x = args;
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

void index_argsort(struct stream *s, int64_t *out, const int64_t *keys, int64_t n)
{
    if (n <= 0)
        return;
    int64_t *scratch = dev_alloc(stream_device(s), (size_t)n * sizeof *scratch);
    int passes = 1;
    for (int64_t run = 1; run < n; run *= 2)
        passes++;
    launch(s, &kernel_argsort, (struct index_args){.out = out, .a = keys, .c = scratch, .n = n}, 3 * passes, 0);
    dev_free(stream_device(s), scratch);
}

BODY(gather)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    const int64_t *values = x->a, *index = x->b;
    for (int64_t i = 0; i < x->n; i++)
        out[i] = values[index[i]];
}

void index_gather(struct stream *s, int64_t *out, const int64_t *values, const int64_t *index, int64_t n)
{
    if (n > 0)
        launch(s, &kernel_gather, (struct index_args){.out = out, .a = values, .b = index, .n = n}, 3, 0);
}

BODY(scatter)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    const int64_t *values = x->a, *index = x->b;
    for (int64_t i = 0; i < x->n; i++)
        out[index[i]] = values[i];
}

void index_scatter(struct stream *s, int64_t *out, const int64_t *values, const int64_t *index, int64_t n)
{
    if (n > 0)
        launch(s, &kernel_scatter, (struct index_args){.out = out, .a = values, .b = index, .n = n}, 3, 0);
}

BODY(scatter_value)
{
    const struct index_args *x = args;
    int64_t *out = x->out;
    const int64_t *index = x->b;
    for (int64_t i = 0; i < x->n; i++)
        out[index[i]] = x->value;
}

void index_scatter_value(struct stream *s, int64_t *out, int64_t value, const int64_t *index, int64_t n)
{
    if (n > 0)
        launch(s, &kernel_scatter_value, (struct index_args){.out = out, .b = index, .n = n, .value = value}, 2, 0);
}
