/* Nsight Systems exports: SQL cases whose names are the expectation, what the rows become, damaged files, real exports. */
#include "import_cases.h"

static struct tracedata must_load(const char *name)
{
    return case_load("import_nsys", name);
}

TEST(cases_are_as_their_names_say)
{
    all_cases("import_nsys", "nsys", 16);
}

TEST(rows_keep_what_the_tables_say)
{
    struct tracedata d = must_load("kernels_and_calls(ok,events=3,loss=0).sql");
    const struct event *call = &d.ev[0], *k = &d.ev[1], *lone = &d.ev[2];
    const struct ev_kernel *row = ev_kernel_of(&d, k);
    assert_int_equal(call->kind, EV_RUNTIME);
    assert_string_equal(event_name(&d, 0), "cudaLaunchKernel"); /* without its version */
    assert_int_equal(d.threads[call->thread].tid, 501);
    assert_int_equal(d.processes[process_of_event(&d, call)].pid, 500);
    assert_int_equal(process_of_event(&d, k), process_of_event(&d, call));
    assert_int_equal(k->correlation, call->correlation);
    assert_string_equal(event_name(&d, 1), "void gemm<float>(float *)");
    assert_true(k->start == 120 && k->end == 150 && k->device == 0 && d.streams[k->stream].native == 7 && k->rank == -1);
    assert_true(row && row->grid[0] == 64 && row->grid[1] == 2 && row->block[0] == 128 && row->registers == 32);
    assert_true(row->static_shared == 16 && row->dynamic_shared == 1024 && row->graph_node == 0);
    assert_int_equal(ev_kernel_of(&d, lone)->graph_node, 77);
    assert_string_equal(intern_str(&d.strings, d.processes[process_of_event(&d, call)].name), "python3");
    assert_string_equal(intern_str(&d.strings, d.threads[call->thread].name), "main thread");
    assert_string_equal(tracedata_meta_get(&d, "version"), "3.25.0");
    assert_string_equal(tracedata_meta_get(&d, "source_format"), "nsys");
    assert_string_equal(tracedata_meta_get(&d, "utc_epoch_ns"), "1700000000000000000");
    tracedata_free(&d);
}

TEST(processes_stay_apart)
{
    struct tracedata d = must_load("two_processes_share_correlations(ok,events=4,loss=0).sql");
    assert_int_equal(process_of_event(&d, &d.ev[0]), process_of_event(&d, &d.ev[2]));
    assert_int_equal(process_of_event(&d, &d.ev[1]), process_of_event(&d, &d.ev[3]));
    assert_int_not_equal(process_of_event(&d, &d.ev[0]), process_of_event(&d, &d.ev[1]));
    tracedata_free(&d);
    d = must_load("each_process_sees_its_gpu_as_device_0(ok,events=2,loss=0).sql");
    assert_int_equal(d.ev[0].device, 4);
    assert_int_equal(d.ev[1].device, 6);
    tracedata_free(&d);
}

TEST(old_schemas_open)
{
    struct tracedata d = must_load("schema_2_9(ok,events=2,loss=0).sql");
    assert_string_equal(event_name(&d, 0), "cudaLaunchKernel");
    assert_int_equal(process_of_event(&d, &d.ev[0]), process_of_event(&d, &d.ev[1])); /* no globalPid: the only process */
    assert_string_equal(tracedata_meta_get(&d, "version"), "2.9.1");
    tracedata_free(&d);
}

TEST(the_call_says_what_a_wait_is)
{
    static const struct {
        const char *name;
        enum sync_class class;
    } want[] = {{"Stream Sync", SYNC_STREAM}, {"Event Sync", SYNC_EVENT},    {"Context Sync", SYNC_DEVICE},   {"Stream Wait Event", SYNC_NONE},
                {"Event Query", SYNC_NONE},   {"Context Sync", SYNC_DEVICE}, {"Stream Wait Event", SYNC_NONE}};
    struct tracedata d = must_load("sync_types_lie(ok,events=13,loss=0).sql");
    for (size_t i = 0; i < 7; i++) {
        const struct ev_sync *s = ev_sync_of(&d, &d.ev[6 + i]);
        if (!s || s->class != (int)want[i].class || strcmp(event_name(&d, 6 + i), want[i].name) != 0)
            fail_msg("row %zu: %s", i, event_name(&d, 6 + i));
    }
    assert_int_equal(ev_sync_of(&d, &d.ev[6])->wait_stream, 7);
    assert_int_equal(ev_sync_of(&d, &d.ev[7])->wait_event, 3);
    assert_int_equal(ev_sync_of(&d, &d.ev[8])->wait_stream, -1);
    assert_int_equal(d.ev[8].stream, 0);
    tracedata_free(&d);
}

static void check_copy(const struct tracedata *d, size_t i, int kind, int src, int dst, int64_t bytes)
{
    const struct ev_copy *c = ev_copy_of(d, &d->ev[i]);
    if (!c || c->kind != kind || c->src != src || c->dst != dst || d->ev[i].bytes != bytes)
        fail_msg("copy %zu: kind %d from %d to %d", i, c ? c->kind : -1, c ? c->src : -1, c ? c->dst : -1);
}

