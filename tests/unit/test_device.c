/* test_device.c - the cpu device: order, running ahead, waits, copies, and what is announced of them. */
#include "activity_log.h"
#include "slow_kernel.h"
#include "kernels/device/device.h"
#include "schemas/clock.h"
#include "schemas/tracedata.h"

#include <stdatomic.h>

struct append {
    int64_t *list, *n, value;
};

static void kernel_append(const void *args)
{
    const struct append *a = args;
    a->list[(*a->n)++] = a->value;
}
static const struct kernel k_append = {"append", kernel_append, NULL};

static struct device *open_cpu(int rank)
{
    struct err e = {0};
    struct device *d = device_open("cpu", rank, rank, &e);
    if (!d)
        fail_msg("%s", e.msg);
    return d;
}

/* More launches than the queue has room for; none of them is a wait of the host. */
TEST(a_stream_runs_in_order)
{
    enum { N = 5000 };
    static int64_t list[N];
    int64_t n = 0, long_ago = 20 * MS;
    log_start();
    struct device *d = open_cpu(3);
    struct stream *s = device_stream(d);
    dev_launch(s, &k_sleep, &long_ago, sizeof long_ago);
    for (int64_t i = 0; i < N; i++)
        DEV_LAUNCH(s, k_append, (struct append){list, &n, i});
    dev_stream_sync(s, SITE_HERE);
    assert_int_equal(n, N);
    for (int i = 0; i < N; i++)
        assert_int_equal(list[i], i);
    assert_int_equal(log_count(EV_KERNEL, "append"), N);
    assert_int_equal(log_count(EV_RUNTIME, "deviceLaunchKernel"), N + 1);
    assert_int_equal(log_waits(SYNC_NONE), 1);
    device_close(d);
    log_stop();
}

/* Ends when the host says so, or in failure after five seconds. */
static void kernel_gate(const void *args)
{
    atomic_int *gate = *(atomic_int *const *)args;
    for (int i = 0; i < 5000 && atomic_load(gate) == 0; i++)
        sleep_ns(MS);
    atomic_store(gate, atomic_load(gate) == 1 ? 2 : -1);
}
static const struct kernel k_gate = {"gate", kernel_gate, NULL};

TEST(the_host_runs_ahead)
{
    struct device *d = open_cpu(0);
    atomic_int gate = 0, *p = &gate;
    int64_t list[100], n = 0;
    dev_launch(device_stream(d), &k_gate, &p, sizeof p);
    for (int64_t i = 0; i < 100; i++)
        DEV_LAUNCH(device_stream(d), k_append, (struct append){list, &n, i});
    atomic_store(&gate, 1); /* all were enqueued while the first one ran */
    dev_stream_sync(device_stream(d), SITE_HERE);
    assert_int_equal(atomic_load(&gate), 2);
    assert_int_equal(n, 100);
    device_close(d);
}

/* Work of one stream never overlaps, follows its launch, and shares its id with exactly one host row. */
TEST(work_and_calls_are_joined)
{
    log_start();
    struct device *d[2] = {open_cpu(0), open_cpu(1)};
    int64_t short_time = 1000;
    unsigned char *p = dev_alloc(d[0], 64), host[64] = {0};
    for (int i = 0; i < 3000; i++) {
        dev_launch(device_stream(d[i & 1]), &k_sleep, &short_time, sizeof short_time);
        if (i % 10 == 0)
            dev_set_async(device_stream(d[0]), p, i, 64);
        if (i % 100 == 0)
            dev_download(device_stream(d[0]), host, p, 64, SITE_HERE);
    }
    for (int i = 0; i < 2; i++)
        dev_device_sync(d[i], SITE_HERE);
    size_t rows = log_.n;
    log_stop();
    static uint8_t calls[1 << 16], works[1 << 16];
    int64_t last_end[2] = {0};
    for (size_t i = 0; i < rows; i++) {
        const struct activity *a = &log_.a[i];
        assert_in_range(a->correlation, 1, sizeof calls - 1);
        assert_true(a->end >= a->start && a->start > 0);
        assert_int_equal(a->device, a->rank);
        if (a->kind == EV_RUNTIME) {
            assert_int_equal(calls[a->correlation]++, 0);
            continue;
        }
        assert_int_equal(works[a->correlation]++, 0);
        assert_true(a->start >= last_end[a->rank]);
        last_end[a->rank] = a->end;
        assert_int_equal(a->stream, 7);
    }
    int nworks = 0;
    for (size_t i = 0; i < sizeof calls; i++) {
        nworks += works[i];
        assert_true(calls[i] >= works[i]);
    }
    assert_int_equal(nworks, 3000 + 300 + 30);
    assert_int_equal(rows, 2 * nworks + 2); /* the two waits for the devices started nothing */
    dev_free(d[0], p);
    device_close(d[0]);
    device_close(d[1]);
}

