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
        assert_int_equal(ev_copy_of(&d, &d.ev[1])->kind, COPY_DTOH);
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

/* name start length, in ns since the first row */
#define LANE(rows) "[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"z\",\"pid\":1,\"tid\":9,\"ts\":0,\"dur\":0}" rows "]"
#define AT(ph, name, ts) ",{\"ph\":\"" ph "\",\"cat\":\"user_annotation\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" ts "}"

static void text_of(const struct tracedata *d, char *text)
{
    *text = '\0';
    for (size_t i = 1; i < d->n; i++)
        text += sprintf(text, "%s %lld %lld|", event_name(d, i), (long long)d->ev[i].start, (long long)(d->ev[i].end - d->ev[i].start));
}

/* Rows out of the order of time, and ends of the same time in front of their begins; of any program and of Kineto, whose lanes
 * are all late: there the rows come by their ends. */
TEST(ends_in_front_of_their_begins)
{
    static const struct {
        const char *text, *want;
        int lone, open;
    } cases[] = {
        {LANE(AT("E", "", "20") AT("B", "a", "10")), "a 10000 10000|", 0, 0},
        {LANE(AT("E", "", "5") AT("B", "a", "5")), "a 5000 0|", 0, 0},
        {LANE(AT("B", "a", "1") AT("B", "b", "5") AT("E", "", "3") AT("E", "", "9")), "a 1000 2000|b 5000 4000|", 0, 0},
        {LANE(AT("B", "a", "1") AT("B", "b", "5") AT("E", "", "5") AT("E", "", "9") AT("B", "c", "2") AT("E", "", "2")),
         "c 2000 0|b 5000 0|a 1000 8000|", 0, 0},
        {LANE(AT("B", "a", "1") AT("B", "b", "5") AT("B", "c", "3") AT("E", "", "5") AT("E", "", "9") AT("E", "", "4")),
         "c 3000 1000|a 1000 4000|b 5000 4000|", 0, 0}, /* begins, then ends: what ends at 5 began before */
        {LANE(AT("E", "", "9") AT("E", "", "5") AT("B", "z", "5") AT("B", "a", "1")), "z 5000 0|a 1000 8000|", 0, 0}, /* from its end on */
        {LANE(AT("B", "a", "1") AT("E", "z", "5") AT("B", "z", "5") AT("E", "a", "9")), "z 5000 0|a 1000 8000|", 0, 0},
        {LANE(AT("B", "a", "1") AT("B", "b", "5") AT("E", "a", "5") AT("E", "b", "9")), "a 1000 4000|b 5000 4000|", 0, 0},
        {LANE(AT("B", "a", "1") AT("E", "end", "3")), "a 1000 2000|", 0, 0},
        {LANE(AT("E", "", "5") AT("B", "a", "5") AT("E", "", "7")), "a 5000 2000|", 1, 0}, /* the first end is of before */
        {LANE(AT("E", "", "5") AT("B", "a", "6")), "", 1, 1},
        {LANE(AT("E", "b", "5") AT("B", "a", "5")), "", 1, 1},
    };
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        char text[1024], got[512], *cat = strcpy(text, cases[i / 2].text);
        while (i % 2 && (cat = strstr(cat, "user_annotation")))
            memcpy(cat, "anybody's marks", 15);
        struct tracedata d = import_text(text);
        text_of(&d, got);
        if (strcmp(got, cases[i / 2].want) != 0 || lost(&d, "ranges without an end, left out") != cases[i / 2].open ||
            lost(&d, "ends without a begin, left out") != cases[i / 2].lone)
            fail_msg("%s: %s", text, got);
        tracedata_free(&d);
    }
}

