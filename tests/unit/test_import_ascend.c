/* Traces of Ascend: databases and text. Cases by name, what rows become, damage, shared traces against the vendor's values. */
#include "import_cases.h"

TEST(cases_are_as_their_names_say)
{
    all_cases("import_ascend_db", "ascend-db", 7);
    all_cases("import_ascend_json", "ascend-json", 9);
}

static void check(const struct tracedata *d, size_t i, enum ev_kind kind, const char *name, int64_t start, int64_t length, int device)
{
    const struct event *ev = &d->ev[i];
    if (ev->kind != (int)kind || strcmp(event_name(d, i), name) != 0 || ev->start != start || ev->end - ev->start != length || ev->device != device)
        fail_msg("row %zu: %s %s at %lld for %lld on %d", i, ev_kind_name((enum ev_kind)ev->kind), event_name(d, i), (long long)ev->start,
                 (long long)(ev->end - ev->start), ev->device);
}

static void check_collective(const struct tracedata *d, size_t i, const char *group, int64_t sequence)
{
    const struct ev_comm *c = ev_comm_of(d, &d->ev[i]);
    assert_non_null(c);
    assert_string_equal(intern_str(&d->strings, c->communicator), group);
    assert_string_equal(intern_str(&d->strings, c->function), "allReduce");
    assert_string_equal(intern_str(&d->strings, c->dtype), "FP32");
    assert_int_equal(c->sequence, sequence);
    assert_int_equal(c->message_bytes, 4000);
}

TEST(database_rows)
{
    struct tracedata d = case_load("import_ascend_db", "kernels_collectives_calls(ok,events=7,loss=0).sql");
    check(&d, 0, EV_RUNTIME, "aclrtSynchronizeStreamWithTimeout", 0, 500, -1);
    check(&d, 1, EV_RUNTIME, "StreamSynchronize", 100, 300, -1);
    check(&d, 2, EV_KERNEL, "aclnnAdd_Add", 630, 100, 1);
    check(&d, 3, EV_KERNEL, "aclnnMul_Mul", 800, 100, 1);
    check(&d, 4, EV_MEMCPY, "MEMCPY_ASYNC", 950, 10, 1);
    check(&d, 5, EV_SYNC, "EVENT_WAIT", 1000, 400, 1);
    check(&d, 6, EV_COMM, "hcom_allReduce__210_0_1", 1100, 200, 1); /* the device of its parts */
    check_collective(&d, 6, "group_a", 0);
    assert_int_equal(d.streams[d.ev[6].stream].native, 4);
    assert_int_equal(d.ev[2].correlation, d.ev[0].correlation);
    assert_int_equal(d.ev[5].correlation, -1); /* 4294967295 is none */
    const struct processkey *p = &d.processes[process_of_event(&d, &d.ev[0])];
    assert_true(p->pid == 500 && p->rank == 5 && d.ev[2].rank == 5);
    assert_string_equal(intern_str(&d.strings, p->host), "node7");
    assert_int_equal(process_of_event(&d, &d.ev[2]), process_of_event(&d, &d.ev[0]));
    assert_int_equal(d.threads[d.ev[0].thread].tid, 1009);
    assert_string_equal(tracedata_meta_get(&d, "backend"), "ascend");
    assert_string_equal(tracedata_meta_get(&d, "device_name"), "Ascend910B");
    assert_string_equal(tracedata_meta_get(&d, "utc_epoch_ns"), "1736410576398779000");
    assert_string_equal(tracedata_meta_get(&d, "rank"), "5");
    tracedata_free(&d);
}

TEST(framework_rows)
{
    struct tracedata d = case_load("import_ascend_db", "operators_with_stacks(ok,events=2,loss=1).sql");
    check(&d, 0, EV_OP, "aten::item", 0, 100, -1);
    check(&d, 1, EV_RANGE, "ProfilerStep#4", -1000, 11000, -1);
    const struct sitekey *site = &d.sites[d.ev[0].site];
    assert_string_equal(intern_str(&d.strings, site->file), "/home/me/work/run.py"); /* not torch's own frame */
    assert_string_equal(intern_str(&d.strings, site->function), "train");
    assert_int_equal(site->line, 33);
    tracedata_free(&d);
    d = case_load("import_ascend_db", "frames_steps_marks(ok,events=4,loss=0).sql");
    check(&d, 0, EV_FRAME, "train.py(20): step", 0, 100, -1);
    check(&d, 1, EV_RANGE, "ProfilerStep#4", -1000, 11000, -1);
    check(&d, 2, EV_RANGE, "mark", -500, 100, -1);
    check(&d, 3, EV_RANGE, "mark", -300, 0, -1);
    assert_string_equal(intern_str(&d.strings, ev_range_of(&d, &d.ev[2])->domain), "dom");
    assert_int_equal(ev_range_of(&d, &d.ev[3])->flavour, RANGE_MARK);
    tracedata_free(&d);
    d = case_load("import_ascend_db", "tasks_alone(ok,events=2,loss=0).sql");
    check(&d, 0, EV_KERNEL, "AI_CORE", 0, 100, 0); /* no table of compute tasks: the type tells */
    tracedata_free(&d);
}

