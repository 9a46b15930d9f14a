/* Traces of ROCm: rocmProfileData, rocprof v1, rocpd, rocprofv3. Cases by name, what rows become, damage, shared traces. */
#include "import_cases.h"

TEST(cases_are_as_their_names_say)
{
    all_cases("import_rpd", "rpd", 6);
    all_cases("import_rocprofv1", "rocprofv1", 6);
    all_cases("import_rocpd", "rocpd", 4);
    all_cases("import_rocprofv3", "rocprofv3", 8);
}

static void check(const struct tracedata *d, size_t i, enum ev_kind kind, const char *name, int64_t start, int64_t length, int device)
{
    const struct event *ev = &d->ev[i];
    if (ev->kind != (int)kind || strcmp(event_name(d, i), name) != 0 || ev->start != start || ev->end - ev->start != length || ev->device != device)
        fail_msg("row %zu: %s %s at %lld for %lld on %d", i, ev_kind_name((enum ev_kind)ev->kind), event_name(d, i), (long long)ev->start,
                 (long long)(ev->end - ev->start), ev->device);
}

TEST(rpd_rows)
{
    struct tracedata d = case_load("import_rpd", "launches_copies_fills(ok,events=7,loss=0).sql");
    check(&d, 0, EV_RUNTIME, "hipLaunchKernel", 0, 31, -1);
    check(&d, 1, EV_RUNTIME, "hipMemcpyWithStream", 431, 1000, -1);
    check(&d, 3, EV_KERNEL, "gemm_kernel", 41, 90, 2);
    check(&d, 4, EV_MEMCPY, "CopyHostToDevice", 531, 800, 2);
    check(&d, 5, EV_MEMSET, "FillBuffer", 1381, 10, 2);
    check(&d, 6, EV_KERNEL, "gemm_kernel", 231, 1, 3); /* by its call's name */
    assert_int_equal(d.ev[3].correlation, d.ev[0].correlation);
    assert_int_equal(process_of_event(&d, &d.ev[3]), process_of_event(&d, &d.ev[0]));
    assert_int_equal(process_of_event(&d, &d.ev[6]), process_of_event(&d, &d.ev[2]));
    assert_int_not_equal(process_of_event(&d, &d.ev[6]), process_of_event(&d, &d.ev[0]));
    assert_int_equal(d.threads[d.ev[0].thread].tid, 51);
    assert_int_equal(ev_kernel_of(&d, &d.ev[3])->grid[0], 1792);
    assert_int_equal(ev_copy_of(&d, &d.ev[4])->kind, COPY_HTOD);
    assert_int_equal(d.ev[4].bytes, 2000000000);
    assert_int_equal(d.ev[5].bytes, -1);
    assert_int_equal(d.streams[d.ev[5].stream].native, 1);
    assert_string_equal(tracedata_meta_get(&d, "backend"), "rocm");
    assert_string_equal(tracedata_meta_get(&d, "version"), "2");
    tracedata_free(&d);
}

TEST(rpd_graphs_and_markers)
{
    struct tracedata d = case_load("import_rpd", "tasks_of_a_graph(ok,events=5,loss=0).sql");
    for (size_t i = 2; i < 5; i++) {
        check(&d, i, EV_KERNEL, "gemm_kernel", 110 + 10 * ((int64_t)i - 2), 10, 0);
        assert_int_equal(d.ev[i].correlation, 7); /* the first call that claims it */
    }
    tracedata_free(&d);
    d = case_load("import_rpd", "markers_and_odd_rows(ok,events=4,loss=2).sql");
    check(&d, 0, EV_RANGE, "train step 3", 0, 1000, -1);
    check(&d, 1, EV_OVERHEAD, "OpTable::writeRows", 500, 100, -1);
    check(&d, 2, EV_SYNC, "Barrier", 100, 100, 0);
    check(&d, 3, EV_KERNEL, "gemm_kernel", 300, -100, 0);
    tracedata_free(&d);
}