/* A nest of ranges, its rows in any order: of different times, or with times in common where the ends say names. */
TEST(rows_in_any_order_match_by_time)
{
    enum { RANGES = 12 };
    PROP(200)
    {
        char row[2 * RANGES][128], text[1 << 12] = "[";
        int stack[RANGES], depth = 0, begun = 0;
        int64_t start[RANGES], want[RANGES];
        for (int at = 0; at < 2 * RANGES; at++) {
            bool ends = begun == RANGES || (depth && rnd(2));
            int i = ends ? stack[--depth] : begun++, ts = prop_ % 2 ? at : at / 3;
            if (ends)
                want[i] = (ts - start[i]) * 1000;
            else
                stack[depth++] = i, start[i] = ts;
            sprintf(row[at], "{\"ph\":\"%c\",\"name\":\"%c\",\"pid\":1,\"tid\":2,\"ts\":%d}", ends ? 'E' : 'B', ends && prop_ % 2 ? '?' : 'a' + i,
                    ts);
        }
        for (size_t left = 2 * RANGES; left; left--) {
            size_t k = rnd(left);
            sprintf(text + strlen(text), "%s%s", row[k], left > 1 ? "," : "]");
            memmove(row[k], row[left - 1], sizeof *row);
        }
        struct tracedata d = import_text(text);
        assert_int_equal(d.n, RANGES);
        for (size_t i = 0; i < d.n; i++)
            if (d.ev[i].end - d.ev[i].start != want[*event_name(&d, i) - 97])
                fail_msg("%s: %s", text, event_name(&d, i));
        assert_int_equal(d.nloss, 0);
        tracedata_free(&d);
    }
}

/* Names of processes and threads, and what a row there is. */
TEST(lanes_of_devices)
{
    static const struct {
        const char *process, *thread, *other; /* other: a second thread of the process */
        int kind, device;
    } lanes[] = {{"/device:TPU:2", "XLA Ops", "Steps", EV_KERNEL, 2},
                 {"/device:TPU:2", "Steps", "XLA Ops", EV_GPU_RANGE, 2},
                 {"/device:TPU:0", "Async XLA Ops", "XLA Modules", EV_KERNEL, 0},
                 {"/device:TPU:0", "XLA Modules", "Steps", EV_GPU_RANGE, 0},
                 {"/device:GPU:1 NVIDIA H100", "XLA Ops", "Stream #13(Compute)", EV_GPU_RANGE, 1},
                 {"/device:GPU:1 NVIDIA H100", "Stream #13(Compute)", "XLA Ops", EV_KERNEL, 1},
                 {"/device:GPU:1/stream:7 Compute", "", "", EV_KERNEL, 1},
                 {"/device:GPU:1/stream:all Compute", "", "", EV_GPU_RANGE, 1},
                 {"/job:a/replica:0/task:0/device:GPU:0 Compute", "", "", EV_GPU_RANGE, 0},
                 {"/device:CPU:0", "XLA Ops", "", EV_RANGE, -1},
                 {"/host:CPU", "Stream 3", "", EV_RANGE, -1},
                 {"GPU 3", "", "", EV_KERNEL, 3},
                 {"gpu:3 (A100)", "7", "8", EV_KERNEL, 3},
                 {"Device #1", "stream 7", "markers", EV_KERNEL, 1},
                 {"Device #1", "markers", "stream 7", EV_GPU_RANGE, 1},
                 {"GPU 0.5 ms", "", "", EV_RANGE, -1},
                 {"GPUs", "", "", EV_RANGE, -1},
                 {"gpu3worker", "", "", EV_RANGE, -1}};
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "[{\"ph\":\"X\",\"name\":\"r\",\"pid\":5,\"tid\":7,\"ts\":1,\"dur\":1},"
                 "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":7,\"args\":{\"name\":\"%s\"}},"
                 "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":8,\"args\":{\"name\":\"%s\"}},"
                 "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"args\":{\"name\":\"%s\"}}]",
                 lanes[i].thread, lanes[i].other, lanes[i].process);
        struct tracedata d = import_text(text);
        if (d.n != 1 || d.ev[0].kind != lanes[i].kind || d.ev[0].device != lanes[i].device)
            fail_msg("%s %s: %s on device %d", lanes[i].process, lanes[i].thread, ev_kind_name((enum ev_kind)d.ev[0].kind), d.ev[0].device);
        tracedata_free(&d);
    }
}

