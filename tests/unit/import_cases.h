/* import_cases.h - case files whose names are the expectation: "what_it_is(ok,events=3,loss=0).sql", "why_not(fail).json".
 *
 * An .sql case is the text of a database, made in the folder of the test; other cases are the file itself.
 */
#pragma once
#include "import_run.h"

#include <glob.h>
#include <sqlite3.h>
#include <sys/stat.h>

static inline char *case_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 16);
    assert_in_range(fread(text, 1, (1 << 16) - 1, f), 1, (1 << 16) - 2);
    fclose(f);
    return text;
}

static inline void case_build(const char *sql_path, const char *db_path)
{
    sqlite3 *db = NULL;
    char *sql = case_text(sql_path), *why = NULL;
    unlink(db_path);
    assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql_path, why);
    sqlite3_close(db);
    free(sql);
}

/* One case by its path; an .sql one is left as case.db. */
static inline bool case_load_path(const char *path, struct tracedata *d, struct err *e)
{
    if (strcmp(path + strlen(path) - 4, ".sql") != 0)
        return import_quietly(path, d, e);
    case_build(path, "case.db");
    return import_quietly("case.db", d, e);
}

static inline struct tracedata case_load(const char *folder, const char *name)
{
    char path[1024];
    struct tracedata d;
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s/%s", TEST_DATA, folder, name);
    if (!case_load_path(path, &d, &e))
        fail_msg("%s: %s", name, e.msg);
    return d;
}

static inline void one_case(const char *path, const char *format)
{
    const char *name = strrchr(path, '/') + 1, *events = strstr(name, "events="), *losses = strstr(name, "loss=");
    struct tracedata d;
    struct err e = {0};
    bool ok = case_load_path(path, &d, &e);
    if (ok != (strstr(name, "(ok") != NULL) || ok != (e.kind == ERR_NONE) || (!ok && (e.kind != ERR_FAIL || strchr(e.msg, '\n'))))
        fail_msg("%s: %s", name, ok ? "taken, should be refused" : e.msg);
    if ((events && d.n != strtoul(events + 7, NULL, 10)) || (losses && d.nloss != strtoul(losses + 5, NULL, 10)))
        fail_msg("%s: %zu events, %zu losses", name, d.n, d.nloss);
    if (ok && (!tracedata_meta_get(&d, "source_format") || strcmp(tracedata_meta_get(&d, "source_format"), format) != 0))
        fail_msg("%s: taken by %s", name, tracedata_meta_get(&d, "source_format"));
    if (ok && holds_string(&d, "planted_secret"))
        fail_msg("%s: something secret was taken over", name);
    tracedata_free(&d);
}

/* Every case of a folder; none lets a secret through, each is taken by its own importer, nothing appears beside a database. */
static inline void all_cases(const char *folder, const char *format, size_t at_least)
{
    static const char *const side[] = {"case.db-wal", "case.db-shm", "case.db-journal"};
    char pattern[1024];
    glob_t g;
    snprintf(pattern, sizeof pattern, "%s/%s/*(*", TEST_DATA, folder);
    assert_int_equal(glob(pattern, 0, NULL, &g), 0);
    assert_in_range(g.gl_pathc, at_least, 1000);
    for (size_t i = 0; i < g.gl_pathc; i++)
        one_case(g.gl_pathv[i], format);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(access(side[i], F_OK), -1);
    globfree(&g);
    unlink("case.db");
}

static inline void case_must_refuse(const char *path, const char *part)
{
    struct tracedata d;
    struct err e = {0};
    if (import_quietly(path, &d, &e) || e.kind != ERR_FAIL || !strstr(e.msg, part))
        fail_msg("%s: want \"%s\", got: %s", path, part, e.msg);
    tracedata_free(&d);
}

/* A database made of an .sql case: cut at every page it is refused as cut, with a torn page as damaged, of zeros as that. */
static inline void damaged_database(const char *folder, const char *name)
{
    struct stat st;
    char zeros[8192] = {0}, path[1024];
    snprintf(path, sizeof path, "%s/%s/%s", TEST_DATA, folder, name);
    case_build(path, "case.db");
    assert_int_equal(stat("case.db", &st), 0);
    for (off_t n = st.st_size - 1; n >= 4096; n -= 1024) {
        assert_int_equal(truncate("case.db", n), 0);
        case_must_refuse("case.db", "cut");
    }
    import_write("case.db", zeros, sizeof zeros);
    case_must_refuse("case.db", "nothing but zero bytes");
    case_build(path, "case.db");
    FILE *f = fopen("case.db", "r+b");
    for (off_t at = 4096; at < st.st_size; at += 4096) {
        fseek(f, at, SEEK_SET);
        fwrite(zeros, 1, 4096, f);
    }
    fclose(f);
    case_must_refuse("case.db", "case.db");
    unlink("case.db");
}

/* The rows of EXPECTED.tsv about one shared file; how many were compared, -1 without shared traces. */
static inline int shared_rows(const char *folder, const char *file)
{
    char wanted[300];
    snprintf(wanted, sizeof wanted, "%s/%s", folder, file);
    return compare_shared(wanted);
}
