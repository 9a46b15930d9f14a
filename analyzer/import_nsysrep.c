/* import_nsysrep.c - reports of Nsight Systems (.nsys-rep), which only nsys itself can read.
 *
 * Where nsys is on PATH it exports the report into a folder for temporary files, which is gone again when the rows are
 * in memory; else the answer is the command to run. The format has no public mark: the name tells.
 */
#include "analyzer/import.h"
#include "schemas/tmpfolder.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
extern const struct importer import_nsys;

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* A database or a text of that name is what its content says. */
static enum sniffed sniff(const struct input *in)
{
    bool named = ends_with(in->path, ".nsys-rep") || ends_with(in->path, ".qdrep");
    bool other = (in->nhead >= 16 && memcmp(in->head, "SQLite format 3", 16) == 0) || !memchr(in->head, 0, in->nhead);
    for (size_t i = 0; i < in->nhead && !other; i++)
        if (in->head[i])
            return named ? SNIFF_YES : SNIFF_NO;
    return SNIFF_NO; /* nothing but zeros is what an interrupted copy leaves */
}

static bool on_path(const char *program)
{
    struct arena a = {0};
    bool found = false;
    for (const char *p = getenv("PATH"); p && !found;) {
        size_t n = strcspn(p, ":");
        found = n && access(arena_printf(&a, "%.*s/%s", (int)n, p, program), X_OK) == 0;
        p = p[n] ? p + n + 1 : NULL;
    }
    arena_free(&a);
    return found;
}

/* Runs nsys and is quiet about what it prints; its exit status, 127 when it did not start. */
static int run_nsys(const char *report, const char *out)
{
    char *argv[] = {"nsys", "export", "--type", "sqlite", "--force-overwrite", "true", "-o", (char *)out, (char *)report, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status = 0, rc;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    rc = posix_spawnp(&pid, "nsys", &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (rc != 0)
        return 127;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Messages name the report, not the file that is gone. */
static bool import_export(const char *report, const char *db, struct tracedata *d, struct err *e)
{
    struct err inner = {0};
    struct input in = {0};
    bool ok = input_open(&in, db, &inner);
    if (ok && import_nsys.sniff(&in) == SNIFF_NO)
        ok = fail(&inner, ERR_FAIL, "%s: not an export", db);
    ok = ok && import_nsys.read(&in, d, &inner);
    input_close(&in);
    const char *why = strstr(inner.msg, ": ");
    return ok || fail(e, ERR_FAIL, "%s: nsys export made a file that cannot be read: %s", report, why ? why + 2 : inner.msg);
}

static bool read_report(struct input *in, struct tracedata *d, struct err *e)
{
    if (!on_path("nsys"))
        return fail(e, ERR_FAIL,
                    "%s: a report that only nsys can read, and nsys is not on PATH; where it is, run: nsys export --type sqlite -o trace.sqlite '%s'",
                    in->path, in->path);
    struct arena a = {0};
    const char *folder = tmpfolder_make(in->path, &a, e);
    if (!folder) {
        arena_free(&a);
        return false;
    }
    const char *db = arena_printf(&a, "%s/export.sqlite", folder);
    int rc = run_nsys(in->path[0] == '-' ? arena_printf(&a, "./%s", in->path) : in->path, db);
    bool ok = rc == 0 ? import_export(in->path, db, d, e)
                      : fail(e, ERR_FAIL, "%s: nsys export failed (exit %d); run it to see why: nsys export --type sqlite -o trace.sqlite '%s'",
                             in->path, rc, in->path);
    tmpfolder_remove(folder);
    arena_free(&a);
    return ok;
}

const struct importer import_nsysrep = {
    .name = "nsys-rep", .what = "reports of Nsight Systems (.nsys-rep), exported by nsys where it is on PATH", .sniff = sniff, .read = read_report};
