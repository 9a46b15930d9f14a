/* Nsight Systems exports: SQL cases whose names are the expectation, what the rows become, damaged files, real exports. */
#include "import_run.h"

#include <glob.h>
#include <sqlite3.h>
#include <sys/stat.h>

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 16);
    assert_in_range(fread(text, 1, (1 << 16) - 1, f), 1, (1 << 16) - 2);
    fclose(f);
    return text;
}

static void build(const char *sql_path, const char *db_path)
{
    sqlite3 *db = NULL;
    char *sql = read_text(sql_path), *why = NULL;
    unlink(db_path);
    assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql_path, why);
    sqlite3_close(db);
    free(sql);
}

static bool load_case(const char *name, struct tracedata *d, struct err *e)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/import_nsys/%s", TEST_DATA, name);
    build(path, "import.sqlite");
    return import_quietly("import.sqlite", d, e);
}

static struct tracedata must_load(const char *name)
{
    struct tracedata d;
    struct err e = {0};
    assert_ok(load_case(name, &d, &e), &e);
    return d;
}

TEST(cases_are_as_their_names_say)
{
    glob_t g;
    assert_int_equal(glob(TEST_DATA "/import_nsys/*.sql", 0, NULL, &g), 0);
    assert_in_range(g.gl_pathc, 16, 1000);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        const char *name = strrchr(g.gl_pathv[i], '/') + 1, *events = strstr(name, "events="), *losses = strstr(name, "loss=");
        struct tracedata d;
        struct err e = {0};
        bool ok = load_case(name, &d, &e);
        if (ok != (strstr(name, "(ok") != NULL) || ok != (e.kind == ERR_NONE) || (!ok && (e.kind != ERR_FAIL || strchr(e.msg, '\n'))))
            fail_msg("%s: %s", name, ok ? "taken, should be refused" : e.msg);
        if ((events && d.n != strtoul(events + 7, NULL, 10)) || (losses && d.nloss != strtoul(losses + 5, NULL, 10)))
            fail_msg("%s: %zu events, %zu losses", name, d.n, d.nloss);
        tracedata_free(&d);
    }
    globfree(&g);
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

static void must_refuse(const char *path, const char *part)
{
    struct tracedata d;
    struct err e = {0};
    if (import_quietly(path, &d, &e) || e.kind != ERR_FAIL || !strstr(e.msg, part))
        fail_msg("%s: want \"%s\", got: %s", path, part, e.msg);
    tracedata_free(&d);
}

/* What an interrupted export leaves, and the same file cut at every page. */
TEST(damaged_databases_are_refused_with_a_reason)
{
    struct stat st;
    char zeros[8192] = {0};
    build(TEST_DATA "/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql", "import.sqlite");
    assert_int_equal(stat("import.sqlite", &st), 0);
    for (off_t n = st.st_size - 1; n >= 512; n -= 1024) {
        assert_int_equal(truncate("import.sqlite", n), 0);
        must_refuse("import.sqlite", "cut");
    }
    assert_int_equal(truncate("import.sqlite", 40), 0);
    must_refuse("import.sqlite", "cut");
    import_write("import.sqlite", zeros, sizeof zeros);
    must_refuse("import.sqlite", "nothing but zero bytes");
    build(TEST_DATA "/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql", "import.sqlite");
    FILE *f = fopen("import.sqlite", "r+b"); /* a torn page in the middle */
    fseek(f, 4096, SEEK_SET);
    fwrite(zeros, 1, 4096, f);
    fclose(f);
    must_refuse("import.sqlite", "damaged");
}

TEST(nothing_is_written_beside_the_file)
{
    struct tracedata d = must_load("kernels_and_calls(ok,events=3,loss=0).sql");
    tracedata_free(&d);
    static const char *const side[] = {"import.sqlite-wal", "import.sqlite-shm", "import.sqlite-journal"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(access(side[i], F_OK), -1);
}

TEST(odd_file_names_open)
{
    struct tracedata d;
    struct err e = {0};
    build(TEST_DATA "/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql", "a %3f?b#c.sqlite");
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

UNIT_MAIN(UNIT(cases_are_as_their_names_say), UNIT(rows_keep_what_the_tables_say), UNIT(processes_stay_apart), UNIT(old_schemas_open),
          UNIT(the_call_says_what_a_wait_is), UNIT(memory_kinds_are_renumbered), UNIT(ranges_have_domain_and_flavour), UNIT(graphs_sites_and_secrets),
          UNIT(damaged_databases_are_refused_with_a_reason), UNIT(nothing_is_written_beside_the_file), UNIT(odd_file_names_open),
          UNIT(shared_exports_are_exact))
