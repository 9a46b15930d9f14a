/* Chrome traces of any program. */
#include "import_cases.h"

TEST(cases_are_as_their_names_say)
{
    all_cases("import_chrome", "chrome", 12);
}

static void check(const struct tracedata *d, size_t i, enum ev_kind kind, const char *name, int64_t start, int64_t length)
{
    const struct event *ev = &d->ev[i];
    if (ev->kind != (int)kind || strcmp(event_name(d, i), name) != 0 || ev->start != start || ev->end - ev->start != length)
        fail_msg("row %zu: %s %s at %lld for %lld", i, ev_kind_name((enum ev_kind)ev->kind), event_name(d, i), (long long)ev->start,
                 (long long)(ev->end - ev->start));
}

TEST(begins_and_ends_match_thread_by_thread)
{
    struct tracedata d = case_load("import_chrome", "ranges_and_marks(ok,events=5,loss=0).json");
    check(&d, 0, EV_RANGE, "load", 0, 5500);
    check(&d, 1, EV_RANGE, "inner", 12000, 1000);
    check(&d, 2, EV_RANGE, "outer", 10000, 10000);
    check(&d, 3, EV_RANGE, "other", 11000, 19000);
    check(&d, 4, EV_RANGE, "here", 15000, 0);
    assert_int_equal(ev_range_of(&d, &d.ev[4])->flavour, RANGE_MARK);
    assert_int_equal(d.threads[d.ev[3].thread].tid, 3);
    assert_string_equal(tracedata_meta_get(&d, "backend"), "cpu");
    tracedata_free(&d);
}

TEST(device_lanes_are_told_by_their_names)
{
    static const char *const files[] = {"streams_of_xla(ok,events=4,loss=0).json", "streams_named_behind(ok,events=4,loss=0).json"};
    for (size_t i = 0; i < 2; i++) {
        struct tracedata d = case_load("import_chrome", files[i]);
        check(&d, 0, EV_KERNEL, "fusion.3", 0, 2250);
        check(&d, 1, EV_MEMCPY, "MemcpyD2H", 2500, 1000);
        check(&d, 2, EV_GPU_RANGE, "step 1", -500, 10000); /* not a stream: no work */
        check(&d, 3, EV_RANGE, "TfExecute", -10500, 30000);
        assert_int_equal(d.ev[0].device, 3);
        assert_int_equal(d.streams[d.ev[0].stream].native, 7);
        assert_null(tracedata_meta_get(&d, "backend")); /* the file does not say whose GPU it is */
        tracedata_free(&d);
    }
    struct tracedata d = case_load("import_chrome", "rocprof_v1(ok,events=3,loss=0).json");
    check(&d, 0, EV_RUNTIME, "hipLaunchKernel", 0, 11422); /* ns as they were measured */
    check(&d, 1, EV_KERNEL, "gemm", 15423, 10003);
    check(&d, 2, EV_MEMCPY, "CopyDeviceToHost", 35422, 10000);
    assert_string_equal(tracedata_meta_get(&d, "backend"), "rocm");
    tracedata_free(&d);
}

static long long lost(const struct tracedata *d, const char *reason)
{
    for (size_t i = 0; i < d->nloss; i++)
        if (strcmp(intern_str(&d->strings, d->loss[i].reason), reason) == 0)
            return d->loss[i].count;
    return 0;
}

/* Random nests of begins and ends, in random order over threads, against a stack per thread; of any program and of Kineto. */
TEST(nests_match_a_stack)
{
    enum { THREADS = 3, STEPS = 40 };
    PROP(200)
    {
        char text[1 << 13];
        struct {
            int64_t start[STEPS];
            int n;
        } stack[THREADS] = {0};
        const char *cat = prop_ % 2 ? "\"cat\":\"user_annotation\"," : "";
        long long want_sum = 0, got_sum = 0, lone = 0, open = 0;
        size_t n = (size_t)sprintf(text, "[{\"ph\":\"X\",%s\"name\":\"z\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1}", cat), events = 1;
        for (int i = 1; i <= STEPS; i++) {
            size_t t = rnd(THREADS);
            bool ends = rnd(2);
            if (ends && stack[t].n) {
                want_sum += (i - stack[t].start[--stack[t].n]) * 1000;
                events++;
                open--;
            } else if (ends) {
                lone++;
            } else {
                stack[t].start[stack[t].n++] = i;
                open++;
            }
            n += (size_t)sprintf(text + n, ",{\"ph\":\"%c\",%s\"name\":\"r\",\"pid\":1,\"tid\":%zu,\"ts\":%d}", ends ? 'E' : 'B', ends ? "" : cat, t,
                                 i);
        }
        sprintf(text + n, "]");
        struct tracedata d = import_text(text);
        assert_string_equal(tracedata_meta_get(&d, "source_format"), prop_ % 2 ? "kineto" : "chrome");
        for (size_t i = 1; i < d.n; i++)
            got_sum += d.ev[i].end - d.ev[i].start;
        assert_int_equal(d.n, events);
        assert_int_equal(got_sum, want_sum);
        assert_int_equal(lost(&d, "ranges without an end, left out"), open);
        assert_int_equal(lost(&d, "ends without a begin, left out"), lone);
        tracedata_free(&d);
    }
}

UNIT_MAIN(UNIT(cases_are_as_their_names_say), UNIT(begins_and_ends_match_thread_by_thread), UNIT(device_lanes_are_told_by_their_names),
          UNIT(nests_match_a_stack))