TEST(rocprof_v1_rows)
{
    struct tracedata d = case_load("import_rocprofv1", "counters(ok,events=2,loss=0).sql");
    check(&d, 0, EV_KERNEL, "initialize_kernel", 0, 50, 8);
    check(&d, 1, EV_KERNEL, "step_kernel.kd", 50, 100, 8);
    assert_int_equal(ev_kernel_of(&d, &d.ev[0])->grid[0], 4);
    assert_int_equal(ev_kernel_of(&d, &d.ev[0])->block[0], 256);
    tracedata_free(&d);
    d = case_load("import_rocprofv1", "a_traced_run(ok,events=7,loss=0).sql");
    check(&d, 1, EV_RUNTIME, "hipMemcpyWithStream", 20, 80, -1);
    check(&d, 3, EV_KERNEL, "step_kernel", 15, 3, 4);
    check(&d, 4, EV_MEMCPY, "CopyDeviceToHost", 30, 60, 4);
    check(&d, 5, EV_MEMSET, "FillBuffer", 91, 1, 4);
    check(&d, 6, EV_SYNC, "Marker", 93, 1, 4);
    assert_int_equal(d.ev[4].correlation, d.ev[1].correlation);
    tracedata_free(&d);
    d = case_load("import_rocprofv1", "copies_of_the_layer_below(ok,events=2,loss=0).sql");
    check(&d, 1, EV_MEMCPY, "async-copy", 16, 58, -1);
    tracedata_free(&d);
}

static void check_sdk(const struct tracedata *d, size_t first)
{
    size_t call = 0, kernel = 0, copy = 0, range = 0;
    for (size_t i = first; i < first + 6; i++) {
        const struct event *ev = &d->ev[i];
        call = ev->kind == EV_RUNTIME ? i : call;
        copy = ev->kind == EV_MEMCPY ? i : copy;
        range = ev->kind == EV_RANGE ? i : range;
        kernel = ev->kind == EV_KERNEL && ev->end - ev->start == 2840 ? i : kernel;
    }
    check(d, kernel, EV_KERNEL, first ? "other(float*)" : "gemm(float*)", 0, 2840, 12);
    check(d, call, EV_RUNTIME, "hipMemcpyWithStream", 4000, 3000, -1);
    check(d, copy, EV_MEMCPY, "MEMORY_COPY_DEVICE_TO_HOST", 5000, 1000, 12);
    check(d, range, EV_RANGE, "step 1", -2000, 9500, -1);
    assert_int_equal(d->streams[d->ev[kernel].stream].native, 18);
    assert_int_equal(d->ev[copy].correlation, d->ev[call].correlation);
    assert_int_equal(process_of_event(d, &d->ev[copy]), process_of_event(d, &d->ev[call]));
    assert_int_equal(d->processes[process_of_event(d, &d->ev[copy])].pid, first ? 1000 : 908);
    assert_int_equal(ev_kernel_of(d, &d->ev[kernel])->grid[0], 1024);
    assert_int_equal(ev_copy_of(d, &d->ev[copy])->kind, COPY_DTOH);
    assert_string_equal(tracedata_meta_get(d, "device_name"), "AMD Instinct MI350X");
}

TEST(rocprofv3_names_wherever_they_stand)
{
    static const char *const files[] = {"dispatches_calls_copies_markers(ok,events=6,loss=0).json",
                                        "names_behind_the_records(ok,events=6,loss=0).json", "one_entry_without_a_list(ok,events=6,loss=0).json",
                                        "two_processes(ok,events=12,loss=0).json"};
    for (size_t i = 0; i < 4; i++) {
        struct tracedata d = case_load("import_rocprofv3", files[i]);
        check_sdk(&d, 0);
        assert_string_equal(event_name(&d, 1), "plain.kd"); /* the formatted name is empty */
        if (i == 3)
            check_sdk(&d, 6);
        tracedata_free(&d);
    }
}

