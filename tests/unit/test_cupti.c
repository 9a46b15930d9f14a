/* test_cupti.c - records made up by hand become the events they stand for: through our own walk over buffers at any record size, and
 * through the real cuptiActivityGetNextRecord where a libcupti is there. Nothing here is measured on a device. */
#include "cupti_layout.h"
#include "unit.h"

#include "collector/cupti_records.h"
#include "collector/launches.h"
#include "schemas/clock.h"
#include "schemas/tracefile.h"

#include <unistd.h>

enum { ROOM = 1 << 16, MOST = 200 };

static char path[64];
static size_t strides[CUPTI_NKINDS]; /* of our own walk */
static uint64_t buffer[ROOM / 8];
static size_t used;

static int walk(uint8_t *from, size_t valid, struct cupti_record **at)
{
    uint8_t *next = *at ? (uint8_t *)*at + strides[(*at)->kind] : from;
    if (next >= from + valid)
        return CUPTI_MAX_LIMIT;
    *at = (struct cupti_record *)next;
    return (*at)->kind < CUPTI_NKINDS && strides[(*at)->kind] ? CUPTI_OK : CUPTI_INVALID_KIND;
}

static int no_name(int domain, uint32_t cbid, const char **name)
{
    (void)domain, (void)cbid, (void)name;
    return CUPTI_BAD_PARAMETER;
}

static struct cupti own_walk = {.next_record = walk, .callback_name = no_name};

static struct recorder *open_recorder(void)
{
    snprintf(path, sizeof path, "cupti-%d.sqlite", (int)getpid());
    unlink(path);
    return recorder_open(&(struct recorder_config){.out = path});
}

static void load(struct recorder *r, struct tracedata *d)
{
    struct err e = {0};
    recorder_close(r);
    recorder_free(r);
    tracedata_init(d);
    assert_ok(tracefile_load(path, d, &e), &e);
    unlink(path);
}

static void add(const void *record, size_t size, size_t stride)
{
    memset((char *)buffer + used, 0x5a, stride); /* what a newer release would have behind it */
    memcpy((char *)buffer + used, record, size < stride ? size : stride);
    used += stride;
}

static void parse(struct records *p)
{
    records_parse(p, &(struct cupti_full){(uint8_t *)buffer, used});
    used = 0;
}

static struct cupti_kernel a_kernel(uint32_t id, uint64_t start)
{
    return (struct cupti_kernel){.kind = CUPTI_CONCURRENT_KERNEL,
                                 .registers = 40,
                                 .start = start,
                                 .end = start + 100 + id,
                                 .device = 3,
                                 .context = 2,
                                 .stream = 14,
                                 .grid = {5, 6, 7},
                                 .block = {8, 9, 10},
                                 .static_shared = 11,
                                 .dynamic_shared = 12,
                                 .correlation = id,
                                 .name = "a_kernel",
                                 .graph = 77,
                                 .graph_node = 88};
}

static const struct event *of_id(const struct tracedata *d, enum ev_kind kind, int64_t id)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->ev[i].kind == (int)kind && d->ev[i].correlation == id)
            return &d->ev[i];
    return NULL;
}

static int64_t lost(const struct tracedata *d, const char *word)
{
    int64_t n = 0;
    for (size_t i = 0; i < d->nloss; i++)
        if (strstr(intern_str(&d->strings, d->loss[i].reason), word))
            n += d->loss[i].count;
    return n;
}

TEST(layouts_are_those_of_the_toolkit)
{
    if (!HAVE_CUPTI_HEADERS)
        skip_because("no CUPTI headers");
}

