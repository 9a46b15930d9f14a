/* test_layout_kernels.c - index and row kernels on a device against one-line loops. */
#include "on_device.h"

#include "kernels/ops/index.h"
#include "kernels/ops/pack.h"

enum { MAX = 200 };

static void *up(const void *v, size_t bytes)
{
    void *d = dev_alloc(device, bytes + 1);
    if (bytes)
        dev_upload_async(stream, d, v, bytes);
    return d;
}

/* Brings `bytes` of d home and frees it. */
static void down(void *v, void *d, size_t bytes)
{
    if (bytes)
        dev_download(stream, v, d, bytes, SITE_HERE);
    dev_free(device, d);
}

static int64_t random_values(int64_t *v, int64_t n, int64_t low, int64_t high)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = low + (int64_t)rnd((uint64_t)(high - low + 1));
    return n;
}

static int64_t want_op(enum index_op op, int64_t a, int64_t b)
{
    int64_t all[] = {[INDEX_ADD] = a + b, [INDEX_SUB] = a - b, [INDEX_RSUB] = b - a, [INDEX_MUL] = a * b, [INDEX_DIV] = a / b, [INDEX_MOD] = a % b};
    return all[op];
}

TEST(arithmetic)
{
    PROP(200)
    {
        int64_t a[MAX], b[MAX], got[MAX], n = (int64_t)rnd(MAX);
        enum index_op op = (enum index_op)rnd(6);
        random_values(a, n, -50, 50);
        random_values(b, n, 1, 9);
        int64_t *da = up(a, (size_t)n * 8), *db = up(b, (size_t)n * 8), *out = up(a, (size_t)n * 8);
        index_binary(stream, out, da, db, n, op);
        index_scalar(stream, da, da, n, op, 7); /* in place */
        dev_free(device, db);
        down(got, out, (size_t)n * 8);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(got[i], want_op(op, a[i], b[i]));
        down(got, da, (size_t)n * 8);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(got[i], want_op(op, a[i], 7));
    }
}

TEST(ranges_differences_and_masks)
{
    PROP(200)
    {
        int64_t a[MAX], b[MAX], got[MAX], found, n = 1 + (int64_t)rnd(MAX - 1), bound = (int64_t)rnd(8), differ = 0;
        uint8_t mask[MAX], flag;
        enum index_cmp cmp = (enum index_cmp)rnd(4);
        random_values(a, n, 0, 7);
        memcpy(b, a, sizeof b);
        b[rnd((uint64_t)n)] += (int64_t)rnd(2);
        int64_t *da = up(a, (size_t)n * 8), *db = up(b, (size_t)n * 8), *out = up(a, (size_t)n * 8), *count = up(a, 8);
        uint8_t *dm = up(mask, (size_t)n), *df = up(mask, 1);
        index_compare(stream, dm, da, n, cmp, bound);
        index_any(stream, df, dm, n);
        index_where(stream, out, dm, da, db, n);
        index_differences(stream, count, da, db, n);
        down(got, out, (size_t)n * 8);
        down(mask, dm, (size_t)n);
        down(&flag, df, 1);
        down(&found, count, 8);
        bool any = false;
        for (int64_t i = 0; i < n; i++) {
            bool all[] = {[INDEX_EQ] = a[i] == bound, [INDEX_NE] = a[i] != bound, [INDEX_LT] = a[i]<bound, [INDEX_GT] = a[i]> bound};
            assert_int_equal(mask[i], all[cmp]);
            assert_int_equal(got[i], mask[i] ? a[i] : b[i]);
            any = any || mask[i];
            differ += a[i] != b[i];
        }
        assert_int_equal(flag, any);
        assert_int_equal(found, differ);
        out = up(a, (size_t)n * 8);
        index_diff(stream, out, da, n);
        down(got, out, (size_t)(n - 1) * 8);
        for (int64_t i = 0; i + 1 < n; i++)
            assert_int_equal(got[i], a[i + 1] - a[i]);
        index_arange(stream, da, n, 5);
        down(got, da, (size_t)n * 8);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(got[i], 5 + i);
        dev_free(device, db);
    }
}

