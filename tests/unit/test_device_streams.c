/* test_device_streams.c - several streams and events between them; stream-ordered memory and its accounting. */
#include "activity_log.h"
#include "kernels/device/device.h"

#include <stdatomic.h>
#include <time.h>

static struct device *open_cpu(void)
{
    struct err e = {0};
    struct device *d = device_open("cpu", 0, 0, &e);
    if (!d)
        fail_msg("%s", e.msg);
    return d;
}

/* ---- events between streams ---- */

static _Atomic int64_t tickets;

struct take {
    int64_t *ticket;
    int64_t ns;
};

static void kernel_take(const void *args)
{
    const struct take *a = args;
    if (a->ns)
        nanosleep(&(struct timespec){0, a->ns}, NULL);
    *a->ticket = atomic_fetch_add(&tickets, 1);
}
static const struct kernel k_take = {"take", kernel_take, NULL};

enum { STREAMS = 3, EVENTS = 4, STEPS = 60 };

/* The model: for each stream and event, the steps that must have run before it, as a set. */
struct model {
    bool before_stream[STREAMS][STEPS], before_event[EVENTS][STEPS], before_step[STEPS][STEPS];
    int64_t ticket[STEPS];
};

static void add(bool *to, const bool *more)
{
    for (int i = 0; i < STEPS; i++)
        to[i] |= more[i];
}

static void random_step(struct model *m, int step, struct stream **s, struct dev_event **ev)
{
    size_t i = rnd(STREAMS), k = rnd(EVENTS);
    if (rnd(3) == 0) {
        dev_event_record(ev[k], s[i]);
        memcpy(m->before_event[k], m->before_stream[i], sizeof m->before_event[k]);
    } else if (rnd(2)) {
        dev_stream_wait_event(s[i], ev[k]);
        add(m->before_stream[i], m->before_event[k]);
    }
    memcpy(m->before_step[step], m->before_stream[i], sizeof m->before_step[step]);
    DEV_LAUNCH(s[i], k_take, (struct take){&m->ticket[step], rnd(8) ? 0 : 50000});
    m->before_stream[i][step] = true;
}

TEST(events_order_streams)
{
    struct device *d = open_cpu();
    struct stream *s[STREAMS] = {device_stream(d), stream_open(d), stream_open(d)};
    PROP(60)
    {
        static struct model m;
        struct dev_event *ev[EVENTS];
        memset(&m, 0, sizeof m);
        for (int k = 0; k < EVENTS; k++)
            ev[k] = dev_event_open(d);
        for (int step = 0; step < STEPS; step++)
            random_step(&m, step, s, ev);
        size_t waited = rnd(EVENTS);
        dev_event_sync(ev[waited], SITE_HERE);
        int64_t now = atomic_load(&tickets);
        for (int i = 0; i < STEPS; i++)
            if (m.before_event[waited][i])
                assert_in_range(m.ticket[i], 0, now - 1);
        for (int k = 0; k < EVENTS; k++)
            dev_event_close(ev[k]); /* records and waits may still be enqueued */
        dev_device_sync(d, SITE_HERE);
        for (int x = 0; x < STEPS; x++)
            for (int y = 0; y < STEPS; y++)
                if (m.before_step[y][x])
                    assert_true(m.ticket[x] < m.ticket[y]);
    }
    stream_close(s[1]);
    device_close(d); /* closes the other one too */
}

static atomic_int met;

