/* Kineto traces: case files whose names are the expectation, what each kind of row becomes, and the shared real traces.
 * Random round trips are in test_import_random.c. */
#include "import_run.h"

#include <glob.h>

static void one_case(const char *path)
{
    const char *want_events = strstr(path, "events="), *want_loss = strstr(path, "loss=");
    struct tracedata d;
    struct err e = {0};
    bool ok = import_quietly(path, &d, &e);
    if (ok != (strstr(path, "(ok") != NULL))
        fail_msg("%s: %s", path, ok ? "taken, should be refused" : e.msg);
    if (ok != (e.kind == ERR_NONE) || (!ok && (e.kind != ERR_FAIL || strncmp(e.msg, path, strlen(path)) != 0 || strchr(e.msg, '\n'))))
        fail_msg("%s: the reason is not one line with the file: %s", path, e.msg);
    if (want_events && d.n != strtoul(want_events + 7, NULL, 10))
        fail_msg("%s: %zu events", path, d.n);
    if (want_loss && d.nloss != strtoul(want_loss + 5, NULL, 10))
        fail_msg("%s: %zu loss rows, the first: %s", path, d.nloss, d.nloss ? intern_str(&d.strings, d.loss[0].reason) : "none");
    tracedata_free(&d);
}

TEST(cases_are_as_their_names_say)
{
    glob_t g;
    assert_int_equal(glob(TEST_DATA "/import_kineto/*", 0, NULL, &g), 0);
    assert_in_range(g.gl_pathc, 50, 1000);
    for (size_t i = 0; i < g.gl_pathc; i++)
        one_case(g.gl_pathv[i]);
    globfree(&g);
}

TEST(a_refusal_names_line_and_reason)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "import.in: not a trace that is known here: it is an empty file"},
        {"hello\n", "import.in: not a trace that is known here: it is text, but not JSON"},
        {"{\"a\":1}", "import.in: JSON, but not a trace: no list of events (traceEvents) in it"},
        {"{\"traceEvents\":[]}", "import.in: JSON, but not a trace: no event in it"},
        {"{\"traceEvents\":[\n{\"ph\":\"X\",\n\"na", "import.in: line 2: the text ends too early; no whole event in it"},
        {"{\"traceEvents\":[\n{\"ph\":\"X\",\n]", "import.in: line 3: expected a key in quotes; no whole event in it"},
        {"{\"traceEvents\"[", "import.in: line 1: expected a key in quotes and ':'; no whole event in it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tracedata d;
        struct err e = {0};
        import_write("import.in", cases[i].text, strlen(cases[i].text));
        assert_false(import_quietly("import.in", &d, &e));
        assert_string_equal(e.msg, cases[i].want);
        tracedata_free(&d);
    }
    unlink("import.in");
}

#define DOC(events) "{\"traceEvents\":[" events "]}"

TEST(times_are_exact_ns_relative_to_the_first)
{
    struct tracedata d =
        import_text(DOC("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":1700000000000000.125,\"dur\":2.5},"
                        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":\"1700000000000000.124\",\"dur\":\"0.0005\"},"
                        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"pid\":0,\"tid\":7,\"ts\":0,\"dur\":-1},"
                        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"d\",\"pid\":0,\"tid\":7,\"ts\":-0.-12,\"dur\":0.5}"));
    assert_int_equal(d.t0, INT64_C(1700000000000000125));
    assert_int_equal(d.ev[0].start, 0);
    assert_int_equal(d.ev[0].end, 2500);
    assert_int_equal(d.ev[1].start, -1);
    assert_int_equal(d.ev[1].end, -1); /* half a ns goes to the even neighbour */
    assert_int_equal(d.ev[2].start, -d.t0);
    assert_int_equal(d.ev[2].end, -d.t0 - 1000); /* bad rows are handed on */
    assert_int_equal(d.ev[3].start, -d.t0 - 12); /* as an exporter wrote times before its base */
    assert_int_equal(d.nloss, 0);
    assert_string_equal(tracedata_meta_get(&d, "utc_epoch_ns"), "1700000000000000125");
    tracedata_free(&d);
}

