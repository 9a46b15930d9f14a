/* Folders and archives as the traces in them; a member is read where it lies. */
#include "analyzer/paths.h"
#include "analyzer/tarfile.h"
#include "import_cases.h"

static const char trace[] =
    "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2.5,\"args\":{\"device\":0,\"stream\":7}}]";

/* run/ with two traces, one of them packed, a database, and files that are none; run.tar, run.tar.gz, run.tar.zst of it. */
static int set_up(void **state)
{
    (void)state;
    mkdir("run", 0700);
    mkdir("run/inner", 0700);
    import_write("run/b.json", trace, sizeof trace - 1);
    import_write("run/a.json", trace, sizeof trace - 1);
    import_write("run/inner/c.json", trace, sizeof trace - 1);
    import_write("run/notes", "not a trace", 11);
    import_write("run/b.json.tmp", trace, sizeof trace - 1);
    char noise[200000]; /* does not pack: a cut falls behind the first member */
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)rnd(256);
    import_write("run/noise", noise, sizeof noise);
    return system("gzip -qf run/a.json && tar cf run.tar run && tar czf run.tar.gz -C run b.json a.json.gz notes noise inner && "
                  "zstd -qf run.tar -o run.tar.zst");
}

static void check(const char *given, const char *const *want)
{
    struct arena a = {0};
    struct paths p = {0};
    struct err e = {0};
    size_t n = 0;
    assert_ok(paths_expand(&p, &a, &given, 1, &e), &e);
    for (; want[n]; n++)
        if (n >= p.n || strcmp(p.v[n], want[n]) != 0)
            fail_msg("%s: %s, want %s", given, n < p.n ? p.v[n] : "no more", want[n]);
    assert_int_equal(p.n, n);
    for (size_t i = 0; i < p.n; i++) {
        struct tracedata d;
        assert_ok(import_quietly(p.v[i], &d, &e), &e);
        assert_int_equal(d.n, 1);
        assert_int_equal(d.ev[0].end, 2500);
        tracedata_free(&d);
    }
    paths_free(&p);
    arena_free(&a);
}

TEST(what_a_name_stands_for)
{
    check("run", (const char *const[]){"run/a.json.gz", "run/b.json", NULL});
    check("run/", (const char *const[]){"run/a.json.gz", "run/b.json", NULL});
    check("run/b.json", (const char *const[]){"run/b.json", NULL});
    check("run.tar.gz", (const char *const[]){"run.tar.gz/a.json.gz", "run.tar.gz/b.json", "run.tar.gz/inner/c.json", NULL});
    check("./run.tar", (const char *const[]){"./run.tar/run/a.json.gz", "./run.tar/run/b.json", "./run.tar/run/inner/c.json", NULL});
    check("run.tar.zst", (const char *const[]){"run.tar.zst/run/a.json.gz", "run.tar.zst/run/b.json", "run.tar.zst/run/inner/c.json", NULL});
    check("run.tar/run/b.json", (const char *const[]){"run.tar/run/b.json", NULL});
}

static void must_refuse(const char *given, const char *part)
{
    struct arena a = {0};
    struct paths p = {0};
    struct err e = {0};
    if (paths_expand(&p, &a, &given, 1, &e) || e.kind != ERR_FAIL || !strstr(e.msg, part))
        fail_msg("%s: want \"%s\", got: %s", given, part, e.msg);
    paths_free(&p);
    arena_free(&a);
}

TEST(what_holds_no_trace_is_refused)
{
    mkdir("empty", 0700);
    must_refuse("empty", "no trace in this folder");
    assert_int_equal(system("tar cf notes.tar run/notes"), 0);
    must_refuse("notes.tar", "no trace in this archive");
    case_must_refuse("run.tar/run/nobody.json", "cannot open");
    case_must_refuse("run/b.json/x", "cannot open");
}

/* Beside traces: what is called one and is none is said, in order; other JSON and notes nobody would miss. */
TEST(what_is_left_out_of_a_folder_is_said)
{
    struct arena a = {0};
    struct paths p = {0};
    struct err e = {0};
    const char *given = "job";
    char zeros[300] = {0};
    mkdir("job", 0700);
    import_write("job/rank0.json", trace, sizeof trace - 1);
    import_write("job/rank1.json", "", 0);
    import_write("job/rank2.sqlite", zeros, sizeof zeros);
    import_write("job/config.json", "{\"lr\": 1}", 9);
    import_write("job/README", "hello", 5);
    unlink("job/rank3.json");
    unlink("job/again");
    assert_int_equal(symlink("nowhere", "job/rank3.json") | symlink("../job", "job/again"), 0);
    assert_ok(paths_expand(&p, &a, &given, 1, &e), &e);
    assert_int_equal(p.n, 1);
    assert_string_equal(p.left, "job/rank1.json: an empty file; job/rank2.sqlite: nothing but zero bytes, as an interrupted export leaves them");
    paths_free(&p);
    arena_free(&a);
    case_must_refuse("job/config.json", "not a trace");
}

/* Cut anywhere an archive is refused or taken for something else; it is never half a run in silence. */
TEST(cut_archives_are_said)
{
    struct stat st;
    int damaged = 0;
    assert_int_equal(stat("run.tar.gz", &st), 0);
    for (off_t n = st.st_size - 1; n > 0; n -= st.st_size / 40) {
        struct arena a = {0};
        struct paths p = {0};
        struct err e = {0};
        const char *given = "cut.tar.gz";
        char command[128];
        snprintf(command, sizeof command, "head -c %lld run.tar.gz > cut.tar.gz", (long long)n);
        assert_int_equal(system(command), 0);
        bool ok = paths_expand(&p, &a, &given, 1, &e);
        if (ok && (p.n != 1 || strcmp(p.v[0], given) != 0) && n < st.st_size - 100)
            fail_msg("%lld bytes: %zu traces", (long long)n, p.n);
        damaged += !ok;
        paths_free(&p);
        arena_free(&a);
    }
    assert_in_range(damaged, 20, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {UNIT(what_a_name_stands_for), UNIT(what_holds_no_trace_is_refused), UNIT(what_is_left_out_of_a_folder_is_said),
                                       UNIT(cut_archives_are_said)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, NULL) != 0;
}
