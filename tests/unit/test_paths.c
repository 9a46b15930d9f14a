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

/* Folders in a folder are not looked into; one that may hold traces is named. */
TEST(folders_in_a_folder_are_named)
{
    static const char *const given = "nest";
    struct arena a = {0};
    struct paths p = {0};
    struct err e = {0};
    assert_int_equal(system("mkdir -p nest/notes nest/b nest/a && cp run/b.json nest && touch nest/notes/x.txt nest/a/t.json.gz nest/b/t.db"), 0);
    assert_ok(paths_expand(&p, &a, &given, 1, &e), &e);
    assert_int_equal(p.n, 1);
    assert_string_equal(p.nested, "nest/a");
    paths_free(&p);
    assert_int_equal(system("rm -r nest/a nest/b"), 0);
    assert_ok(paths_expand(&p, &a, &given, 1, &e), &e);
    assert_null(p.nested);
    paths_free(&p);
    arena_free(&a);
}

TEST(what_holds_no_trace_is_refused)
{
    mkdir("empty", 0700);
    must_refuse("empty", "no trace in this folder");
    assert_int_equal(system("tar cf notes.tar run/notes"), 0);
    must_refuse("notes.tar", "no trace in this archive");
    mkdir("above", 0700);
    mkdir("above/empty", 0700);
    must_refuse("above", "no trace in this folder itself; give the folders in it that hold some");
    assert_int_equal(system("head -c 300 run.tar.gz > cut.tar.gz"), 0);
    case_must_refuse("cut.tar.gz", "tar archive; give it by itself, or mend it if it is cut");
    case_must_refuse("run.tar/run/nobody.json", "cannot open");
    case_must_refuse("run/b.json/x", "cannot open");
}

/* Beside traces: the first that is called one and is none is said, with their number; other JSON and notes nobody would miss. */
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
    assert_string_equal(p.left, "job/rank1.json: an empty file");
    assert_int_equal(p.nleft, 2);
    paths_free(&p);
    arena_free(&a);
    case_must_refuse("job/config.json", "not a trace");
}

static void write_database(const char *path)
{
    sqlite3 *db = NULL;
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE cache(id INTEGER); INSERT INTO cache VALUES (1)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* More text than is looked at first, with nothing of a trace in it. */
static void write_words(const char *path, const char *before)
{
    FILE *f = fopen(path, "w");
    fprintf(f, "%s[", before);
    for (int i = 0; i < 20000; i++)
        fprintf(f, "%s\"word%d\"", i ? ", " : "", i);
    fprintf(f, "]%s", *before ? "}" : "");
    fclose(f);
}

/* What is plainly no trace is no reason to fail, in a folder as in an archive, as long as there is a trace. */
TEST(other_files_beside_traces)
{
    static const struct {
        const char *file, *what; /* NULL: nothing is said */
    } others[] = {{"cache.db", "an SQLite database without the tables of a trace, or a damaged one"},
                  {"cache.db.gz", "an SQLite database without the tables of a trace, or a damaged one"},
                  {"words.json", NULL},
                  {"list.json", NULL},
                  {"schema.json", NULL},
                  {"ph.json", "JSON without one whole event of a trace"},
                  {"none.json", "JSON without one whole event of a trace"},
                  {"cut.json", "JSON without one whole event of a trace"},
                  {"torn.sqlite", "an SQLite database without the tables of a trace, or a damaged one"},
                  {"more.tar.gz", "a tar archive; give it by itself, or mend it if it is cut"},
                  {"photo.jpg", NULL}};
    static const char *const given[] = {"beside", "beside.tar.gz"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char file[128], want[256];
        assert_int_equal(system("rm -rf beside && mkdir beside"), 0);
        snprintf(file, sizeof file, "beside/%s", others[i].file);
        write_database("beside/cache.db");
        write_words("beside/words.json", "{\"words\": ");
        write_words("beside/list.json", "");
        write_words("beside/schema.json", "{\"schemaVersion\": 2, \"layers\": ");
        import_write("beside/ph.json", "{\"ph\": 7.2}", 11);
        import_write("beside/none.json", "{\"traceEvents\": []}", 19);
        import_write("beside/cut.json", trace, 40);
        import_write("beside/torn.sqlite", "SQLite format 3\0\0\0\0\0\0\0\0\0", 24);
        import_write("beside/photo.jpg", "\xff\xd8\xff\xe0 JFIF", 9);
        assert_int_equal(system("gzip -k beside/cache.db && cp run.tar.gz beside/more.tar.gz"), 0);
        snprintf(want, sizeof want, "find beside -type f ! -name %s -delete; cp run/b.json beside/t.json; tar czf beside.tar.gz beside",
                 others[i].file);
        assert_int_equal(system(want), 0);
        for (int k = 0; k < 2; k++) {
            struct arena a = {0};
            struct paths p = {0};
            struct err e = {0};
            assert_ok(paths_expand(&p, &a, &given[k], 1, &e), &e);
            snprintf(want, sizeof want, "%s%s%s: %s", given[k], k ? "/" : "", k ? file : file + 6, others[i].what ? others[i].what : "");
            if (p.n != 1 || p.nleft != (others[i].what != NULL) || (p.left && strcmp(p.left, want) != 0))
                fail_msg("%s in %s: %zu traces, %zu left: %s", file, given[k], p.n, p.nleft, p.left ? p.left : "nothing");
            paths_free(&p);
            arena_free(&a);
        }
        assert_int_equal(system("rm beside/t.json; tar czf beside.tar.gz beside"), 0);
        must_refuse("beside", "beside: no trace in this folder");
        must_refuse("beside.tar.gz", others[i].what ? others[i].what : "beside.tar.gz: no trace in this archive");
    }
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
    const struct CMUnitTest tests[] = {UNIT(what_a_name_stands_for),         UNIT(folders_in_a_folder_are_named),
                                       UNIT(what_holds_no_trace_is_refused), UNIT(what_is_left_out_of_a_folder_is_said),
                                       UNIT(other_files_beside_traces),      UNIT(cut_archives_are_said)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, NULL) != 0;
}
