/* index.cu - index_body.h on a GPU, and the sort: a merge a pass, each element finds its own place.
 *
 *   run of `from`    | 2 5 5 9 | 1 5 8 |        place of an element = its place in its own run
 *   merged           | 1 2 5 5 5 8 9   |        + how many of the other run go before it; of equal keys the left run's first
 */
#include "kernels/ops/index_body.h"

enum { SORT_THREADS = 256 };

namespace gpu
{
/* How many of the n ascending numbers `at` have keys below `key`, or (with_equal) not above it. */
static __device__ int64_t before(const int64_t *at, const int64_t *keys, int64_t n, int64_t key, bool with_equal)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = (low + high) / 2, other = keys[at[middle]];
        if (other < key || (with_equal && other == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __global__ void index_argsort(int64_t *to, const int64_t *from, const int64_t *keys, int64_t n, int64_t run)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int64_t at = i / (2 * run) * (2 * run), middle = at + run < n ? at + run : n, end = at + 2 * run < n ? at + 2 * run : n;
    int64_t key = keys[from[i]];
    bool left = i < middle;
    int64_t others = left ? before(from + middle, keys, end - middle, key, false) : before(from + at, keys, middle - at, key, true);
    to[left ? i + others : at + (i - middle) + others] = from[i];
}
} // namespace gpu

/* Passes alternate between the scratch (c) and out; the numbers start where the last pass ends in out. */
static void cuda_index_argsort(struct cuda_call *c, const void *args)
{
    const struct index_args *a = (const struct index_args *)args;
    int64_t *out = (int64_t *)a->out, *scratch = (int64_t *)a->c;
    int passes = 0;
    for (int64_t run = 1; run < a->n; run *= 2)
        passes++;
    int64_t *from = passes % 2 ? scratch : out, *to = passes % 2 ? out : scratch;
    struct index_args first = *a;
    first.out = from;
    first.value = 0;
    cuda_index_arange(c, &first);
    for (int64_t run = 1; run < a->n; run *= 2) {
        CUDA_LAUNCH(gpu::index_argsort, (unsigned)((a->n + SORT_THREADS - 1) / SORT_THREADS), SORT_THREADS, 0, c, to, from, (const int64_t *)a->a,
                    a->n, run);
        int64_t *swap = from;
        from = to, to = swap;
    }
}

CUDA_TABLE(index) = {CUDA_ROW(index_arange),      CUDA_ROW(index_diff),        CUDA_ROW(index_add_scalar),    CUDA_ROW(index_sub_scalar),
                     CUDA_ROW(index_rsub_scalar), CUDA_ROW(index_mul_scalar),  CUDA_ROW(index_div_scalar),    CUDA_ROW(index_mod_scalar),
                     CUDA_ROW(index_add),         CUDA_ROW(index_sub),         CUDA_ROW(index_rsub),          CUDA_ROW(index_mul),
                     CUDA_ROW(index_div),         CUDA_ROW(index_mod),         CUDA_ROW(index_compare),       CUDA_ROW(index_where),
                     CUDA_ROW(index_any),         CUDA_ROW(index_differences), CUDA_ROW(index_bucketize),     CUDA_ROW(index_argsort),
                     CUDA_ROW(index_gather),      CUDA_ROW(index_scatter),     CUDA_ROW(index_scatter_value), {0}};