/* Ends when three of them run at the same time, or after five seconds. */
static void kernel_meet(const void *args)
{
    int *count = *(int *const *)args;
    atomic_fetch_add(&met, 1);
    for (int i = 0; i < 5000 && atomic_load(&met) < 3; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    *count = atomic_load(&met);
}
static const struct kernel k_meet = {"meet", kernel_meet, NULL};

TEST(streams_have_numbers_and_run_side_by_side)
{
    log_start();
    struct device *d = open_cpu();
    struct stream *s[3] = {device_stream(d), stream_open(d), stream_open(d)};
    int counts[3] = {0};
    for (int i = 0; i < 3; i++) {
        int *p = &counts[i];
        dev_launch(s[i], &k_meet, &p, sizeof p);
    }
    dev_device_sync(d, SITE_HERE);
    device_close(d);
    log_stop();
    bool seen[32] = {0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(counts[i], 3);
        seen[log_find(EV_KERNEL, "meet", i)->stream] = true;
    }
    assert_true(seen[7] && seen[13] && seen[14]);
}

TEST(a_device_side_wait_is_a_note_and_no_host_wait)
{
    log_start();
    struct device *d = open_cpu();
    struct stream *other = stream_open(d);
    struct dev_event *ev = dev_event_open(d);
    int64_t t[2];
    dev_stream_wait_event(other, ev); /* never recorded: nothing */
    DEV_LAUNCH(device_stream(d), k_take, (struct take){&t[0], 20000000});
    dev_event_record(ev, device_stream(d));
    dev_stream_wait_event(other, ev);
    DEV_LAUNCH(other, k_take, (struct take){&t[1], 0});
    dev_stream_sync(other, SITE_HERE);
    assert_true(t[0] < t[1]);
    dev_event_close(ev);
    device_close(d);
    log_stop();
    assert_int_equal(log_waits(SYNC_NONE), 1);
    assert_int_equal(log_count(EV_SYNC, NULL), 1);
    assert_int_equal(log_find(EV_SYNC, "Stream Wait Event", 0)->stream, 13);
    assert_int_equal(log_count(EV_RUNTIME, "deviceStreamWaitEvent"), 2);
    assert_int_equal(log_count(EV_RUNTIME, "deviceEventRecord"), 1);
}

/* ---- memory ---- */

enum { LIVE = 40 };

struct blocks {
    unsigned char *p[LIVE];
    size_t size[LIVE];
    int64_t in_use, peak, peak_ever;
};

static void random_block(struct blocks *b, struct device *d)
{
    size_t i = rnd(LIVE);
    if (b->p[i]) {
        assert_int_equal(b->p[i][0], i);
        assert_int_equal(b->p[i][b->size[i] - 1], i);
        dev_free(d, b->p[i]);
        b->p[i] = NULL;
        b->in_use -= (int64_t)b->size[i];
        return;
    }
    size_t n = 1 + rnd(rnd(4) ? 700 : 100000);
    b->p[i] = dev_alloc(d, n);
    assert_int_equal((uintptr_t)b->p[i] % 64, 0);
    memset(b->p[i], (int)i, n); /* overlap with another block would show there */
    b->size[i] = n;
    b->in_use += (int64_t)n;
    b->peak = b->in_use > b->peak ? b->in_use : b->peak;
    b->peak_ever = b->peak > b->peak_ever ? b->peak : b->peak_ever;
}

TEST(memory_is_counted_exactly)
{
    struct blocks b = {0};
    log_start();
    struct device *d = open_cpu();
    dev_free(d, NULL);
    PROP(20000)
    {
        random_block(&b, d);
        assert_int_equal(dev_memory_peak(d), b.peak);
        if (rnd(1000) == 0) {
            dev_memory_reset_peak(d);
            b.peak = b.in_use;
        }
    }
    device_close(d); /* with blocks in use */
    log_stop();
    assert_int_equal(log_.n, 1);
    assert_int_equal(log_.a[0].what, ACT_MEMORY);
    assert_string_equal(log_.a[0].name, "peak");
    assert_int_equal(log_.a[0].bytes, b.peak_ever);
}

struct twice {
    const int64_t *in;
    int64_t *out;
};

static void kernel_twice(const void *args)
{
    const struct twice *a = args;
    for (int i = 0; i < 300; i++)
        a->out[i] = 2 * a->in[i];
}
static const struct kernel k_twice = {"twice", kernel_twice, NULL};

/* A block is given back and handed out again while the work on it has not run yet. */
TEST(memory_is_reused_in_stream_order)
{
    enum { ROUNDS = 3000 };
    struct device *d = open_cpu();
    struct stream *s = device_stream(d);
    int64_t *sums = dev_alloc(d, ROUNDS * sizeof *sums), values[300], *got = malloc(ROUNDS * sizeof *got);
    for (int64_t r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < 300; i++)
            values[i] = r + i;
        int64_t *in = dev_alloc(d, sizeof values);
        dev_upload_async(s, in, values, sizeof values);
        int64_t *out = dev_alloc(d, sizeof values);
        DEV_LAUNCH(s, k_twice, (struct twice){in, out});
        dev_free(d, in);
        dev_copy_async(s, &sums[r], &out[299], sizeof *sums);
        dev_free(d, out);
    }
    dev_download(s, got, sums, ROUNDS * sizeof *got, SITE_HERE);
    for (int64_t r = 0; r < ROUNDS; r++)
        assert_int_equal(got[r], 2 * (r + 299));
    assert_int_equal(dev_memory_peak(d), ROUNDS * 8 + 2 * (int64_t)sizeof values);
    free(got);
    dev_free(d, sums);
    device_close(d);
}

UNIT_MAIN(UNIT(events_order_streams), UNIT(streams_have_numbers_and_run_side_by_side), UNIT(a_device_side_wait_is_a_note_and_no_host_wait),
          UNIT(memory_is_counted_exactly), UNIT(memory_is_reused_in_stream_order))
