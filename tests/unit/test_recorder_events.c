/* test_recorder_events.c - what becomes of one event. */
#include "recorder_run.h"

#include "collector/ranges.h"

#include <pthread.h>
#include <stdatomic.h>

static const struct event *find(const struct tracedata *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(intern_str(&d->strings, d->ev[i].name), name) == 0)
            return &d->ev[i];
    fail_msg("no event is called %s", name);
    return NULL;
}

static void emit_kinds(struct recorder *r)
{
    static const struct site here = {"route_build", "kernels/layout/route.c", 42};
    struct activity a = event(2, 7);
    a.kind = EV_RANGE;
    a.name = "layer";
    a.sequence = 3;
    recorder_emit(r, &a);
    a = event(2, 8);
    a.kind = EV_RANGE;
    a.name = a.text = "cpscope.batch tokens=1";
    a.transient = true;
    a.end = a.start;
    recorder_emit(r, &a);
    a = event(2, 9);
    a.kind = EV_RUNTIME;
    a.name = "deviceStreamSynchronize";
    a.sync_class = SYNC_STREAM;
    a.did_block = 1;
    a.device = 1;
    a.stream = 13;
    a.site = &here;
    recorder_emit(r, &a);
    a = event(2, 10);
    a.kind = EV_COMM;
    a.name = "comm.all_gather";
    a.function = "all_gather";
    a.group = "cp";
    a.sequence = 5;
    a.group_size = 4;
    a.bytes = 4096;
    a.device = 1;
    a.stream = 7;
    recorder_emit(r, &a);
    a = event(2, 11);
    a.kind = EV_MEMCPY;
    a.name = "copy";
    a.copy_kind = COPY_DTOH;
    recorder_emit(r, &a);
    a.what = ACT_MEMORY;
    a.name = "peak";
    a.bytes = 1 << 20;
    recorder_emit(r, &a);
    a.what = ACT_META;
    a.name = "mode";
    a.text = "gdn.chunkwise";
    recorder_emit(r, &a);
}

TEST(events_keep_what_they_say)
{
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    emit_kinds(r);
    recorder_close(r);
    load(&d);
    assert_int_equal(d.n, 5);
    const struct event *v = find(&d, "layer#3");
    assert_int_equal(ev_range_of(&d, v)->index, 3);
    assert_int_equal(ev_range_of(&d, v)->flavour, RANGE_PUSH_POP);
    assert_int_equal(d.threads[v->thread].tid, getpid());
    assert_int_equal(v->rank, 2);
    v = find(&d, "cpscope.batch tokens=1");
    assert_int_equal(ev_range_of(&d, v)->flavour, RANGE_MARK);
    v = find(&d, "deviceStreamSynchronize");
    assert_int_equal(ev_sync_of(&d, v)->class, SYNC_STREAM);
    assert_int_equal(ev_sync_of(&d, v)->did_block, 1);
    assert_int_equal(ev_sync_of(&d, v)->wait_stream, 13);
    assert_int_equal(d.sites[v->site].line, 42);
    assert_string_equal(intern_str(&d.strings, d.sites[v->site].function), "route_build");
    v = find(&d, "comm.all_gather");
    assert_int_equal(ev_comm_of(&d, v)->sequence, 5);
    assert_int_equal(ev_comm_of(&d, v)->group_size, 4);
    assert_int_equal(ev_comm_of(&d, v)->peer, -1);
    assert_string_equal(intern_str(&d.strings, ev_comm_of(&d, v)->communicator), "cp");
    assert_string_equal(intern_str(&d.strings, ev_comm_of(&d, v)->function), "all_gather");
    assert_int_equal(v->bytes, 4096);
    assert_int_equal(v->thread, 0);
    assert_int_equal(d.streams[v->stream].native, 7);
    assert_int_equal(d.streams[v->stream].device, 1);
    assert_int_equal(ev_copy_of(&d, find(&d, "copy"))->kind, COPY_DTOH);
    assert_int_equal(d.nmemory, 1);
    assert_int_equal(d.memory[0].bytes, 1 << 20);
    assert_int_equal(d.nclocks, 2);
    assert_string_equal(tracedata_meta_get(&d, "mode"), "gdn.chunkwise");
    assert_string_equal(tracedata_meta_get(&d, "record_events"), "5");
    tracedata_free(&d);
    recorder_free(r);
}

TEST(virtual_time_starts_at_zero)
{
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    struct activity a = event(0, 1);
    a.start = 1000;
    a.end = 1500;
    recorder_meta(r, "backend", "sim");
    recorder_emit(r, &a);
    recorder_close(r);
    load(&d);
    assert_int_equal(d.t0, 0);
    assert_int_equal(d.ev[0].start, 1000);
    assert_int_equal(d.ev[0].end, 1500);
    assert_int_equal(d.nclocks, 0);
    tracedata_free(&d);
    recorder_free(r);
}

TEST(kinds_are_chosen)
{
    struct tracedata d;
    snprintf(path, sizeof path, "recorder-%d.sqlite", (int)getpid());
    struct recorder *r = recorder_open(&(struct recorder_config){.out = path, .kinds = 1u << EV_RANGE | 1u << EV_COMM});
    emit_kinds(r);
    recorder_close(r);
    load(&d);
    assert_int_equal(d.n, 3);
    assert_string_equal(tracedata_meta_get(&d, "record_kinds"), "comm,range");
    tracedata_free(&d);
    recorder_free(r);
}

enum { PUSHERS = 3, PUSHES = 20000 };

struct pusher {
    struct recorder *r;
    uint64_t seed;
    int64_t kept; /* ranges that were pushed */
    _Atomic bool *go_on;
};

static void *push_and_pop(void *p)
{
    static const char owners[2];
    struct pusher *t = p;
    for (int i = 0; i < PUSHES || atomic_load(t->go_on); i++) {
        t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
        const void *owner = &owners[t->seed >> 40 & 1];
        if (t->seed >> 41 & 1)
            t->kept += ranges_push(t->r, owner, NULL, "layer") >= 0;
        else
            ranges_pop(t->r, owner);
        if (i >= PUSHES)
            usleep(1000);
    }
    return NULL;
}

/* Whoever ends it, each range is in the trace once. */
TEST(ranges_end_once)
{
    struct tracedata d;
    struct pusher p[PUSHERS];
    pthread_t t[PUSHERS];
    _Atomic bool go_on = true;
    int64_t kept = 0;
    struct recorder *r = open_recorder(0);
    for (int i = 0; i < PUSHERS; i++) {
        p[i] = (struct pusher){.r = r, .seed = (uint64_t)i + 1, .go_on = &go_on};
        assert_int_equal(pthread_create(&t[i], NULL, push_and_pop, &p[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        ranges_end(r);
    atomic_store(&go_on, false);
    for (int i = 0; i < PUSHERS; i++) {
        pthread_join(t[i], NULL);
        kept += p[i].kept;
    }
    recorder_close(r);
    load(&d);
    assert_true(kept > 0); /* while ranges are being ended none begins */
    assert_int_equal(d.n, kept);
    for (size_t i = 0; i < d.n; i++)
        assert_true(d.ev[i].end >= d.ev[i].start && d.ev[i].start >= 0);
    tracedata_free(&d);
    recorder_free(r);
}

UNIT_MAIN(UNIT(events_keep_what_they_say), UNIT(virtual_time_starts_at_zero), UNIT(kinds_are_chosen), UNIT(ranges_end_once))