TEST(a_base_makes_times_absolute_and_does_not_move_them)
{
    struct tracedata d =
        import_text("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1000.5,\"dur\":1}],"
                    "\"baseTimeNanoseconds\":1719853884000000000}");
    assert_int_equal(d.t0, 1000500);
    assert_string_equal(tracedata_meta_get(&d, "utc_epoch_ns"), "1719853884001000500");
    assert_string_equal(tracedata_meta_get(&d, "backend"), "cpu");
    tracedata_free(&d);
}

/* Every category, in any case, becomes its kind; what is not one of ours leaves no row. */
TEST(categories_become_kinds)
{
    static const struct {
        const char *cat;
        int kind; /* -1: no row */
    } cats[] = {{"kernel", EV_KERNEL},
                {"Kernel", EV_KERNEL},
                {"gpu_memcpy", EV_MEMCPY},
                {"Memcpy", EV_MEMCPY},
                {"gpu_memset", EV_MEMSET},
                {"Memset", EV_MEMSET},
                {"cuda_sync", EV_SYNC},
                {"cuda_runtime", EV_RUNTIME},
                {"Runtime", EV_RUNTIME},
                {"cuda_driver", EV_RUNTIME},
                {"cpu_op", EV_OP},
                {"Operator", EV_OP},
                {"user_annotation", EV_RANGE},
                {"gpu_user_annotation", EV_GPU_RANGE},
                {"python_function", EV_FRAME},
                {"overhead", EV_OVERHEAD},
                {"Trace", -1},
                {"ac2g", -1},
                {"cuda_profiler_range", -1},
                {"kernels", -1},
                {"", -1},
                {"a category whose name is longer than any of them", -1}};
    for (size_t i = 0; i < sizeof cats / sizeof *cats; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 DOC("{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"sure\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"cat\":\"%s\","
                     "\"name\":\"n\",\"pid\":3,\"tid\":4,\"ts\":1,\"dur\":1}"),
                 cats[i].cat);
        struct tracedata d = import_text(text);
        assert_string_equal(event_name(&d, 0), "sure");
        if (d.n != 1 + (cats[i].kind >= 0) || (d.n == 2 && d.ev[1].kind != cats[i].kind))
            fail_msg("%s: %zu rows, kind %d", cats[i].cat, d.n, d.ev[d.n - 1].kind);
        tracedata_free(&d);
    }
}

TEST(a_row_is_of_the_device_by_category_not_by_its_stream)
{
    struct tracedata d = import_text(
        DOC("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"triton\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":9,\"args\":{\"device\":0,\"stream\":7}},"
            "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":300000005,\"tid\":9,\"ts\":2,\"dur\":1,\"args\":{\"device\":5,\"stream\":4}},"
            "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":3,\"tid\":\"stream 20\",\"ts\":3,\"dur\":1},"
            "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Context "
            "Sync\",\"pid\":0,\"tid\":-1,\"ts\":3,\"dur\":1,\"args\":{\"stream\":-1,\"device\":0}}"));
    assert_int_equal(d.ev[0].device, -1);
    assert_int_equal(d.ev[0].stream, 0);
    assert_int_equal(d.threads[d.ev[0].thread].tid, 2);
    assert_int_equal(d.ev[1].device, 5);
    assert_int_equal(d.streams[d.ev[1].stream].native, 4);
    assert_int_equal(d.ev[2].device, 3);
    assert_int_equal(d.streams[d.ev[2].stream].native, 20);
    assert_int_equal(d.ev[3].stream, 0); /* -1 is unknown, not a stream */
    tracedata_free(&d);
}

