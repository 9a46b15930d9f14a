/* test_cuda_moves.c - kernels that move, count and compare: each launch runs twice from the same memory, as the cpu's body and as
 * the CUDA kernel on the stand-in, and must leave the same bytes everywhere. */
#include "cuda_launch.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/gdn_state.h"
#include "kernels/ops/index.h"
#include "kernels/ops/pack.h"
#include "kernels/ops/round.h"

enum { BYTES = 1 << 19 };

/* All that a case works on. */
static _Alignas(64) unsigned char memory[BYTES], before[BYTES], wanted[BYTES];
static size_t used;
static double tolerance; /* of floats; 0: the same bits */
static int launches;

/* What the ops need of a device. */
void dev_launch(struct stream *s, const struct kernel *k, const void *args, size_t size)
{
    (void)s, (void)size;
    memcpy(before, memory, used);
    k->cpu(args);
    memcpy(wanted, memory, used);
    memcpy(memory, before, used);
    cuda_launch(k->name, args);
    launches++;
    for (size_t i = 0; i < used; i += sizeof(float)) {
        float x, y;
        memcpy(&x, memory + i, sizeof x), memcpy(&y, wanted + i, sizeof y);
        if (memcmp(&x, &y, sizeof x) != 0 && !(x - y <= tolerance && y - x <= tolerance))
            fail_msg("%s: byte %zu of %zu differs", k->name, i, used);
    }
}

struct device *stream_device(const struct stream *s)
{
    (void)s;
    return NULL;
}

void *dev_alloc(struct device *d, size_t bytes)
{
    (void)d;
    return malloc(bytes + 1);
}

void *dev_alloc_index(struct device *d, size_t bytes)
{
    return dev_alloc(d, bytes);
}

void dev_free(struct device *d, void *p)
{
    (void)d;
    free(p);
}

bool device_stores_narrow(const struct device *d)
{
    (void)d;
    return false;
}

static void *take(int64_t bytes)
{
    void *p = memory + used;
    used += ((size_t)bytes + 63) / 64 * 64;
    assert_true(used <= BYTES);
    return p;
}

static int64_t *integers(int64_t n, int64_t below)
{
    int64_t *x = take(n * 8);
    for (int64_t i = 0; i < n; i++)
        x[i] = (int64_t)rnd((uint64_t)below);
    return x;
}

static uint8_t *masks(int64_t n)
{
    uint8_t *x = take(n);
    int one_in = 1 + (int)rnd(9);
    for (int64_t i = 0; i < n; i++)
        x[i] = rnd((uint64_t)one_in) == 0;
    return x;
}

static float *floats(int64_t n)
{
    float *x = take(n * 4);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)rnd_real();
    return x;
}

static int64_t *distinct(int64_t n)
{
    int64_t *x = take(n * 8);
    for (int64_t i = 0; i < n; i++)
        x[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)rnd((uint64_t)i + 1), y = x[i];
        x[i] = x[j], x[j] = y;
    }
    return x;
}

TEST(index_arithmetic)
{
    PROP(300)
    {
        used = 0;
        int64_t n = 1 + (int64_t)rnd(600), *a = integers(n, 50), *b = integers(n, 50), *out = take(n * 8), *bounds = integers(9, 50);
        uint8_t *mask = masks(n), *flag = take(1);
        for (int64_t i = 0; i < n; i++)
            b[i]++; /* divisors */
        for (int i = 1; i < 9; i++)
            bounds[i] += bounds[i - 1];
        index_arange(NULL, out, n, -5);
        index_diff(NULL, out, a, n);
        for (int op = INDEX_ADD; op <= INDEX_MOD; op++) {
            index_scalar(NULL, out, a, n, (enum index_op)op, 3);
            index_binary(NULL, out, a, b, n, (enum index_op)op);
        }
        for (int cmp = INDEX_EQ; cmp <= INDEX_GT; cmp++)
            index_compare(NULL, mask, a, n, (enum index_cmp)cmp, 25);
        index_where(NULL, out, mask, a, b, n);
        index_any(NULL, flag, mask, n);
        index_any(NULL, flag, mask, 0);
        index_differences(NULL, out, a, b, n);
        index_bucketize(NULL, out, a, n, bounds, (int64_t)rnd(10));
    }
}

