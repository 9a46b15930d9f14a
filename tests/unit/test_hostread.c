/* test_hostread.c - what the host reads is right, and every operator is the rows that hostread.h promises. */
#include "activity_log.h"
#include "kernels/device/hostread.h"

static struct device *dev;
static struct stream *s;

static int setup(void **state)
{
    (void)state;
    struct err e = {0};
    dev = device_open("cpu", 1, 1, &e);
    s = dev ? device_stream(dev) : NULL;
    return dev ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    device_close(dev);
    return 0;
}

static void *to_device(const void *host, size_t bytes)
{
    void *p = dev_alloc(dev, bytes);
    dev_upload_async(s, p, host, bytes);
    return p;
}

/* The rows after log_start(): ops by name, one wait of class copy at the same site, inside every op. */
static void check_rows(const char *const *ops, int nops, const struct site *site)
{
    log_stop();
    assert_int_equal(log_count(EV_OP, NULL), nops);
    assert_int_equal(log_waits(SYNC_NONE), 1);
    const struct activity *wait = log_find(EV_RUNTIME, "deviceMemcpy", 0);
    assert_non_null(wait);
    assert_int_equal(wait->sync_class, SYNC_COPY);
    assert_ptr_equal(wait->site, site);
    assert_int_equal(log_find(EV_MEMCPY, "Memcpy DtoH", 0)->correlation, wait->correlation);
    for (int i = 0; i < nops; i++) {
        const struct activity *op = log_find(EV_OP, ops[i], 0);
        assert_non_null(op);
        assert_ptr_equal(op->site, site);
        assert_int_equal(op->rank, 1);
        assert_true(op->start <= wait->start && wait->end <= op->end);
    }
}

TEST(item_reads_one_value)
{
    PROP(300)
    {
        int64_t x = (int64_t)rnd(UINT64_MAX);
        float y = (float)rnd_real();
        int64_t *px = to_device(&x, sizeof x);
        float *py = to_device(&y, sizeof y);
        const struct site *here = SITE_HERE;
        log_start();
        int64_t got_x = hostread_item_i64(s, px, here);
        check_rows((const char *[]){"item"}, 1, here);
        log_start();
        float got_y = hostread_item_f32(s, py, here);
        check_rows((const char *[]){"item"}, 1, here);
        assert_true(got_x == x);
        assert_true(got_y == y);
        dev_free(dev, px);
        dev_free(dev, py);
    }
}

TEST(is_nonzero_holds_an_item)
{
    for (int v = 0; v < 3; v++) {
        uint8_t flag = (uint8_t)(v * 127);
        uint8_t *p = to_device(&flag, 1);
        const struct site *here = SITE_HERE;
        log_start();
        bool got = hostread_is_nonzero(s, p, here);
        check_rows((const char *[]){"is_nonzero", "item"}, 2, here);
        assert_int_equal(got, v != 0);
        const struct activity *outer = log_find(EV_OP, "is_nonzero", 0), *inner = log_find(EV_OP, "item", 0);
        assert_true(outer->start <= inner->start && inner->end <= outer->end);
        dev_free(dev, p);
    }
}

enum { MAX = 500 };

static int64_t random_mask(uint8_t *mask, int64_t *values)
{
    int64_t n = (int64_t)rnd(MAX);
    uint64_t one_in = 1 + rnd(5);
    for (int64_t i = 0; i < n; i++) {
        mask[i] = rnd(one_in) ? 0 : (uint8_t)(1 + rnd(255));
        values[i] = (int64_t)rnd(1000000);
    }
    return n;
}

static void check_compaction(const int64_t *got, int64_t count, const uint8_t *mask, const int64_t *values, int64_t n)
{
    int64_t host[MAX], want = 0;
    dev_download(s, host, got, (size_t)count * sizeof *host, SITE_HERE);
    for (int64_t i = 0; i < n; i++)
        if (mask[i]) {
            assert_true(want < count);
            assert_int_equal(host[want], values ? values[i] : i);
            want++;
        }
    assert_int_equal(count, want);
}

TEST(nonzero_and_index_compact)
{
    PROP(300)
    {
        uint8_t mask[MAX];
        int64_t values[MAX], count = -1, n = random_mask(mask, values), *got;
        uint8_t *pm = to_device(mask, (size_t)n);
        int64_t *pv = to_device(values, (size_t)n * sizeof *values);
        const struct site *here = SITE_HERE;
        bool indices = rnd(2);
        log_start();
        got = indices ? hostread_nonzero(s, pm, n, &count, here) : hostread_index_mask_i64(s, pv, pm, n, &count, here);
        dev_device_sync(dev, SITE_HERE);
        log_.n--; /* that sync */
        check_rows((const char *[]){indices ? "nonzero" : "index"}, 1, here);
        assert_int_equal(log_count(EV_KERNEL, NULL), 2);
        check_compaction(got, count, mask, indices ? NULL : values, n);
        dev_free(dev, got);
        dev_free(dev, pm);
        dev_free(dev, pv);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {UNIT(item_reads_one_value), UNIT(is_nonzero_holds_an_item), UNIT(nonzero_and_index_compact)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, teardown) != 0;
}