/* Calls and kernels meet under (process, correlation), whoever comes first in the file and whatever else has a pid. */
TEST(device_rows_belong_to_the_process_that_calls)
{
#define KERNEL_ROW                                                                                                                                   \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":1,\"args\":{\"device\":0,\"stream\":7,\"correlation\":9}}"
#define CALL_ROW                                                                                                                                     \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":42,\"tid\":43,\"ts\":1,\"dur\":1,\"args\":{\"correlation\":9}}"
#define FRAME_ROW "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"pid\":0,\"tid\":0,\"ts\":1,\"dur\":9}"
    static const char *const texts[] = {DOC(KERNEL_ROW "," CALL_ROW), DOC(CALL_ROW "," KERNEL_ROW), DOC(FRAME_ROW "," KERNEL_ROW "," CALL_ROW),
                                        DOC(KERNEL_ROW "," FRAME_ROW "," CALL_ROW "," KERNEL_ROW), DOC(FRAME_ROW "," CALL_ROW "," KERNEL_ROW)};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tracedata d = import_text(texts[i]);
        uint32_t process = 0;
        for (size_t k = 0; k < d.n; k++)
            if (d.ev[k].kind == EV_RUNTIME)
                process = process_of_event(&d, &d.ev[k]);
        assert_int_equal(d.processes[process].pid, 42);
        for (size_t k = 0; k < d.n; k++)
            if (d.ev[k].kind == EV_KERNEL) {
                assert_int_equal(process_of_event(&d, &d.ev[k]), process);
                assert_int_equal(d.ev[k].correlation, 9);
            }
        tracedata_free(&d);
    }
}

/* Marks that people put between with B and E; rows of the device too, as far as such rows tell. */
TEST(begins_and_ends_are_rows)
{
    struct tracedata d =
        import_text(DOC("{\"ph\":\"B\",\"cat\":\"user_annotation\",\"name\":\"outer\",\"pid\":1,\"tid\":2,\"ts\":1000},"
                        "{\"ph\":\"B\",\"cat\":\"Operator\",\"name\":\"ProfilerStep#3\",\"pid\":1,\"tid\":2,\"ts\":1001},"
                        "{\"ph\":\"B\",\"cat\":\"x\",\"name\":\"no row\",\"pid\":1,\"tid\":2,\"ts\":1002},"
                        "{\"ph\":\"B\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1002,\"args\":{\"correlation\":4}},"
                        "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":1003},"
                        "{\"ph\":\"E\",\"pid\":0,\"tid\":7,\"ts\":1004.001},"
                        "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":1005},"
                        "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":1010.5}"));
    assert_int_equal(d.n, 3);
    assert_true(d.ev[0].kind == EV_KERNEL && d.ev[0].end - d.ev[0].start == 2001 && d.ev[0].device == 0 && d.ev[0].correlation == 4);
    assert_true(d.ev[1].kind == EV_RANGE && d.ev[1].start == 1000 && d.ev[1].end == 5000);
    assert_true(d.ev[2].kind == EV_RANGE && d.ev[2].start == 0 && d.ev[2].end == 10500);
    assert_string_equal(event_name(&d, 2), "outer");
    assert_int_equal(d.threads[d.ev[2].thread].tid, 2);
    tracedata_free(&d);
}

TEST(collectives_by_their_arguments)
{
    struct tracedata d = import_text(
        DOC("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Generic\",\"pid\":2,\"tid\":4,\"ts\":1,\"dur\":1,\"args\":{\"device\":2,"
            "\"stream\":4,"
            "\"Collective name\":\"allgather\",\"In msg nelems\":100,\"Out msg nelems\":400,\"Group size\":4,\"dtype\":\"BFloat16\",\"Seq\":17,"
            "\"Process Group Name\":\"0\",\"Process Group Description\":\"default_pg\",\"Src Rank\":3}},"
            "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":2,\"tid\":4,\"ts\":3,\"dur\":1,\"args\":{\"device\":2}}"));
    const struct ev_comm *c = ev_comm_of(&d, &d.ev[0]);
    assert_int_equal(d.ev[0].kind, EV_COMM);
    assert_non_null(c);
    assert_string_equal(intern_str(&d.strings, c->function), "allgather");
    assert_string_equal(intern_str(&d.strings, c->communicator), "0");
    assert_string_equal(intern_str(&d.strings, c->dtype), "BFloat16");
    assert_int_equal(c->message_bytes, 800);
    assert_int_equal(c->group_size, 4);
    assert_int_equal(c->sequence, 17);
    assert_int_equal(c->peer, -1);
    assert_int_equal(d.ev[0].bytes, -1);
    assert_int_equal(d.ev[1].kind, EV_KERNEL); /* by name only: the comm test is elsewhere, in one place */
    tracedata_free(&d);
}