/* Processes and threads by texts: apart from each other, also where they end in the same number; a device by its name. */
TEST(lanes_may_be_called_by_texts)
{
#define LANE_ROW(ph, pid, tid, ts) "{\"ph\":\"" ph "\",\"name\":\"r\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts ",\"dur\":1},"
    struct tracedata d = import_text(
        "[" LANE_ROW("B", "\"trainer\"", "\"loader-1\"", "1") LANE_ROW("B", "\"trainer\"", "\"0x7f1b\"", "2") LANE_ROW(
            "E", "\"trainer\"", "\"loader-1\"", "3") LANE_ROW("B", "\"trainer\"", "\"worker-1\"", "4") LANE_ROW("E", "\"trainer\"", "\"0x7f1b\"", "6")
            LANE_ROW("E", "\"trainer\"", "\"worker-1\"", "9") LANE_ROW("X", "\"GPU 3\"", "\"stream 20\"", "10") LANE_ROW(
                "X", "\"GPU 3\"", "\"markers\"",
                "11") "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":12,\"tid\":7,\"args\":{\"name\":\"main \\u00e4\"}}," LANE_ROW("X", "\"12\"",
                                                                                                                                    "\"7\"", "12")
                LANE_ROW("X", "12", "7.0", "13") "{}]");
    static const struct {
        const char *thread;
        int64_t tid, length;
        int kind;
    } want[] = {{"loader-1", -1, 2000, EV_RANGE},    {"0x7f1b", -1, 4000, EV_RANGE}, {"worker-1", -1, 5000, EV_RANGE},
                {"", -1, 1000, EV_KERNEL},           {"", -1, 1000, EV_GPU_RANGE},   {"main \xc3\xa4", 7, 1000, EV_RANGE},
                {"main \xc3\xa4", 7, 1000, EV_RANGE}};
    assert_int_equal(d.n, 7);
    for (size_t i = 0; i < d.n; i++) {
        const struct event *ev = &d.ev[i];
        const struct threadkey *t = &d.threads[ev->thread];
        if (ev->kind != want[i].kind || ev->end - ev->start != want[i].length || (t->tid < -1 ? -1 : t->tid) != want[i].tid ||
            strcmp(intern_str(&d.strings, t->name), want[i].thread) != 0)
            fail_msg("row %zu: %s, thread %s, tid %lld", i, ev_kind_name((enum ev_kind)ev->kind), intern_str(&d.strings, t->name), (long long)t->tid);
    }
    assert_int_equal(d.ev[3].device, 3);
    assert_int_equal(d.streams[d.ev[3].stream].native, 20);
    assert_int_equal(d.ev[5].thread, d.ev[6].thread);
    assert_string_equal(intern_str(&d.strings, d.processes[d.threads[d.ev[0].thread].process].name), "trainer");
    assert_int_equal(d.nloss, 0);
    tracedata_free(&d);
}

TEST(keys_and_words_may_be_escaped)
{
    static const char *const texts[] = {
        "{\"trace\\u0045vents\":[{\"\\u0070h\":\"X\",\"nam\\u0065\":\"\\u0061\",\"pid\":1,\"tid\":2,\"t\\u0073\":\"\\u0031\",\"dur\":3}],\"\\u\":0}",
        "{\"traceEvents\":[{\"ph\":\"\\u0058\",\"\\u0063at\":\"\\u0043pu\\u005fop\",\"\\/"
        "\":0,\"\\\\\":1,\"name\":\"a\",\"pid\":1,"
        "\"tid\":2,\"ts\":1,\"\\u0064\\u0075\\u0072\":3}]}",
        "[\r\n{\"ph\"\t:\r\n\"X\" ,\n\"cat\"\t:\r\n\"cpu_op\" , \"name\" : \"a\" , \"pid\":1,\"tid\":2,\"ts\":1,\"dur\" :\t3}\n]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tracedata d = import_text(texts[i]);
        check(&d, 0, i ? EV_OP : EV_RANGE, "a", 0, 3000);
        tracedata_free(&d);
    }
}