TEST(an_empty_mask_has_nothing_set)
{
    uint8_t *flag = up("\1", 1), got;
    index_any(stream, flag, flag, 0);
    down(&got, flag, 1);
    assert_int_equal(got, 0);
}

TEST(buckets_and_order)
{
    PROP(200)
    {
        int64_t keys[MAX], bounds[MAX], got[MAX], n = (int64_t)rnd(MAX), nb = (int64_t)rnd(10);
        random_values(keys, n, 0, 30);
        for (int64_t i = 0; i < nb; i++)
            bounds[i] = (i ? bounds[i - 1] : 0) + (int64_t)rnd(6);
        int64_t *dk = up(keys, (size_t)n * 8), *db = up(bounds, (size_t)nb * 8), *out = up(keys, (size_t)n * 8), *order = up(keys, (size_t)n * 8);
        index_bucketize(stream, out, dk, n, db, nb);
        index_argsort(stream, order, dk, n);
        dev_free(device, db);
        dev_free(device, dk);
        down(got, out, (size_t)n * 8);
        for (int64_t i = 0; i < n; i++) {
            int64_t want = 0;
            for (int64_t k = 0; k < nb; k++)
                want += bounds[k] <= keys[i];
            assert_int_equal(got[i], want);
        }
        down(got, order, (size_t)n * 8);
        bool used[MAX] = {0};
        for (int64_t i = 0; i < n; i++) {
            assert_in_range(got[i], 0, n - 1);
            assert_false(used[got[i]]);
            used[got[i]] = true;
            if (i > 0) /* ascending, and equal keys in order of place */
                assert_true(keys[got[i - 1]] < keys[got[i]] || (keys[got[i - 1]] == keys[got[i]] && got[i - 1] < got[i]));
        }
    }
}

/* Distinct numbers 0 .. n-1. */
static void permutation(int64_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t k = (int64_t)rnd((uint64_t)(i + 1));
        v[i] = v[k];
        v[k] = i;
    }
}

TEST(gathers_and_scatters)
{
    PROP(200)
    {
        int64_t v[MAX], index[MAX], got[MAX], n = (int64_t)rnd(MAX);
        random_values(v, n, -99, 99);
        permutation(index, n);
        int64_t *dv = up(v, (size_t)n * 8), *di = up(index, (size_t)n * 8), *g = up(v, (size_t)n * 8), *s = up(v, (size_t)n * 8);
        index_gather(stream, g, dv, di, n);
        index_scatter(stream, s, dv, di, n);
        index_scatter_value(stream, dv, 4, di, n / 2);
        down(got, g, (size_t)n * 8);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(got[i], v[index[i]]);
        down(got, s, (size_t)n * 8);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(got[index[i]], v[i]);
        down(got, dv, (size_t)n * 8);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(got[index[i]], i < n / 2 ? 4 : v[index[i]]);
        dev_free(device, di);
    }
}

TEST(rows_move_whole)
{
    PROP(200)
    {
        int64_t index[20], n = 1 + (int64_t)rnd(19), w = 1 + (int64_t)rnd(9);
        float v[MAX], got[MAX];
        size_t bytes = (size_t)(n * w) * sizeof(float);
        for (int i = 0; i < MAX; i++)
            v[i] = (float)rnd_real();
        permutation(index, n);
        float *dv = up(v, bytes), *g = up(v, bytes), *s = up(v, bytes);
        int64_t *di = up(index, (size_t)n * 8);
        rows_gather(stream, g, dv, di, n, w);
        rows_scatter(stream, s, dv, di, n, w);
        down(got, g, bytes);
        for (int64_t i = 0; i < n; i++)
            assert_memory_equal(got + i * w, v + index[i] * w, (size_t)w * sizeof(float));
        down(got, s, bytes);
        for (int64_t i = 0; i < n; i++)
            assert_memory_equal(got + index[i] * w, v + i * w, (size_t)w * sizeof(float));
        dev_free(device, di);
        dev_free(device, dv);
    }
}

