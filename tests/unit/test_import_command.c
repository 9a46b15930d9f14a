/* cpscope import: all or nothing whatever fails, several files as one run, and what stands in the way of that. */
#include "import_run.h"

#include "analyzer/cmd.h"
#include "schemas/tracefile.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

extern const struct cmd cmd_import;

static enum status run(struct err *e, const char *a, const char *b, const char *c, const char *d, const char *f)
{
    const char *argv[] = {"cpscope import", a, b, c, d, f, NULL};
    int argc = 1;
    while (argv[argc])
        argc++;
    int old = import_hush();
    *e = (struct err){0};
    enum status s = cmd_import.run(argc, (char **)argv, e);
    import_unhush(old);
    return s;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void must_fail(enum status got, enum status want, const struct err *e, const char *part)
{
    if (got != want || e->kind == ERR_NONE || !strstr(e->msg, part))
        fail_msg("status %d, want %d with \"%s\": %s", (int)got, (int)want, part, e->msg);
    assert_false(exists("out.db.tmp"));
}

/* A trace of rank `rank` whose one kernel starts `late` us after the base. */
static void write_rank(const char *path, int rank, long long base, int late)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"distributedInfo\":{\"rank\":%d,\"world_size\":2},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,"
        "\"tid\":7,\"ts\":%d,\"dur\":2.5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":1}}],"
        "\"baseTimeNanoseconds\":%lld}",
        rank, rank, 1000 + late, 900 + late, base);
    import_write(path, text, strlen(text));
}

static const long long base = 1719853884000000000;

TEST(one_file_becomes_a_trace_file)
{
    struct err e;
    struct tracedata d;
    write_rank("a.json", 1, base, 0);
    assert_int_equal(run(&e, "a.json", "-o", "out.db", NULL, NULL), STATUS_OK);
    assert_true(tracefile_is("out.db"));
    tracedata_init(&d);
    assert_ok(tracefile_load("out.db", &d, &e), &e);
    assert_int_equal(d.n, 2);
    assert_int_equal(d.processes[process_of_event(&d, &d.ev[0])].pid, 1); /* known only behind the first event */
    assert_string_equal(tracedata_meta_get(&d, "clean_end"), "1");
    tracedata_free(&d);
    must_fail(run(&e, "a.json", "-o", "out.db", NULL, NULL), STATUS_FAIL, &e, "exists already");
    assert_int_equal(run(&e, "a.json", "-o", "out.db", "--force", NULL), STATUS_OK);
    assert_int_equal(run(&e, "out.db", "-o", "again.db", NULL, NULL), STATUS_OK); /* ours is a trace too */
    unlink("again.db");
    unlink("out.db");
    unlink("a.json");
}

TEST(two_ranks_become_one_run_by_their_clocks)
{
    struct err e;
    struct tracedata d;
    write_rank("a.json", 0, base, 0);
    write_rank("b.json", 1, base + 5000, 20); /* 25 us later in all */
    assert_int_equal(run(&e, "a.json", "b.json", "-o", "out.db", NULL), STATUS_OK);
    tracedata_init(&d);
    assert_ok(tracefile_load("out.db", &d, &e), &e);
    assert_int_equal(d.n, 4);
    assert_int_equal(d.ev[0].start, 0);
    assert_int_equal(d.ev[2].start, 25000);
    assert_int_equal(d.ev[2].end, 27500);
    assert_string_equal(event_name(&d, 2), "k1");
    assert_int_equal(d.ev[2].rank, 1);
    assert_int_not_equal(process_of_event(&d, &d.ev[0]), process_of_event(&d, &d.ev[2])); /* same pid, same device, same stream */
    assert_int_equal(process_of_event(&d, &d.ev[2]), process_of_event(&d, &d.ev[3]));
    assert_string_equal(tracedata_meta_get(&d, "aligned_by"), "utc");
    assert_string_equal(tracedata_meta_get(&d, "world_size"), "2");
    assert_null(tracedata_meta_get(&d, "rank")); /* they do not agree */
    tracedata_free(&d);
    unlink("out.db");
    must_fail(run(&e, "a.json", "a.json", "-o", "out.db", NULL), STATUS_USAGE, &e, "both rank 0");
    write_rank("c.json", -1, base, 0);
    must_fail(run(&e, "a.json", "c.json", "-o", "out.db", NULL), STATUS_UNDECIDED, &e, "c.json: does not say which rank it is");
    assert_false(exists("out.db"));
    unlink("a.json");
    unlink("b.json");
    unlink("c.json");
}

TEST(whatever_fails_leaves_nothing)
{
    struct err e;
    write_rank("a.json", 0, base, 0);
    import_write("junk.json", "{\"traceEvents\":[", 16);
    must_fail(run(&e, "a.json", NULL, NULL, NULL, NULL), STATUS_USAGE, &e, "-o OUT is missing");
    must_fail(run(&e, "gone.json", "-o", "out.db", NULL, NULL), STATUS_FAIL, &e, "gone.json: cannot open: No such file");
    must_fail(run(&e, "junk.json", "-o", "out.db", NULL, NULL), STATUS_FAIL, &e, "junk.json: line 1");
    mkdir("nothing", 0700);
    must_fail(run(&e, "nothing", "-o", "out.db", NULL, NULL), STATUS_FAIL, &e, "nothing: no trace in this folder");
    rmdir("nothing");
    must_fail(run(&e, "a.json", "-o", "no/such/folder/out.db", NULL, NULL), STATUS_FAIL, &e, "cannot write");
    must_fail(run(&e, "a.json", "-o", "a.json/out.db", NULL, NULL), STATUS_FAIL, &e, "cannot write");
    must_fail(run(&e, "a.json", "junk.json", "-o", "out.db", NULL), STATUS_FAIL, &e, "junk.json: line 1");
    assert_false(exists("out.db"));
    import_write("out.db", "precious", 8);
    must_fail(run(&e, "junk.json", "-o", "out.db", "--force", NULL), STATUS_FAIL, &e, "junk.json");
    assert_true(exists("out.db")); /* and what stood there is still there */
    unlink("out.db");
    unlink("a.json");
    unlink("junk.json");
}

/* Writing fails at every size in turn, as on a disk that runs full. */
TEST(a_full_disk_leaves_nothing)
{
    struct rlimit old, small;
    struct err e;
    signal(SIGXFSZ, SIG_IGN);
    write_rank("a.json", 0, base, 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    enum status s = STATUS_FAIL;
    int failures = 0;
    for (rlim_t size = 0; s != STATUS_OK && size < 1 << 20; size += 8192) {
        small = (struct rlimit){size, old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        s = run(&e, "a.json", "-o", "out.db", NULL, NULL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(s == STATUS_OK, e.kind == ERR_NONE);
        assert_int_equal(exists("out.db"), s == STATUS_OK);
        assert_false(exists("out.db.tmp"));
        failures += s != STATUS_OK;
    }
    assert_int_equal(s, STATUS_OK);
    assert_in_range(failures, 5, 128);
    unlink("out.db");
    unlink("a.json");
}

UNIT_MAIN(UNIT(one_file_becomes_a_trace_file), UNIT(two_ranks_become_one_run_by_their_clocks), UNIT(whatever_fails_leaves_nothing),
          UNIT(a_full_disk_leaves_nothing))