TEST(copies_and_launches_keep_their_details)
{
    struct tracedata d = import_text(
        DOC("{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> "
            "Device)\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,\"args\":{\"bytes\":832}},"
            "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoH (Device -> Pinned)\",\"pid\":0,\"tid\":7,\"ts\":2,\"dur\":1},"
            "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"CopyDeviceToDevice\",\"pid\":0,\"tid\":7,\"ts\":3,\"dur\":1},"
            "{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"Memset (Device)\",\"pid\":0,\"tid\":7,\"ts\":4,\"dur\":1,\"args\":{\"bytes\":0}},"
            "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":1,\"args\":{\"grid\":[64, 2,1],\"block\":[128,1,1],"
            "\"registers per thread\":38,\"shared memory\":4096,\"graph id\":3,\"graph node id\":12884901890}}"));
    const struct ev_copy *h = ev_copy_of(&d, &d.ev[0]), *b = ev_copy_of(&d, &d.ev[1]), *dd = ev_copy_of(&d, &d.ev[2]), *m = ev_copy_of(&d, &d.ev[3]);
    assert_true(h && h->kind == COPY_HTOD && h->src == MEM_PAGEABLE && h->dst == MEM_DEVICE && d.ev[0].bytes == 832);
    assert_true(b && b->kind == COPY_DTOH && b->src == MEM_DEVICE && b->dst == MEM_PINNED && d.ev[1].bytes == -1);
    assert_true(dd && dd->kind == COPY_DTOD && dd->src == MEM_UNKNOWN);
    assert_true(m && m->dst == MEM_DEVICE && d.ev[3].bytes == 0);
    const struct ev_kernel *k = ev_kernel_of(&d, &d.ev[4]);
    assert_true(k && k->grid[0] == 64 && k->grid[1] == 2 && k->block[0] == 128 && k->registers == 38 && k->graph == 3);
    assert_int_equal(k->graph_node, 12884901890);
    tracedata_free(&d);
}

TEST(waits_on_the_device_track)
{
    struct tracedata d =
        import_text(DOC("{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream "
                        "Sync\",\"pid\":0,\"tid\":1000007,\"ts\":1,\"dur\":1,\"args\":{\"stream\":7,\"device\":0,\"correlation\":5}},"
                        "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Event "
                        "Sync\",\"pid\":0,\"tid\":-1,\"ts\":2,\"dur\":1,\"args\":{\"stream\":-1,\"wait_on_stream\":-1,\"wait_on_cuda_event_id\":8}},"
                        "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Wait "
                        "Event\",\"pid\":0,\"tid\":20,\"ts\":3,\"dur\":1,\"args\":{\"stream\":20,\"wait_on_stream\":7}}"));
    const struct ev_sync *a = ev_sync_of(&d, &d.ev[0]), *b = ev_sync_of(&d, &d.ev[1]), *c = ev_sync_of(&d, &d.ev[2]);
    assert_true(a && a->class == SYNC_STREAM && a->wait_stream == 7 && d.streams[d.ev[0].stream].native == 7 && d.ev[0].correlation == 5);
    assert_true(b && b->class == SYNC_EVENT && b->wait_stream == -1 && b->wait_event == 8 && d.ev[1].stream == 0);
    assert_true(c && c->class == SYNC_NONE && c->wait_stream == 7 && c->wait_event == -1);
    tracedata_free(&d);
}