/* One of each kind, whole: every field arrives. `c` walks the buffer. */
static void one_of_each(const struct cupti *c)
{
    uint64_t now = (uint64_t)clock_now();
    struct recorder *r = open_recorder();
    struct records p;
    struct tracedata d;
    struct cupti_kernel k = a_kernel(1, now);
    struct cupti_memcpy m = {CUPTI_MEMCPY, 2, 3, 1, 0, 4096, now, now + 50, 3, 2, 15, 2, 2};
    struct cupti_memcpy2 m2 = {CUPTI_MEMCPY2, 10, 3, 3, 0, 512, now, now + 60, 3, 2, 16, 0, 2, 1, 4, 3};
    struct cupti_memset s = {CUPTI_MEMSET, 9, 64, now, now + 5, 3, 2, 17, 4, 0, 3};
    struct cupti_event e = {CUPTI_CUDA_EVENT, 5, 2, 18, 31, 0, 3, 0, NULL, 0, 901};
    struct cupti_sync w = {CUPTI_SYNCHRONIZATION, CUPTI_SYNC_EVENT, now, now + 70, 6, 2, (uint32_t)CUPTI_NONE, 31, 901};
    struct cupti_sync all = {CUPTI_SYNCHRONIZATION, CUPTI_SYNC_CONTEXT, now, now + 80, 7, 2, (uint32_t)CUPTI_NONE, (uint32_t)CUPTI_NONE, 0};
    struct cupti_overhead_record o = {CUPTI_OVERHEAD, CUPTI_OVERHEAD_QUEUE_FULL, CUPTI_OBJECT_THREAD, 1, 4242, 0, now, now + 9, 0, 0, malloc(12)};
    struct cupti_api i = {CUPTI_INTERNAL_LAUNCH, 307, now, now + 3, 1, 4243, 8, 0};
    struct cupti_device v = {.kind = CUPTI_DEVICE, .id = 0, .major = 9, .minor = 0, .multiprocessors = 132, .memory = 1 << 30, .name = "made up"};
    struct cupti_context x = {CUPTI_CONTEXT, 2, 3, 2, 7};
    records_init(&p, r, c);
    add(&w, sizeof w, 56); /* before the recording of its event */
    add(&k, sizeof k, 216);
    add(&m, sizeof m, 96);
    add(&m2, sizeof m2, 96);
    add(&s, sizeof s, 88);
    add(&e, sizeof e, 56);
    add(&all, sizeof all, 56);
    add(&o, sizeof o, 56);
    add(&i, sizeof i, 40);
    add(&v, sizeof v, 184);
    add(&x, sizeof x, 32);
    parse(&p);
    records_round(&p, false);
    records_round(&p, true);
    records_free(&p);
    load(r, &d);
    const struct event *ev = of_id(&d, EV_KERNEL, 1);
    const struct ev_kernel *ek = ev_kernel_of(&d, ev);
    assert_int_equal(ev->start + d.t0, now);
    assert_int_equal(ev->end - ev->start, 101);
    assert_int_equal(ev->device, 3);
    assert_int_equal(d.streams[ev->stream].native, 14);
    assert_string_equal(intern_str(&d.strings, ev->name), "a_kernel");
    assert_true(ek->grid[0] == 5 && ek->grid[2] == 7 && ek->block[1] == 9 && ek->registers == 40 && ek->static_shared == 11 &&
                ek->dynamic_shared == 12);
    assert_true(ek->graph == 77 && ek->graph_node == 88);
    ev = of_id(&d, EV_MEMCPY, 2);
    assert_true(ev->bytes == 4096 && ev->end - ev->start == 50 && ev_copy_of(&d, ev)->kind == COPY_DTOH && ev_copy_of(&d, ev)->src == MEM_DEVICE &&
                ev_copy_of(&d, ev)->dst == MEM_PAGEABLE);
    ev = of_id(&d, EV_MEMCPY, 3);
    assert_true(ev->bytes == 512 && ev_copy_of(&d, ev)->kind == COPY_PTOP && d.streams[ev->stream].native == 16);
    ev = of_id(&d, EV_MEMSET, 4);
    assert_true(ev->bytes == 64 && ev_copy_of(&d, ev)->dst == MEM_DEVICE);
    ev = of_id(&d, EV_SYNC, 6);
    assert_true(ev_sync_of(&d, ev)->class == SYNC_EVENT && ev_sync_of(&d, ev)->wait_event == 31 && ev_sync_of(&d, ev)->wait_stream == 18);
    assert_int_equal(ev->device, 3);
    ev = of_id(&d, EV_SYNC, 7);
    assert_true(ev_sync_of(&d, ev)->class == SYNC_DEVICE && ev_sync_of(&d, ev)->wait_event == -1 && ev->end - ev->start == 80);
    ev = of_id(&d, EV_RUNTIME, 8);
    assert_int_equal(d.threads[ev->thread].tid, 4243);
    assert_string_equal(tracedata_meta_get(&d, "device_name"), "made up");
    assert_string_equal(tracedata_meta_get(&d, "cuda_mps"), "1");
    for (size_t n = 0; n < d.n; n++)
        if (d.ev[n].kind == EV_OVERHEAD) {
            assert_string_equal(intern_str(&d.strings, d.ev[n].name), "Command Buffer Full");
            assert_int_equal(d.threads[d.ev[n].thread].tid, 4242);
        }
    assert_int_equal(d.n, 8);
    assert_int_equal(d.nloss, 0);
    tracedata_free(&d);
}