/* A first row of an absurd time is lost, and takes no other with it; of any program and of Kineto. */
TEST(one_row_does_not_set_the_time_for_all)
{
    static const char *const absurd[] = {"9000000000000000", "-9000000000000000", "1e300"}, *const cats[] = {"mine", "cpu_op"};
    for (size_t i = 0; i < 6; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "[{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"z\",\"pid\":1,\"tid\":2,\"ts\":%s,\"dur\":1},{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"a\","
                 "\"pid\":1,\"tid\":2,\"ts\":1700000000000000.5,\"dur\":3}]",
                 cats[i % 2], absurd[i / 2], cats[i % 2]);
        struct tracedata d = import_text(text);
        check(&d, 0, i % 2 ? EV_OP : EV_RANGE, "a", 0, 3000);
        assert_int_equal(d.n, 1);
        assert_int_equal(d.nloss, 1);
        assert_int_equal(d.t0, INT64_C(1700000000000000500));
        tracedata_free(&d);
    }
}

/* White space in front is no part of the head; lines are still counted. */
TEST(blanks_in_front_are_passed_over)
{
    static const size_t lengths[] = {0, 1, INPUT_HEAD - 3, INPUT_HEAD - 1, INPUT_HEAD, INPUT_HEAD + 1, 3 * INPUT_HEAD + 7};
    static char text[4 * INPUT_HEAD];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct tracedata d;
        struct err e = {0};
        char want[64];
        memset(text, i % 2 ? ' ' : '\n', lengths[i]);
        strcpy(text + lengths[i], "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":3}]");
        d = import_text(text);
        check(&d, 0, EV_RANGE, "a", 0, 3000);
        assert_int_equal(d.nloss, 0);
        tracedata_free(&d);
        strcpy(text + lengths[i], "{\"traceEvents\":[}");
        import_write("import.in", text, strlen(text));
        snprintf(want, sizeof want, "line %zu: ", i % 2 ? 1 : lengths[i] + 1);
        assert_false(import_quietly("import.in", &d, &e));
        if (!strstr(e.msg, want))
            fail_msg("%s: %s", want, e.msg);
        tracedata_free(&d);
        memset(text + lengths[i], ' ', 20);
        import_write("import.in", text, lengths[i] + 1);
        case_must_refuse("import.in", "text, but not JSON");
    }
    unlink("import.in");
}

/* What tells whose trace it is may lie behind more than a head's worth of rows, and behind what others write too. */
TEST(marks_far_behind)
{
    static const struct {
        const char *first, *row, *format;
    } cases[] = {
        {"", "\"cat\":\"cpu_op\",\"tid\":3", "kineto"},
        {"", "\"cat\":\"mine\",\"tid\":3", "chrome"},
        {"", "\"cat\":\"async_npu\",\"tid\":3},{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"CANN\"}", "ascend-json"},
        {"\"cat\":\"cpu_op\",\"ts\":\"1\",",
         "\"tid\":3},{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"CANN\"},\"cat\":\"async_npu\"", "ascend-json"}};
    static char text[3 * INPUT_HEAD];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t before = INPUT_HEAD - 40; before < 2 * INPUT_HEAD; before += i ? INPUT_HEAD / 2 + 1 : 1 + INPUT_HEAD / 30) {
            size_t n = (size_t)sprintf(text, "{\"traceEvents\":[{\"ph\":\"M\",%s\"name\":\"", cases[i].first);
            memset(text + n, 'x', before - n);
            sprintf(text + before, "\"},{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"ts\":\"1\",\"dur\":\"3\",%s}]}", cases[i].row);
            struct tracedata d = import_text(text);
            assert_string_equal(tracedata_meta_get(&d, "source_format"), cases[i].format);
            assert_int_equal(d.ev[0].end - d.ev[0].start, 3000);
            tracedata_free(&d);
        }
}

UNIT_MAIN(UNIT(cases_are_as_their_names_say), UNIT(begins_and_ends_match_thread_by_thread), UNIT(device_lanes_are_told_by_their_names),
          UNIT(nests_match_a_stack), UNIT(ends_in_front_of_their_begins), UNIT(rows_in_any_order_match_by_time), UNIT(lanes_of_devices),
          UNIT(lanes_may_be_called_by_texts), UNIT(keys_and_words_may_be_escaped), UNIT(blanks_in_front_are_passed_over), UNIT(marks_far_behind),
          UNIT(one_row_does_not_set_the_time_for_all))