static const struct activity *only_wait(enum sync_class c)
{
    assert_int_equal(log_waits(SYNC_NONE), 1);
    assert_int_equal(log_waits(c), 1);
    for (size_t i = 0; i < log_.n; i++)
        if (log_.a[i].sync_class == c)
            return &log_.a[i];
    return NULL;
}

enum wait_call { W_STREAM, W_DEVICE, W_EVENT, W_DOWNLOAD, W_UPLOAD, W_COUNT };

static void call_wait(enum wait_call w, struct device *d, struct dev_event *ev, const struct site *site)
{
    static int64_t host;
    struct stream *s = device_stream(d);
    int64_t *p = dev_alloc(d, sizeof *p);
    if (w == W_STREAM)
        dev_stream_sync(s, site);
    else if (w == W_DEVICE)
        dev_device_sync(d, site);
    else if (w == W_EVENT)
        dev_event_sync(ev, site);
    else if (w == W_DOWNLOAD)
        dev_download(s, &host, p, sizeof host, site);
    else
        dev_upload(s, p, &host, sizeof host, site);
    dev_free(d, p);
}

/* Every blocking call is one row, with its class, whether there was something to wait for, and the caller's place. */
TEST(a_wait_is_one_row)
{
    static const struct {
        enum sync_class class;
        const char *name;
        int stream;
    } want[W_COUNT] = {[W_STREAM] = {SYNC_STREAM, "deviceStreamSynchronize", 7},
                       [W_DEVICE] = {SYNC_DEVICE, "deviceSynchronize", -1},
                       [W_EVENT] = {SYNC_EVENT, "deviceEventSynchronize", -1},
                       [W_DOWNLOAD] = {SYNC_COPY, "deviceMemcpy", 7},
                       [W_UPLOAD] = {SYNC_COPY, "deviceMemcpy", 7}};
    struct device *d = open_cpu(0);
    struct dev_event *ev = dev_event_open(d);
    int64_t slow = 100 * MS;
    for (int w = 0; w < W_COUNT; w++)
        for (int busy = 0; busy < 2; busy++) {
            const struct site *here = SITE_HERE;
            if (!busy) { /* the record itself is work too */
                dev_event_record(ev, device_stream(d));
                dev_stream_sync(device_stream(d), SITE_HERE);
            }
            log_start();
            int64_t start = clock_now();
            if (busy) {
                dev_launch(device_stream(d), &k_sleep, &slow, sizeof slow);
                dev_event_record(ev, device_stream(d));
            }
            call_wait((enum wait_call)w, d, ev, here);
            int64_t took = clock_now() - start;
            dev_device_sync(d, SITE_HERE);
            log_stop();
            log_.n--; /* that sync */
            const struct activity *a = only_wait(want[w].class);
            assert_string_equal(a->name, want[w].name);
            assert_ptr_equal(a->site, here);
            assert_int_equal(a->did_block, busy);
            assert_int_equal(a->stream, want[w].stream);
            assert_int_equal(a->kind, EV_RUNTIME);
            assert_true(!busy || took >= slow);
        }
    dev_event_close(ev);
    device_close(d);
}