/* <G x, y> = <x, G^T y> for a gather whose rows repeat and its transpose, the adding scatter into zeros. */
TEST(scatter_add_is_the_transpose_of_gather)
{
    PROP(200)
    {
        int64_t index[20], n = 1 + (int64_t)rnd(19), m = 1 + (int64_t)rnd(9), w = 1 + (int64_t)rnd(9);
        float x[MAX], y[MAX], gx[MAX], gty[MAX];
        double left = 0, right = 0;
        for (int i = 0; i < MAX; i++) { /* small whole numbers: all sums are exact */
            x[i] = (float)rnd(17) - 8;
            y[i] = (float)rnd(17) - 8;
        }
        random_values(index, n, 0, m - 1);
        float *dx = up(x, (size_t)(m * w) * 4), *dy = up(y, (size_t)(n * w) * 4), *g = up(x, (size_t)(n * w) * 4), *t = up(x, (size_t)(m * w) * 4);
        int64_t *di = up(index, (size_t)n * 8);
        rows_gather(stream, g, dx, di, n, w);
        dev_set_async(stream, t, 0, (size_t)(m * w) * 4);
        rows_scatter_add(stream, t, dy, di, n, w);
        down(gx, g, (size_t)(n * w) * 4);
        down(gty, t, (size_t)(m * w) * 4);
        for (int64_t i = 0; i < n * w; i++)
            left += (double)gx[i] * y[i];
        for (int64_t i = 0; i < m * w; i++)
            right += (double)gty[i] * x[i];
        assert_true(left == right);
        dev_free(device, di);
        dev_free(device, dx);
        dev_free(device, dy);
    }
}

TEST(joins_and_column_blocks)
{
    PROP(200)
    {
        int64_t parts = (int64_t)rnd(30), w = 1 + (int64_t)rnd(4), rows = 0, offset = (int64_t)rnd(3);
        struct rows_part part[30];
        float v[MAX], got[MAX], sum[MAX];
        for (int i = 0; i < MAX; i++)
            v[i] = (float)i;
        float *dv = up(v, sizeof v), *out = up(v, sizeof v), *block = up(v, sizeof v);
        for (int64_t i = 0; i < parts && rows < 40; i++) {
            part[i] = (struct rows_part){dv + rows * w, (int64_t)rnd(4)};
            rows += part[i].rows;
            parts = rows < 40 ? parts : i + 1;
        }
        rows_concat(stream, out, part, parts, w);
        rows_copy(stream, block, 5, dv + offset, 10, 20, 2); /* columns offset, offset + 1 of [20][10] */
        rows_accumulate(stream, block + 1, 5, dv, 5, 20, 1);
        down(got, out, (size_t)(rows * w) * 4);
        for (int64_t i = 0; i < rows * w; i++)
            assert_true(got[i] == v[i]);
        down(sum, block, sizeof sum);
        for (int64_t i = 0; i < 20; i++) {
            assert_true(sum[i * 5] == v[i * 10 + offset]);
            assert_true(sum[i * 5 + 1] == v[i * 10 + offset + 1] + v[i * 5]);
            assert_true(sum[i * 5 + 2] == v[i * 5 + 2]);
        }
        dev_free(device, dv);
    }
}

UNIT_MAIN(ON_DEVICE(arithmetic), ON_DEVICE(ranges_differences_and_masks), ON_DEVICE(an_empty_mask_has_nothing_set), ON_DEVICE(buckets_and_order),
          ON_DEVICE(gathers_and_scatters), ON_DEVICE(rows_move_whole), ON_DEVICE(scatter_add_is_the_transpose_of_gather),
          ON_DEVICE(joins_and_column_blocks))