TEST(index_orders)
{
    PROP(300)
    {
        used = 0;
        int64_t n = 1 + (int64_t)rnd(700), *keys = integers(n, 1 + (int64_t)rnd(100)), *values = integers(n, 1000), *index = distinct(n);
        int64_t *out = take(n * 8);
        index_argsort(NULL, out, keys, n);
        index_gather(NULL, out, values, index, n);
        index_scatter(NULL, out, values, index, n);
        index_scatter_value(NULL, out, 7, index, n);
    }
}

TEST(rows_moved)
{
    PROP(300)
    {
        used = 0;
        int64_t n = 1 + (int64_t)rnd(40), width = 1 + (int64_t)rnd(140), *index = distinct(n), *any = integers(n, n), wide = width + (int64_t)rnd(5);
        float *src = floats(n * wide), *dst = floats(n * wide);
        rows_gather(NULL, dst, src, any, n, width);
        rows_scatter(NULL, dst, src, index, n, width);
        rows_scatter_add(NULL, dst, src, any, n, width);
        rows_copy(NULL, dst, wide, src, width, n, width);
        rows_accumulate(NULL, dst, width, src, wide, n, width);
    }
}

TEST(rows_joined)
{
    PROP(200)
    {
        used = 0;
        struct rows_part parts[30];
        int64_t n = 1 + (int64_t)rnd(30), width = 1 + (int64_t)rnd(30), all = 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t rows = rnd(20) ? (int64_t)rnd(8) : 4096 / width + (int64_t)rnd(3);
            parts[i] = (struct rows_part){floats(rows * width), rows};
            all += rows;
        }
        rows_concat(NULL, floats(all * width), parts, n, width);
    }
}

TEST(heads_taken_apart)
{
    PROP(200)
    {
        used = 0;
        struct concat_heads_args a = {.rows = (int64_t)rnd(9), .ranks = 1 + (int)rnd(4), .nsections = 1 + (int)rnd(4), .back = rnd(2)};
        int32_t at = (int)rnd(3);
        int64_t own = 0;
        for (int i = 0; i < a.nsections; i++) {
            a.section[i] = (struct concat_section){at, a.ranks * (int)rnd(6)};
            at += a.section[i].width + (int)rnd(3);
            own += a.section[i].width / a.ranks;
        }
        a.ld = at;
        a.src = floats(a.rows * at + 1), a.dst = floats(a.rows * own * a.ranks + 1);
        op_concat_heads(NULL, &a);
    }
}

/* Patterns of bits, so all kinds of numbers. */
TEST(rounding)
{
    PROP(100)
    {
        used = 0;
        int64_t n = 1 + (int64_t)rnd(500);
        uint32_t *bits = take(n * 4);
        for (int64_t i = 0; i < n; i++)
            bits[i] = rnd(4) ? (uint32_t)rnd(UINT64_C(1) << 32) : (uint32_t)rnd(1 << 15) << 17;
        op_round(NULL, rnd(2) ? DTYPE_BF16 : DTYPE_FP16, (float *)(void *)bits, n);
    }
}

TEST(maps_turned_and_multiplied)
{
    PROP(100)
    {
        used = 0;
        int HV = 1 + (int)rnd(2), dk = 1 + (int)rnd(70), dv = 1 + (int)rnd(70), E = dk + dv;
        float *map = floats((int64_t)HV * dk * E), *out = floats((int64_t)HV * dk * E), *state = floats((int64_t)HV * dk * dv);
        op_gdn_map_turn(NULL, &(struct gdn_map_turn_args){rnd(2) ? state : NULL, map, out, HV, dk, dv});
        float *h = map; /* as large as a state, and more */
        tolerance = 1e-5;
        op_gdn_map_outer(NULL, &(struct gdn_map_outer_args){state, rnd(4) ? h : NULL, out, HV, dk, dv});
        tolerance = 0;
    }
}

TEST(something_was_launched)
{
    assert_true(launches > 500);
}

UNIT_MAIN(UNIT(index_arithmetic), UNIT(index_orders), UNIT(rows_moved), UNIT(rows_joined), UNIT(heads_taken_apart), UNIT(rounding),
          UNIT(maps_turned_and_multiplied), UNIT(something_was_launched))