TEST(memory_kinds_are_renumbered)
{
    struct tracedata d = must_load("memory_kinds_without_enum(ok,events=4,loss=0).sql");
    check_copy(&d, 0, COPY_HTOD, MEM_PAGEABLE, MEM_DEVICE, 64);
    check_copy(&d, 1, COPY_DTOH, MEM_DEVICE, MEM_PINNED, 65);
    check_copy(&d, 2, COPY_DTOD, MEM_DEVICE, MEM_DEVICE, 66);
    check_copy(&d, 3, COPY_UNKNOWN, MEM_UNKNOWN, MEM_DEVICE, 67);
    tracedata_free(&d);
    d = must_load("memory_kinds_by_enum(ok,events=4,loss=0).sql");
    check_copy(&d, 0, COPY_DTOH, MEM_DEVICE, MEM_PAGEABLE, 64);
    check_copy(&d, 1, COPY_HTOD, MEM_PAGEABLE, MEM_PINNED, 65);
    check_copy(&d, 3, COPY_UNKNOWN, MEM_UNKNOWN, MEM_PAGEABLE, 67);
    tracedata_free(&d);
}

TEST(ranges_have_domain_and_flavour)
{
    struct tracedata d = must_load("ranges_only(ok,events=4,loss=1).sql");
    static const int flavours[] = {RANGE_PUSH_POP, RANGE_PUSH_POP, RANGE_START_END, RANGE_MARK};
    static const char *const names[] = {"step", "ncclAllReduce", "open", "mark"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(event_name(&d, i), names[i]);
        assert_int_equal(ev_range_of(&d, &d.ev[i])->flavour, flavours[i]);
    }
    assert_string_equal(intern_str(&d.strings, ev_range_of(&d, &d.ev[1])->domain), "NCCL");
    assert_int_equal(ev_range_of(&d, &d.ev[0])->domain, 0);
    assert_int_equal(d.ev[3].start, d.ev[3].end);
    assert_non_null(strstr(tracedata_meta_get(&d, "comm_data"), "--include-blobs")); /* not exported is not "none" */
    tracedata_free(&d);
}

TEST(graphs_sites_and_secrets)
{
    struct tracedata d = must_load("a_graph_traced_as_a_whole(ok,events=1,loss=0).sql");
    assert_int_equal(d.ev[0].kind, EV_KERNEL);
    assert_string_equal(event_name(&d, 0), "[CUDA graph 5]");
    assert_int_equal(ev_kernel_of(&d, &d.ev[0])->graph, 5);
    tracedata_free(&d);
    d = must_load("call_chains(ok,events=3,loss=0).sql");
    assert_string_equal(intern_str(&d.strings, d.sites[d.ev[0].site].function), "train_step(int)");
    assert_string_equal(intern_str(&d.strings, d.sites[d.ev[0].site].file), "train");
    assert_int_equal(d.ev[1].site, d.ev[0].site);
    assert_int_equal(d.ev[2].site, 0);
    tracedata_free(&d);
    d = must_load("the_environment_stays_there(ok,events=1,loss=0).sql");
    assert_false(holds_string(&d, "secret"));
    tracedata_free(&d);
}

/* What an interrupted export leaves: the file cut at every page, and within its first. */
TEST(damaged_databases_are_refused_with_a_reason)
{
    static const off_t within[] = {2560, 512, 40};
    damaged_database("import_nsys", "kernels_and_calls(ok,events=3,loss=0).sql");
    case_build(TEST_DATA "/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql", "case.db");
    for (size_t i = 0; i < sizeof within / sizeof *within; i++) {
        assert_int_equal(truncate("case.db", within[i]), 0);
        case_must_refuse("case.db", "cut");
    }
    case_build(TEST_DATA "/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql", "case.db");
    FILE *f = fopen("case.db", "r+b"); /* a torn page in the middle */
    fseek(f, 4096, SEEK_SET);
    fwrite((char[4096]){0}, 1, 4096, f);
    fclose(f);
    case_must_refuse("case.db", "damaged");
    unlink("case.db");
}

TEST(odd_file_names_open)
{
    struct tracedata d;
    struct err e = {0};
    case_build(TEST_DATA "/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql", "a %3f?b#c.sqlite");
    assert_ok(import_quietly("a %3f?b#c.sqlite", &d, &e), &e);
    assert_int_equal(d.n, 3);
    tracedata_free(&d);
    unlink("a %3f?b#c.sqlite");
}

TEST(shared_exports_are_exact)
{
    int rows = compare_shared("nsys/");
    if (rows < 0)
        skip_because("the shared traces are not beside this checkout");
    assert_int_equal(rows, 10);
}

TEST(numbers_may_be_reals_and_text)
{
    struct tracedata d = case_load("import_nsys", "numbers_as_reals_and_text(ok,events=4,loss=1).sql");
    assert_string_equal(event_name(&d, 0), "cudaStreamSynchronize");
    assert_true(d.ev[1].start == 120 && d.ev[1].end == 150 && d.ev[1].device == 2 && d.ev[1].correlation == 7);
    assert_true(d.ev[2].start == 90 && d.ev[2].end == 95 && d.ev[2].stream == d.ev[1].stream);
    assert_int_equal(process_of_event(&d, &d.ev[0]), process_of_event(&d, &d.ev[1]));
    assert_string_equal(event_name(&d, 3), "step");
    tracedata_free(&d);
}

UNIT_MAIN(UNIT(cases_are_as_their_names_say), UNIT(rows_keep_what_the_tables_say), UNIT(processes_stay_apart), UNIT(old_schemas_open),
          UNIT(the_call_says_what_a_wait_is), UNIT(memory_kinds_are_renumbered), UNIT(ranges_have_domain_and_flavour), UNIT(graphs_sites_and_secrets),
          UNIT(damaged_databases_are_refused_with_a_reason), UNIT(odd_file_names_open), UNIT(shared_exports_are_exact),
          UNIT(numbers_may_be_reals_and_text))