TEST(rocpd_rows)
{
    static const char *const files[] = {"views(ok,events=5,loss=0).sql", "tables_of_two_processes(ok,events=6,loss=0).sql"};
    for (size_t i = 0; i < 2; i++) {
        struct tracedata d = case_load("import_rocpd", files[i]);
        size_t k = i ? 4 : 3;
        check(&d, 0, EV_RUNTIME, "hipLaunchKernel", 0, 10, -1);
        check(&d, 1, EV_RUNTIME, "hipMemcpyWithStream", 100, 100, -1);
        check(&d, 2, EV_RANGE, "step 1", -10, 500, -1);
        check(&d, k, EV_KERNEL, "gemm(float*)", 20, 30, 4);
        check(&d, k + 1, EV_MEMCPY, "MEMORY_COPY_DEVICE_TO_HOST", 120, 60, 4);
        assert_int_equal(d.ev[k].correlation, d.ev[0].correlation);
        assert_int_equal(process_of_event(&d, &d.ev[k]), process_of_event(&d, &d.ev[0]));
        assert_int_equal(d.processes[process_of_event(&d, &d.ev[0])].pid, 700);
        assert_int_equal(d.threads[d.ev[0].thread].tid, 701);
        assert_int_equal(d.streams[d.ev[k].stream].native, 2);
        assert_int_equal(d.ev[k + 1].bytes, 64);
        assert_string_equal(tracedata_meta_get(&d, "version"), "3");
        if (i)
            assert_int_equal(d.processes[process_of_event(&d, &d.ev[3])].pid, 800); /* same ids, another guid */
        tracedata_free(&d);
    }
}

TEST(damaged_files_are_refused_with_a_reason)
{
    damaged_database("import_rpd", "launches_copies_fills(ok,events=7,loss=0).sql");
    damaged_database("import_rocprofv1", "a_traced_run(ok,events=7,loss=0).sql");
    damaged_database("import_rocpd", "tables_of_two_processes(ok,events=6,loss=0).sql");
}

/* Cut anywhere, a rocprofv3 file gives its whole records or is refused; it never fails in another way. */
TEST(rocprofv3_cut_at_every_byte)
{
    char *text = case_text(TEST_DATA "/import_rocprofv3/names_behind_the_records(ok,events=6,loss=0).json");
    size_t whole = strlen(text), most = 0;
    for (size_t n = whole; n-- > 0;) {
        struct tracedata d;
        struct err e = {0};
        import_write("case.json", text, n);
        bool ok = import_quietly("case.json", &d, &e);
        if (ok != (e.kind == ERR_NONE) || (ok && d.n > 6) || (ok && n < whole - 3 && !d.nloss))
            fail_msg("%zu bytes: %s, %zu events", n, ok ? "taken" : e.msg, d.n);
        most = d.n > most ? d.n : most;
        tracedata_free(&d);
    }
    assert_int_equal(most, 6);
    unlink("case.json");
    free(text);
}

TEST(shared_traces_are_exact)
{
    int rocpd = compare_shared("rocpd/"), sdk = compare_shared("rocprofv3/");
    if (rocpd < 0)
        skip_because("the shared traces are not beside this checkout");
    assert_int_equal(rocpd, 2);
    assert_int_equal(sdk, 1);
}

TEST(columns_that_lack_cost_no_rows)
{
    struct tracedata d = case_load("import_rpd", "columns_left_out(ok,events=3,loss=0).sql");
    assert_true(d.ev[1].kind == EV_KERNEL && d.ev[1].device == 2 && d.ev[1].correlation == 7 && d.ev[1].end - d.ev[1].start == 30);
    assert_string_equal(event_name(&d, 1), "gemm");
    assert_int_equal(ev_kernel_of(&d, &d.ev[1])->grid[0], 64);
    assert_true(d.ev[2].kind == EV_MEMCPY && d.ev[2].bytes == -1);
    tracedata_free(&d);
    d = case_load("import_ascend_db", "columns_left_out(ok,events=3,loss=0).sql");
    assert_true(d.ev[0].kind == EV_RUNTIME && d.ev[1].kind == EV_KERNEL && d.ev[1].device == -1 && d.ev[2].kind == EV_COMM);
    assert_string_equal(event_name(&d, 1), "MatMul");
    tracedata_free(&d);
    case_build(TEST_DATA "/import_rpd/no_times(fail).sql", "case.db");
    case_must_refuse("case.db", "of an unknown version: no such column");
    unlink("case.db");
}

UNIT_MAIN(UNIT(cases_are_as_their_names_say), UNIT(rpd_rows), UNIT(rpd_graphs_and_markers), UNIT(rocprof_v1_rows),
          UNIT(rocprofv3_names_wherever_they_stand), UNIT(rocpd_rows), UNIT(damaged_files_are_refused_with_a_reason),
          UNIT(rocprofv3_cut_at_every_byte), UNIT(shared_traces_are_exact), UNIT(columns_that_lack_cost_no_rows))