TEST(the_rank_counts_wherever_it_stands)
{
#define ROW "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}"
    static const struct {
        const char *text;
        int rank;
    } cases[] = {{"{\"distributedInfo\":{\"rank\":3,\"world_size\":8,\"backend\":\"nccl\"},\"traceEvents\":[" ROW "]}", 3},
                 {"{\"traceEvents\":[" ROW "],\"distributedInfo\":{\"rank\":3}}", 3},
                 {"{\"distributedInfo\":{\"backend\":\"nccl\"},\"traceEvents\":[" ROW "]}", -1},
                 {"{\"distributedInfo\":{\"rank\":5.0},\"traceEvents\":[" ROW "]}", 5},
                 {"{\"distributedInfo\":null,\"traceEvents\":[" ROW "]}", -1},
                 {"[" ROW "]", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tracedata d = import_text(cases[i].text);
        assert_int_equal(d.processes[process_of_event(&d, &d.ev[0])].rank, cases[i].rank);
        if (tracedata_meta_get(&d, "world_size"))
            assert_string_equal(tracedata_meta_get(&d, "world_size"), "8");
        tracedata_free(&d);
    }
}

/* Ranks merged into one file: the rows say which; correlation ids of different ranks must not meet. */
TEST(merged_ranks_are_processes_of_their_own)
{
#define MERGED(pid, device, rank)                                                                                                                    \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":" pid ",\"tid\":4,\"ts\":1,\"dur\":1,\"args\":{\"device\":" device                      \
    ",\"stream\":4,\"correlation\":1735,\"rank\":" rank "}}"
    struct tracedata d = import_text(DOC(MERGED("2", "2", "0") "," MERGED("100000003", "3", "1") "," MERGED("2", "2", "0")));
    assert_int_equal(d.ev[0].rank, 0);
    assert_int_equal(d.ev[1].rank, 1);
    assert_int_equal(d.ev[1].device, 3);
    assert_int_not_equal(process_of_event(&d, &d.ev[0]), process_of_event(&d, &d.ev[1]));
    assert_int_equal(process_of_event(&d, &d.ev[0]), process_of_event(&d, &d.ev[2]));
    tracedata_free(&d);
}

TEST(names_are_text_whatever_they_hold)
{
    struct tracedata d = import_text(DOC("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"<script>\\u00e4\\ud83d\\ude00\\n\\\"\\/"
                                         "\\u0000\\ud800x\\q\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1}"));
    assert_string_equal(event_name(&d, 0), "<script>\xc3\xa4\xf0\x9f\x98\x80\n\"/\xef\xbf\xbd\xef\xbf\xbdx\\q");
    tracedata_free(&d);
}

/* RFC 3629: no byte alone, no overlong form, no surrogate, nothing beyond U+10FFFF; each bad byte is one U+FFFD. */
TEST(bytes_that_are_no_utf8_are_replaced)
{
    static const struct {
        const char *name;
        int replaced; /* -1: taken as it is */
    } cases[] = {
        {"\xc3\xa4", -1},    {"\xed\x9f\xbf", -1},    {"\xf4\x8f\xbf\xbf", -1}, {"\xff", 1},     {"\x80", 1}, {"\xc0\x80", 2}, {"\xe0\x80\x80", 3},
        {"\xed\xa0\x80", 3}, {"\xf0\x80\x80\x80", 4}, {"\xf4\x90\x80\x80", 4},  {"\xe2\x82", 2}, {"\xc3(", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], want[64] = "";
        snprintf(text, sizeof text, DOC("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1}"), cases[i].name);
        struct tracedata d = import_text(text);
        for (int k = 0; k < cases[i].replaced; k++)
            strcat(want, "\xef\xbf\xbd");
        strcat(want, cases[i].replaced < 0 ? cases[i].name : strchr(cases[i].name, '(') ? "(" : "");
        assert_string_equal(event_name(&d, 0), want);
        assert_int_equal(d.nloss, cases[i].replaced > 0);
        if (d.nloss)
            assert_int_equal(d.loss[0].count, cases[i].replaced);
        tracedata_free(&d);
    }
}

TEST(threads_and_processes_have_names)
{
    struct tracedata d = import_text(DOC("{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"thread 2 (python)\"}}," ROW
                                         ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1},"
                                         "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"python\"}}"));
    assert_string_equal(intern_str(&d.strings, d.processes[process_of_event(&d, &d.ev[0])].name), "python");
    assert_string_equal(intern_str(&d.strings, d.threads[d.ev[1].thread].name), "thread 2 (python)");
    assert_int_equal(d.threads[d.ev[0].thread].name, 0);
    tracedata_free(&d);
}