TEST(text_rows)
{
    static const char *const files[] = {"lanes_named_in_front(ok,events=9,loss=0).json", "lanes_named_behind(ok,events=9,loss=0).json"};
    for (size_t i = 0; i < 2; i++) {
        struct tracedata d = case_load("import_ascend_json", files[i]);
        check(&d, 0, EV_OP, "aten::item", 0, 100000, -1);
        check(&d, 1, EV_RANGE, "ProfilerStep#4", -1000000, 9000500, -1);
        check(&d, 2, EV_RUNTIME, "aclrtSynchronizeStreamWithTimeout", 10000, 80250, -1); /* without its layer */
        check(&d, 4, EV_KERNEL, "aclnnAdd_Add", 20212, 53742, 3);                        /* the vendor's rounding of 53.7410625 */
        check(&d, 5, EV_MEMCPY, "MEMCPY_ASYNC", 80000, 5500, 3);
        check(&d, 6, EV_SYNC, "EVENT_WAIT", 90000, 7000, 3);
        check(&d, 7, EV_KERNEL, "brand_new", 200000, 2000, 3); /* a type nobody knows, but the vendor counts it */
        check(&d, 8, EV_COMM, "hcom_allReduce__586_3_1", 100000, 20500, 3);
        check_collective(&d, 8, "Group 0", 3);
        assert_int_equal(d.ev[5].correlation, d.ev[3].correlation);
        assert_int_equal(process_of_event(&d, &d.ev[5]), process_of_event(&d, &d.ev[3]));
        assert_string_equal(intern_str(&d.strings, d.sites[d.ev[0].site].function), "train");
        assert_int_equal(d.ev[4].rank, -1);
        tracedata_free(&d);
    }
}

static void check_rank(const char *path, int rank)
{
    struct tracedata d;
    struct err e = {0};
    assert_ok(import_quietly(path, &d, &e), &e);
    if (d.ev[0].rank != rank || d.processes[process_of_event(&d, &d.ev[0])].rank != rank)
        fail_msg("%s: rank %d, want %d", path, d.ev[0].rank, rank);
    tracedata_free(&d);
}