TEST(copies_carry_their_bytes)
{
    log_start();
    struct device *d = open_cpu(0);
    struct stream *s = device_stream(d);
    PROP(200)
    {
        unsigned char src[3000], back[3000];
        size_t n = rnd(sizeof src), at = rnd(16);
        for (size_t i = 0; i < n; i++)
            src[i] = (unsigned char)rnd(256);
        unsigned char *x = dev_alloc(d, sizeof src + 16), *y = dev_alloc(d, sizeof src);
        if (rnd(2))
            dev_upload_async(s, x + at, src, n);
        else
            dev_upload(s, x + at, src, n, SITE_HERE);
        unsigned char first = src[0];
        src[0] = (unsigned char)~src[0]; /* the bytes were staged */
        dev_copy_async(s, y, x + at, n);
        if (n > 10)
            dev_set_async(s, y + n - 10, 77, 10);
        dev_free(d, x);
        dev_download(s, back, y, n, SITE_HERE);
        dev_free(d, y);
        src[0] = first;
        if (n > 10)
            memset(src + n - 10, 77, 10);
        assert_memory_equal(back, src, n);
        const struct activity *a = log_find(EV_MEMCPY, "Memcpy DtoH", prop_);
        assert_int_equal(a->bytes, n);
        assert_int_equal(a->copy_kind, COPY_DTOH);
    }
    assert_int_equal(log_count(EV_MEMCPY, "Memcpy HtoD"), unit_cases(200));
    assert_int_equal(log_count(EV_MEMCPY, "Memcpy DtoD"), unit_cases(200));
    device_close(d);
    log_stop();
}

TEST(ranges_marks_ops_and_facts)
{
    char text[32] = "cpscope.batch tokens=5";
    log_start();
    dev_meta("shape", text);
    struct device *d = open_cpu(2);
    {
        DEV_RANGE(d, "layer", 3);
        DEV_RANGE(d, "in_proj", -1);
        dev_mark(d, text);
        text[0] = 'X';
    }
    device_close(d);
    log_stop();
    const struct activity *inner = log_find(EV_RANGE, "in_proj", 0), *outer = log_find(EV_RANGE, "layer", 0);
    assert_int_equal(outer->sequence, 3);
    assert_int_equal(inner->sequence, -1);
    assert_int_equal(outer->rank, 2);
    assert_true(outer->start <= inner->start && inner->end <= outer->end);
    assert_int_equal(log_.a[0].what, ACT_META);
    assert_string_equal(log_.a[0].text, "cpscope.batch tokens=5");
    const struct activity *mark = &log_.a[1];
    assert_string_equal(mark->text, "cpscope.batch tokens=5");
    assert_true(mark->start == mark->end && mark->transient);
    assert_true(mark->start >= inner->start && mark->end <= inner->end);
    assert_int_equal(log_count(EV_RANGE, NULL), 3);
}

TEST(host_cost_is_paid_per_op)
{
    struct device *d = open_cpu(0);
    device_host_cost(d, MS / 2);
    int64_t start = clock_now(), no_time = 0;
    for (int i = 0; i < 10; i++)
        dev_launch(device_stream(d), &k_sleep, &no_time, sizeof no_time);
    assert_true(clock_now() - start >= 5 * MS);
    dev_device_sync(d, SITE_HERE);
    device_host_cost(d, 0);
    device_close(d);
}

TEST(who_may_subscribe)
{
    assert_false(cpscope_activity_subscribe(ACTIVITY_VERSION + 1, log_take, &log_));
    log_start();
    assert_false(cpscope_activity_subscribe(ACTIVITY_VERSION, log_take, &log_));
    struct device *d = open_cpu(0);
    dev_stream_sync(device_stream(d), SITE_HERE);
    log_stop();
    size_t n = log_.n;
    dev_range_push(d, "unseen", -1);
    dev_stream_sync(device_stream(d), SITE_HERE);
    dev_range_pop(d);
    dev_mark(d, "unseen");
    device_close(d);
    assert_int_equal(log_.n, n);
    assert_int_equal(n, 1);
}

TEST(backends_by_name)
{
    struct err e = {0};
    assert_null(device_open("abacus", 0, 0, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.msg, "abacus"));
    struct device *d = open_cpu(5);
    assert_string_equal(device_backend_name(d), "cpu");
    assert_int_equal(device_rank(d), 5);
    device_close(d);
    device_close(NULL);
}

UNIT_MAIN(UNIT(a_stream_runs_in_order), UNIT(the_host_runs_ahead), UNIT(work_and_calls_are_joined), UNIT(a_wait_is_one_row),
          UNIT(copies_carry_their_bytes), UNIT(ranges_marks_ops_and_facts), UNIT(host_cost_is_paid_per_op), UNIT(who_may_subscribe),
          UNIT(backends_by_name))