/* Texts in the place of numbers, also such as end in the same number; "7" and 7 are one. */
TEST(threads_and_processes_called_by_texts)
{
    static const char *const called[][2] = {{"\"trainer\"", "\"loader-1\""}, {"\"trainer\"", "\"worker-1\""}, {"\"12\"", "\"7\""}, {"12", "7"},
                                            {"\"trainer\"", "\"worker-1\""}, {"-3", "-1099511627780"},        {"-3", "\"\""}};
    char text[2048] = "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":\"trainer\",\"tid\":\"worker-1\",\"args\":{\"name\":\"worker\"}}";
    for (size_t i = 0; i < 7; i++)
        sprintf(text + strlen(text), ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":%s,\"tid\":%s,\"ts\":%zu,\"dur\":1}", called[i][0],
                called[i][1], i);
    struct tracedata d = import_text(strcat(text, "]"));
    const struct threadkey *loader = &d.threads[d.ev[0].thread], *worker = &d.threads[d.ev[1].thread], *none = &d.threads[d.ev[5].thread];
    assert_int_equal(d.nthreads, 5); /* with the one of no row */
    assert_int_equal(d.ev[1].thread, d.ev[4].thread);
    assert_int_equal(d.ev[2].thread, d.ev[3].thread);
    assert_int_equal(d.threads[d.ev[2].thread].tid, 7);
    assert_int_equal(loader->process, worker->process);
    assert_string_equal(intern_str(&d.strings, d.processes[loader->process].name), "trainer");
    assert_string_equal(intern_str(&d.strings, loader->name), "loader-1");
    assert_string_equal(intern_str(&d.strings, worker->name), "worker");
    assert_true(worker->tid < -1 && worker->tid > -10 && worker->tid != loader->tid && d.processes[worker->process].pid > -10);
    assert_true(none->tid == -1 && none->name == 0 && d.ev[6].thread == d.ev[5].thread);
    tracedata_free(&d);
}

TEST(secrets_stay_in_the_file)
{
    struct tracedata d =
        import_text("{\"username\":\"ann\",\"metadata\":{\"env\":{\"HF_TOKEN\":\"hf_abcdef\"},\"argv\":\"train --key s3cret\"},"
                    "\"INFO\":[\"host gpu17\"],\"traceName\":\"/data/ann/t.json\",\"cuda_runtime_version\":12040,\"traceEvents\":[" ROW "]}");
    static const char *const secrets[] = {"ann", "HF_TOKEN", "hf_abcdef", "s3cret", "gpu17"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        assert_false(holds_string(&d, secrets[i]));
    assert_string_equal(tracedata_meta_get(&d, "cuda_runtime_version"), "12040");
    assert_string_equal(tracedata_meta_get(&d, "backend"), "cuda");
    tracedata_free(&d);
}

TEST(rocm_is_told_by_its_calls)
{
    struct tracedata d =
        import_text(DOC("{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipMemcpyWithStream\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}"));
    assert_string_equal(tracedata_meta_get(&d, "backend"), "rocm");
    assert_string_equal(tracedata_meta_get(&d, "source_format"), "kineto");
    assert_null(ev_sync_of(&d, &d.ev[0])); /* which calls block is the analysis' business */
    tracedata_free(&d);
}

TEST(shared_traces_are_exact)
{
    int rows = compare_shared("kineto/");
    if (rows < 0)
        skip_because("the shared traces are not beside this checkout");
    assert_int_equal(rows, 25);
}

UNIT_MAIN(UNIT(cases_are_as_their_names_say), UNIT(a_refusal_names_line_and_reason), UNIT(times_are_exact_ns_relative_to_the_first),
          UNIT(a_base_makes_times_absolute_and_does_not_move_them), UNIT(categories_become_kinds),
          UNIT(a_row_is_of_the_device_by_category_not_by_its_stream), UNIT(device_rows_belong_to_the_process_that_calls),
          UNIT(begins_and_ends_are_rows), UNIT(collectives_by_their_arguments), UNIT(copies_and_launches_keep_their_details),
          UNIT(waits_on_the_device_track), UNIT(the_rank_counts_wherever_it_stands), UNIT(merged_ranks_are_processes_of_their_own),
          UNIT(names_are_text_whatever_they_hold), UNIT(bytes_that_are_no_utf8_are_replaced), UNIT(threads_and_processes_have_names),
          UNIT(threads_and_processes_called_by_texts), UNIT(secrets_stay_in_the_file), UNIT(rocm_is_told_by_its_calls), UNIT(shared_traces_are_exact))