TEST(ranks_by_the_profilers_names)
{
    char *text = case_text(TEST_DATA "/import_ascend_json/lanes_named_in_front(ok,events=9,loss=0).json");
    mkdir("a_ascend_pt", 0700);
    mkdir("a_ascend_pt/OUT", 0700);
    import_write("a_ascend_pt/OUT/trace_view.json", text, strlen(text));
    check_rank("a_ascend_pt/OUT/trace_view.json", -1);
    import_write("a_ascend_pt/profiler_info_17.json", "{}", 2);
    check_rank("a_ascend_pt/OUT/trace_view.json", 17);
    assert_int_equal(system("tar czf a.tar.gz a_ascend_pt && tar cf b.tar -C a_ascend_pt ."), 0);
    check_rank("a.tar.gz/a_ascend_pt/OUT/trace_view.json", 17);
    check_rank("b.tar/./OUT/trace_view.json", 17);
    import_write("a_ascend_pt/profiler_info_18.json", "{}", 2); /* two: whose is it? */
    check_rank("a_ascend_pt/OUT/trace_view.json", -1);
    import_write("a_ascend_pt/OUT/profiler_info_3.json", "{}", 2);
    check_rank("a_ascend_pt/OUT/trace_view.json", 3);
    assert_int_equal(system("tar cf b.tar -C a_ascend_pt OUT profiler_info_17.json profiler_info_18.json"), 0);
    check_rank("b.tar/OUT/trace_view.json", 3);
    assert_int_equal(system("tar cf b.tar -C a_ascend_pt profiler_info_17.json profiler_info_18.json OUT/trace_view.json"), 0);
    check_rank("b.tar/OUT/trace_view.json", -1);
    case_build(TEST_DATA "/import_ascend_db/tasks_alone(ok,events=2,loss=0).sql", "ascend_pytorch_profiler_6.db");
    check_rank("ascend_pytorch_profiler_6.db", 6);
    case_build(TEST_DATA "/import_ascend_db/kernels_collectives_calls(ok,events=7,loss=0).sql", "ascend_pytorch_profiler_6.db");
    check_rank("ascend_pytorch_profiler_6.db", 5); /* the table comes before the name */
    static const char *const made[] = {"a.tar.gz",
                                       "b.tar",
                                       "ascend_pytorch_profiler_6.db",
                                       "a_ascend_pt/OUT/trace_view.json",
                                       "a_ascend_pt/OUT/profiler_info_3.json",
                                       "a_ascend_pt/OUT",
                                       "a_ascend_pt/profiler_info_17.json",
                                       "a_ascend_pt/profiler_info_18.json",
                                       "a_ascend_pt"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        remove(made[i]);
    free(text);
}

TEST(damaged_databases_are_refused_with_a_reason)
{
    damaged_database("import_ascend_db", "kernels_collectives_calls(ok,events=7,loss=0).sql");
}

/* Cut anywhere, a text trace gives its whole rows or is refused. */
TEST(text_cut_at_every_byte)
{
    char *text = case_text(TEST_DATA "/import_ascend_json/lanes_named_in_front(ok,events=9,loss=0).json");
    size_t whole = strlen(text), before = 9;
    for (size_t n = whole; n-- > 0;) {
        struct tracedata d;
        struct err e = {0};
        import_write("case.json", text, n);
        bool ok = import_quietly("case.json", &d, &e);
        if (ok != (e.kind == ERR_NONE) || (ok && (d.n > before || (n < whole - 2 && !d.nloss))))
            fail_msg("%zu bytes: %s, %zu events", n, ok ? "taken" : e.msg, d.n);
        before = ok ? d.n : before;
        tracedata_free(&d);
    }
    unlink("case.json");
    free(text);
}

/* Huawei's own numbers. */
struct vendor {
    char file[256], source[16], device[16];
    long long computes, compute, comms, comm, overlap;
};

static long long union_of(const struct tracedata *d, unsigned kinds, long long *count)
{
    struct import_span *v = calloc(d->n + 1, sizeof *v);
    size_t n = 0;
    assert_non_null(v);
    for (size_t i = 0; i < d->n; i++)
        if (kinds >> d->ev[i].kind & 1)
            v[n++] = (struct import_span){d->ev[i].start, d->ev[i].end};
    *count = (long long)n;
    long long length = import_union(v, n);
    free(v);
    return length;
}

static void compare_vendor(const struct vendor *x)
{
    char path[600];
    struct tracedata d;
    struct err e = {0};
    struct vendor got = {0};
    long long both, n;
    snprintf(path, sizeof path, "%s/../shared/traces/%s", TEST_ROOT, x->file);
    assert_ok(import_quietly(path, &d, &e), &e);
    got.compute = union_of(&d, 1u << EV_KERNEL, &got.computes);
    got.comm = union_of(&d, 1u << EV_COMM, &got.comms);
    both = union_of(&d, 1u << EV_KERNEL | 1u << EV_COMM, &n);
    got.overlap = got.compute + got.comm - both;
    if (got.computes != x->computes || got.compute != x->compute || got.comms != x->comms || got.comm != x->comm || got.overlap != x->overlap)
        fail_msg("%s: %lld compute rows, union %lld; %lld collectives, union %lld; overlap %lld", x->file, got.computes, got.compute, got.comms,
                 got.comm, got.overlap);
    tracedata_free(&d);
}

TEST(shared_traces_equal_the_vendor)
{
    FILE *f = fopen(TEST_ROOT "/../shared/traces/EXPECTED_ASCEND.tsv", "r");
    char line[1024];
    int rows = 0;
    if (!f)
        skip_because("the shared traces are not beside this checkout");
    while (fgets(line, sizeof line, f)) {
        struct vendor x;
        if (sscanf(line, "%255s %15s %15s %lld %lld %lld %lld %lld", x.file, x.source, x.device, &x.computes, &x.compute, &x.comms, &x.comm,
                   &x.overlap) == 8) {
            compare_vendor(&x);
            rows++;
        }
    }
    fclose(f);
    assert_int_equal(rows, 8);
}

UNIT_MAIN(UNIT(cases_are_as_their_names_say), UNIT(database_rows), UNIT(framework_rows), UNIT(text_rows), UNIT(ranks_by_the_profilers_names),
          UNIT(damaged_databases_are_refused_with_a_reason), UNIT(text_cut_at_every_byte), UNIT(shared_traces_equal_the_vendor))