TEST(each_kind_arrives_whole)
{
    static const struct {
        int kind;
        size_t stride;
    } of[] = {{CUPTI_CONCURRENT_KERNEL, 216}, {CUPTI_MEMCPY, 96},   {CUPTI_MEMCPY2, 96},         {CUPTI_MEMSET, 88},  {CUPTI_CUDA_EVENT, 56},
              {CUPTI_SYNCHRONIZATION, 56},    {CUPTI_OVERHEAD, 56}, {CUPTI_INTERNAL_LAUNCH, 40}, {CUPTI_DEVICE, 184}, {CUPTI_CONTEXT, 32}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        strides[of[i].kind] = of[i].stride;
    one_of_each(&own_walk);
}

TEST(real_cupti_walks_the_same_buffer)
{
    struct cupti real;
    char why[400];
    if (!cupti_bind(&real, why, sizeof why))
        skip_because("%s", why);
    one_of_each(&real);
}

/* Any length from the least that a kind needs, in any order and split: what is there is read, what is not is none. */
TEST(records_of_any_length)
{
    PROP(60)
    {
        uint64_t now = (uint64_t)clock_now();
        struct recorder *r = open_recorder();
        struct records p;
        struct tracedata d;
        int n = 1 + (int)rnd(MOST), shorter = 0;
        size_t stride = 96 + 8 * rnd(30), least = 112; /* up to a kernel's name */
        records_init(&p, r, &own_walk);
        strides[CUPTI_CONCURRENT_KERNEL] = stride;
        for (int i = 1; i <= n; i++) {
            struct cupti_kernel k = a_kernel((uint32_t)i, now + (uint64_t)i);
            if (used + stride > ROOM || rnd(20) == 0)
                parse(&p);
            add(&k, sizeof k, stride);
            shorter += stride < least;
        }
        parse(&p);
        strides[CUPTI_CONTEXT] = 32; /* one more, so that there is a file */
        recorder_emit(r, &(struct activity){.what = ACT_EVENT, .kind = EV_OP, .name = "op", .correlation = -1, .bytes = -1});
        records_round(&p, true);
        records_free(&p);
        load(r, &d);
        assert_int_equal(d.n, 1 + n - shorter);
        assert_int_equal(lost(&d, "shorter than their kind"), shorter);
        for (int i = 1; i <= n && !shorter; i++) {
            const struct event *ev = of_id(&d, EV_KERNEL, i);
            bool has_graph = stride >= offsetof(struct cupti_kernel, graph) + 4;
            assert_int_equal(ev->end - ev->start, 100 + i);
            assert_int_equal(ev_kernel_of(&d, ev)->graph, has_graph ? 77 : 0);
        }
        tracedata_free(&d);
    }
}

TEST(flawed_times_are_counted)
{
    uint64_t now = (uint64_t)clock_now();
    struct recorder *r = open_recorder();
    struct records p;
    struct tracedata d;
    struct cupti_kernel k[4] = {a_kernel(1, now), a_kernel(2, now), a_kernel(3, now), a_kernel(4, now)};
    strides[CUPTI_CONCURRENT_KERNEL] = sizeof k[0];
    k[1].start = k[1].end = 0;
    k[2].end = 0;
    k[3].end = k[3].start - 1;
    records_init(&p, r, &own_walk);
    for (int i = 0; i < 4; i++)
        add(&k[i], sizeof k[i], sizeof k[i]);
    parse(&p);
    records_round(&p, true);
    records_free(&p);
    load(r, &d);
    assert_int_equal(d.n, 3);
    assert_null(of_id(&d, EV_KERNEL, 2));
    assert_int_equal(of_id(&d, EV_KERNEL, 4)->end - of_id(&d, EV_KERNEL, 4)->start, -1);
    assert_int_equal(lost(&d, "without a time"), 1);
    assert_int_equal(lost(&d, "without an end"), 1);
    assert_int_equal(lost(&d, "before their start"), 1);
    tracedata_free(&d);
}

/* A time that cannot be would stretch the recording, or make its file one that nobody opens; where the clock is not known it cannot be told. */
TEST(times_outside_of_the_recording_are_left_out)
{
    static const uint64_t hour = 3600000000000, top = UINT64_C(1) << 63;
    for (int known = 0; known < 2; known++) {
        struct recorder *r = open_recorder();
        uint64_t now = (uint64_t)recorder_epoch(r);
        struct records p;
        struct tracedata d;
        struct cupti_kernel k[6] = {a_kernel(1, now), a_kernel(2, now - hour), a_kernel(3, now + hour),
                                    a_kernel(4, now), a_kernel(5, now),        a_kernel(6, now)};
        strides[CUPTI_CONCURRENT_KERNEL] = sizeof k[0];
        k[3].end = now + hour;
        k[4].start += top;
        k[4].end += top;
        k[5].end = 0; /* still running */
        records_init(&p, r, &own_walk);
        p.clock_known = known;
        for (int i = 0; i < 6; i++)
            if (known || i != 4)
                add(&k[i], sizeof k[i], sizeof k[i]);
        parse(&p);
        records_round(&p, true);
        records_free(&p);
        load(r, &d);
        assert_int_equal(d.n, known ? 2 : 5);
        assert_non_null(of_id(&d, EV_KERNEL, 1));
        assert_int_equal(lost(&d, "outside of the recording"), known ? 4 : 0);
        assert_int_equal(lost(&d, "without an end"), 1);
        tracedata_free(&d);
    }
}

/* A kernel that is delivered before NCCL's last word on it is held back, and a plain one is not. */
TEST(kernel_waits_for_what_it_carries)
{
    uint64_t now = (uint64_t)clock_now();
    struct recorder *r = open_recorder();
    struct records p;
    struct tracedata d;
    struct cupti_kernel k[3] = {a_kernel(11, now), a_kernel(12, now), a_kernel(13, now)};
    struct nccl_work w = {.group = "g",
                          .function = "all_gather",
                          .dtype = "int8",
                          .sequence = 5,
                          .sent = -1,
                          .message_bytes = 99,
                          .peer = -1,
                          .ranks = 4,
                          .operations = 1};
    strides[CUPTI_CONCURRENT_KERNEL] = sizeof k[0];
    launch_collect(true);
    launch_begin(12);
    launch_begin(13);
    launch_alias(13, 113);
    records_init(&p, r, &own_walk);
    for (int i = 0; i < 3; i++)
        add(&k[i], sizeof k[i], sizeof k[i]);
    parse(&p);
    assert_int_equal(p.nheld, 1); /* 13 stands for 113, of which nothing is known */
    assert_true(launch_put(12, &w));
    records_round(&p, false);
    assert_int_equal(p.nheld, 0);
    records_free(&p);
    load(r, &d);
    const struct event *ev = of_id(&d, EV_COMM, 12);
    assert_non_null(of_id(&d, EV_KERNEL, 11));
    assert_non_null(of_id(&d, EV_KERNEL, 113));
    assert_non_null(ev);
    assert_true(ev_comm_of(&d, ev)->sequence == 5 && ev_comm_of(&d, ev)->message_bytes == 99 && ev_comm_of(&d, ev)->group_size == 4);
    tracedata_free(&d);
    launch_forked();
}

TEST(buffers_end_and_come_back)
{
    uint8_t *b[BUFFERS + 2];
    size_t size, records;
    struct cupti_full f;
    assert_true(buffers_open(true));
    for (int i = 0; i < BUFFERS + 2; i++)
        buffers_request(&b[i], &size, &records);
    assert_non_null(b[BUFFERS - 1]);
    assert_null(b[BUFFERS]);
    assert_int_equal(buffers_refused(), 2);
    assert_int_equal(buffers_refused(), 0);
    for (int i = 0; i < 3; i++) {
        memset(b[i], 1, 64);
        buffers_complete(NULL, 0, b[i], BUFFER_BYTES, 64);
    }
    for (int i = 0; i < 3; i++) { /* the oldest first, and clean when it is given back */
        assert_true(buffers_next(&f));
        assert_ptr_equal(f.data, b[i]);
        assert_int_equal(f.valid, 64);
        buffers_give(&f);
        assert_int_equal(b[i][63], 0);
    }
    assert_false(buffers_next(&f));
    buffers_open(false);
    buffers_complete(NULL, 0, NULL, 0, 0);
    for (int i = 0; i < 4; i++)
        buffers_request(&b[0], &size, &records);
    assert_non_null(b[0]); /* an old CUPTI must be given something */
    buffers_complete(NULL, 0, b[0], size, size);
    assert_false(buffers_next(&f));
}

UNIT_MAIN(UNIT(layouts_are_those_of_the_toolkit), UNIT(each_kind_arrives_whole), UNIT(real_cupti_walks_the_same_buffer), UNIT(records_of_any_length),
          UNIT(flawed_times_are_counted), UNIT(times_outside_of_the_recording_are_left_out), UNIT(kernel_waits_for_what_it_carries),
          UNIT(buffers_end_and_come_back))
