/* random_trace.h - traces of random rows of every kind, odd values among them, and when two are the same. */
#pragma once
#include "schemas/tracedata.h"
#include "unit.h"

static inline int64_t some(int64_t none) /* a value, sometimes the absent one, sometimes an extreme */
{
    static const int64_t odd[] = {0, 1, INT64_MAX, -1, 4096, INT64_C(1) << 40};
    uint64_t k = rnd(12);
    return k < 2 ? none : k < 8 ? odd[k - 2] : (int64_t)rnd(1u << 30);
}

static inline int64_t some_time(void)
{
    return rnd(8) ? (int64_t)rnd(1u << 30) : (int64_t)rnd(UINT64_C(1) << 62) - (INT64_C(1) << 61);
}

static inline uint32_t some_string(struct tracedata *d)
{
    static const char *const texts[] = {"gemm", "", "<script>", "a\nb\x01", "\xff\xfe not UTF-8", "it's \"quoted\"", "\xe2\x82\xac"};
    return intern_id(&d->strings, texts[rnd(7)]);
}

static inline uint32_t some_detail(struct tracedata *d, int kind)
{
    int32_t s = (int32_t)rnd(6);
    switch (rnd(4) ? kind : EV_NKINDS) {
    case EV_RUNTIME:
    case EV_SYNC:
        return tracedata_sync_row(d, (struct ev_sync){s, (int32_t)rnd(3) - 1, some(-1), some(-1)});
    case EV_KERNEL:
        return tracedata_kernel_row(d, (struct ev_kernel){{s, 1, 1}, {128, s, 1}, 32, s, 1024, some(0), some(0)});
    case EV_COMM:
        return tracedata_comm_row(d, (struct ev_comm){some_string(d), some_string(d), some_string(d), (int32_t)rnd(3) - 1, 4, some(-1), some(-1)});
    case EV_MEMCPY:
    case EV_MEMSET:
        return tracedata_copy_row(d, (struct ev_copy){s, (int32_t)rnd(6), (int32_t)rnd(6)});
    case EV_RANGE:
        return tracedata_range_row(d, (struct ev_range){some_string(d), (int32_t)rnd(3), some(-1)});
    }
    return 0;
}

static inline void add_event(struct tracedata *d, struct err *e)
{
    int kind = (int)rnd(EV_NKINDS);
    struct event v = event_none((enum ev_kind)kind, some_time(), some_time());
    uint32_t process = tracedata_process(d, some(-1), rnd(2) ? "host" : "", (int32_t)rnd(3) - 1);
    v.name = some_string(d);
    v.rank = (int32_t)rnd(5) - 1;
    v.device = (int32_t)rnd(5) - 1;
    v.correlation = some(-1);
    v.bytes = some(-1);
    if (rnd(2))
        v.thread = tracedata_thread(d, process, (int64_t)rnd(9), rnd(2) ? "worker" : NULL);
    if (rnd(2))
        v.stream = tracedata_stream(d, process, v.device, (int64_t)rnd(3));
    if (rnd(2))
        v.site = tracedata_site(d, "route_build", rnd(2) ? "route.c" : "", (int32_t)rnd(3));
    v.detail = some_detail(d, kind);
    assert_ok(tracedata_event(d, &v, e), e);
}

static inline void add_facts(struct tracedata *d)
{
    d->t0 = (int64_t)rnd(1u << 30);
    tracedata_meta(d, "backend", "cpu");
    tracedata_metaf(d, "tokens", "%d", (int)rnd(4096));
    tracedata_loss(d, "dropped", some(-1), 5, some(INT64_MIN));
    struct clock_row c = {intern_id(&d->strings, "realtime"), 1, 2, 3};
    ARRAY_PUSH(d->clocks, d->nclocks, d->clocks_cap, c);
    struct memory_row m = {5, some(-1), 0, 1, intern_id(&d->strings, "peak")};
    ARRAY_PUSH(d->memory, d->nmemory, d->memory_cap, m);
}

static inline void random_trace(struct tracedata *d, size_t events)
{
    struct err e = {0};
    tracedata_init(d);
    add_facts(d);
    for (size_t i = 0; i < events; i++)
        add_event(d, &e);
}

/* ---- equal, by meaning: ids may differ, what they stand for may not ---- */

static inline void same_text(const struct tracedata *a, uint32_t x, const struct tracedata *b, uint32_t y)
{
    assert_string_equal(intern_str(&a->strings, x), intern_str(&b->strings, y));
}

/* Two pieces of a side row, around the padding of its struct. */
static inline void same_side(const void *x, const void *y, size_t until, size_t from, size_t end)
{
    assert_int_equal(x != NULL, y != NULL);
    if (x) {
        assert_memory_equal(x, y, until);
        assert_memory_equal((const char *)x + from, (const char *)y + from, end - from);
    }
}
#define SAME_SIDE(fn, type, last, next)                                                                                                              \
    same_side(fn(a, x), fn(b, y), offsetof(struct type, last) + sizeof(((struct type *)0)->last), offsetof(struct type, next), sizeof(struct type))

static inline void same_event(const struct tracedata *a, const struct tracedata *b, size_t i)
{
    const struct event *x = &a->ev[i], *y = &b->ev[i];
    assert_int_equal(x->start, y->start);
    assert_int_equal(x->end, y->end);
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->correlation, y->correlation);
    assert_int_equal(x->bytes, y->bytes);
    assert_int_equal(x->rank, y->rank);
    assert_int_equal(x->device, y->device);
    same_text(a, x->name, b, y->name);
    assert_int_equal(a->threads[x->thread].tid, b->threads[y->thread].tid);
    same_text(a, a->threads[x->thread].name, b, b->threads[y->thread].name);
    assert_int_equal(a->processes[a->threads[x->thread].process].pid, b->processes[b->threads[y->thread].process].pid);
    assert_int_equal(a->streams[x->stream].native, b->streams[y->stream].native);
    assert_int_equal(a->streams[x->stream].device, b->streams[y->stream].device);
    same_text(a, a->sites[x->site].file, b, b->sites[y->site].file);
    assert_int_equal(a->sites[x->site].line, b->sites[y->site].line);
    SAME_SIDE(ev_sync_of, ev_sync, wait_event, wait_event);
    SAME_SIDE(ev_kernel_of, ev_kernel, dynamic_shared, graph);
    SAME_SIDE(ev_comm_of, ev_comm, group_size, sequence);
    SAME_SIDE(ev_copy_of, ev_copy, dst, dst);
    SAME_SIDE(ev_range_of, ev_range, index, index);
}

static inline void same_trace(const struct tracedata *a, const struct tracedata *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->t0, b->t0);
    for (size_t i = 0; i < a->n; i++)
        same_event(a, b, i);
    assert_int_equal(a->nloss, b->nloss);
    assert_int_equal(a->loss[0].count, b->loss[0].count);
    assert_int_equal(a->loss[0].end, b->loss[0].end);
    same_text(a, a->loss[0].reason, b, b->loss[0].reason);
    assert_int_equal(a->nclocks, b->nclocks);
    assert_int_equal(a->clocks[0].after, b->clocks[0].after);
    assert_int_equal(a->nmemory, b->nmemory);
    assert_int_equal(a->memory[0].bytes, b->memory[0].bytes);
    for (size_t i = 0; i < a->nmeta; i++)
        assert_string_equal(intern_str(&a->strings, a->meta[i].value), tracedata_meta_get(b, intern_str(&a->strings, a->meta[i].key)));
}
