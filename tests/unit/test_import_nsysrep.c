/* Reports of Nsight Systems: exported by a stand-in for nsys, refused with the command without it; nothing stays behind. */
#include "import_cases.h"

static void fake_nsys(const char *script)
{
    mkdir("bin", 0700);
    import_write("bin/nsys", script, strlen(script));
    assert_int_equal(chmod("bin/nsys", 0700), 0);
}

/* Nothing is left in the folder for temporary files. */
static void check_tmp_is_empty(void)
{
    assert_int_equal(rmdir("tmp"), 0);
    mkdir("tmp", 0700);
}

static int set_up(void **state)
{
    static const char report[] = "report\0\1\2 of some kind, binary";
    char here[1024], path[2100], *old = getenv("PATH");
    (void)state;
    mkdir("tmp", 0700);
    import_write("a report.nsys-rep", report, sizeof report);
    case_build(TEST_DATA "/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql", "made.sqlite");
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/tmp", here);
    setenv("TMPDIR", path, 1);
    snprintf(path, sizeof path, "%s/bin:%s", here, old ? old : "/bin:/usr/bin");
    setenv("PATH", path, 1);
    return 0;
}

/* The words of the call, one a line in "asked"; -o OUT REPORT are the last three. */
#define ASKED "#!/bin/sh\nfor w; do echo \"$w\"; done > asked\nwhile [ $# -gt 2 ]; do shift; done\n"

TEST(nsys_exports_and_the_rows_come)
{
    struct tracedata d;
    struct err e = {0};
    fake_nsys(ASKED "cp made.sqlite \"$1\"\n");
    assert_ok(import_quietly("a report.nsys-rep", &d, &e), &e);
    assert_int_equal(d.n, 3);
    assert_string_equal(tracedata_meta_get(&d, "source_format"), "nsys");
    tracedata_free(&d);
    char *asked = case_text("asked");
    assert_non_null(strstr(asked, "export\n--type\nsqlite\n"));
    assert_non_null(strstr(asked, "/export.sqlite\na report.nsys-rep\n")); /* one word, with its space */
    free(asked);
    check_tmp_is_empty();
}

TEST(what_nsys_says_no_to_is_refused)
{
    fake_nsys(ASKED "exit 3\n");
    case_must_refuse("a report.nsys-rep", "nsys export failed (exit 3)");
    check_tmp_is_empty();
    fake_nsys(ASKED "echo nonsense > \"$1\"\n");
    case_must_refuse("a report.nsys-rep", "a report.nsys-rep: nsys export made a file that cannot be read");
    check_tmp_is_empty();
    fake_nsys(ASKED "exit 0\n");
    case_must_refuse("a report.nsys-rep", "cannot be read");
    check_tmp_is_empty();
}

TEST(without_nsys_the_answer_is_the_command)
{
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    case_must_refuse("a report.nsys-rep", "nsys export --type sqlite -o trace.sqlite 'a report.nsys-rep'");
    setenv("PATH", path, 1);
    free(path);
}

TEST(content_comes_before_the_name)
{
    static const char zeros[64] = {0};
    struct tracedata d;
    struct err e = {0};
    fake_nsys(ASKED "exit 3\n");
    case_build(TEST_DATA "/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql", "export.nsys-rep");
    assert_ok(import_quietly("export.nsys-rep", &d, &e), &e);
    assert_int_equal(d.n, 3);
    tracedata_free(&d);
    import_write("zeros.nsys-rep", zeros, sizeof zeros);
    case_must_refuse("zeros.nsys-rep", "nothing but zero bytes");
    unlink("export.nsys-rep");
    unlink("zeros.nsys-rep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {UNIT(nsys_exports_and_the_rows_come), UNIT(what_nsys_says_no_to_is_refused),
                                       UNIT(without_nsys_the_answer_is_the_command), UNIT(content_comes_before_the_name)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, NULL) != 0;
}
