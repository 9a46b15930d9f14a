/* matrix_run.c - runs as programs: cpbench, cpscope record around it where a recording is wanted, and cpscope's tables of that. */
#include "kernels/matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ARGS_MOST = 256 };

struct words {
    char *v[ARGS_MOST];
    int n;
};

static void add(struct words *w, const char *text, struct arena *a)
{
    if (w->n + 1 < ARGS_MOST)
        w->v[w->n++] = arena_strdup(a, text);
}

/* Words of a text; blanks part them, there is no quoting. */
static void add_all(struct words *w, const char *text, struct arena *a)
{
    char *rest = text ? arena_strdup(a, text) : NULL;
    for (char *word; (word = strsep(&rest, " \t")) != NULL;)
        if (*word)
            add(w, word, a);
}

char *matrix_path(const struct matrix_job *job, const struct matrix_run *r, int copy, const char *what, struct arena *a)
{
    return copy ? arena_printf(a, "%s/%s.%d.%s", job->folder, r->name, copy, what) : arena_printf(a, "%s/%s.%s", job->folder, r->name, what);
}

/* Status of the program as a shell tells it; -1 when it could not be started. */
static int execute(const struct words *w, const char *out, const char *err)
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int why = posix_spawn(&pid, w->v[0], &files, NULL, w->v, environ);
    posix_spawn_file_actions_destroy(&files);
    if (why)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The last line of a file, cut to what fits. */
static void last_line(const char *path, char *line, size_t size)
{
    FILE *f = fopen(path, "r");
    char buf[512];
    *line = '\0';
    while (f && fgets(buf, sizeof buf, f))
        if (*buf && *buf != '\n')
            snprintf(line, size, "%.*s", (int)strcspn(buf, "\n"), buf);
    if (f)
        fclose(f);
}

static bool judge(const struct matrix_run *r, int status, const char *err_path, struct err *e)
{
    char line[512];
    last_line(err_path, line, sizeof line);
    if (!r->refuses)
        return status == 0 || fail(e, ERR_FAIL, "run %s: exit status %d: %s", r->name, status, line);
    return (status == STATUS_USAGE && strstr(line, r->refuses)) ||
           fail(e, ERR_FAIL, "run %s: want a refusal that says '%s'; exit status %d: %s", r->name, r->refuses, status, line);
}

/* cpscope TABLE of the recording, as NAME.csv. */
static bool table_of(const struct matrix_run *r, const struct matrix_job *job, int copy, const char *name, const char *table, const char *options,
                     struct err *e)
{
    struct arena a = {0};
    struct words w = {.n = 0};
    char *err = matrix_path(job, r, copy, "table.err", &a), line[512];
    add(&w, arena_printf(&a, "%s/cpscope", job->programs), &a);
    add(&w, table, &a);
    add(&w, matrix_path(job, r, copy, "sqlite", &a), &a);
    add_all(&w, "--format csv -q", &a);
    add_all(&w, options, &a);
    int status = execute(&w, matrix_path(job, r, copy, arena_printf(&a, "%s.csv", name), &a), err);
    last_line(err, line, sizeof line);
    if (status != 0)
        fail(e, ERR_FAIL, "run %s: cpscope %s: exit status %d: %s", r->name, table, status, line);
    else
        unlink(err);
    arena_free(&a);
    return status == 0;
}

static bool wants_machine(const struct words *w)
{
    bool sim = false, given = false;
    for (int i = 0; i < w->n; i++) {
        sim |= i > 0 && !strcmp(w->v[i], "sim") && !strcmp(w->v[i - 1], "--device");
        given |= !strcmp(w->v[i], "--machine");
    }
    return sim && !given;
}

static void command(struct words *w, const struct matrix *m, const struct matrix_run *r, const struct matrix_job *job, int copy, struct arena *a)
{
    if (r->record && !job->plain) {
        add(w, arena_printf(a, "%s/cpscope", job->programs), a);
        add_all(w, job->brief ? "record --kinds kernel,comm,memcpy,memset,range --force -o" : "record --force -o", a);
        add(w, matrix_path(job, r, copy, "sqlite", a), a);
        add(w, "--", a);
    }
    add(w, arena_printf(a, "%s/cpbench", job->programs), a);
    add_all(w, r->command ? r->command : m->defaults, a);
    add_all(w, r->args, a);
    add_all(w, job->extra, a);
    if (job->machine && wants_machine(w)) {
        add(w, "--machine", a);
        add(w, job->machine, a);
    }
}

/* Does the run's table ask for a measure that is read off this extra table? */
static bool wants(const struct matrix *m, const struct matrix_run *r, const char *extra)
{
    struct arena a = {0};
    bool asked = false;
    for (size_t i = 0; r->table && i < m->ntables; i++) {
        char *rest = strcmp(m->tables[i].name, r->table) ? NULL : arena_strdup(&a, m->tables[i].measures);
        for (char *name; (name = strsep(&rest, " ")) != NULL;) {
            const char *from = *name ? matrix_measure_find(name)->extra : NULL;
            asked |= from && !strcmp(from, extra);
        }
    }
    arena_free(&a);
    return asked;
}

static bool tables_of(const struct matrix *m, const struct matrix_run *r, const struct matrix_job *job, int copy, struct err *e)
{
    if (!table_of(r, job, copy, "summary", "summary", "--rank 0", e) || job->brief)
        return !e->kind;
    return table_of(r, job, copy, "syncs", "syncs", "--rank 0 --ledger op", e) && table_of(r, job, copy, "comm", "comm", "--rank 0", e) &&
           table_of(r, job, copy, "kernels", "kernels", "--rank 0 --by class", e) &&
           (!wants(m, r, "waits") || table_of(r, job, copy, "waits", "syncs", "--rank 0 --ledger wait", e)) &&
           (!wants(m, r, "ranks") || table_of(r, job, copy, "ranks", "kernels", "--by class", e));
}

bool matrix_run_one(const struct matrix *m, const struct matrix_run *r, const struct matrix_job *job, int copy, struct err *e)
{
    struct arena a = {0};
    struct words w = {.n = 0};
    char *err = matrix_path(job, r, copy, "err", &a);
    command(&w, m, r, job, copy, &a);
    int status = execute(&w, matrix_path(job, r, copy, "csv", &a), err);
    bool ok = status >= 0 ? judge(r, status, err, e) : fail(e, ERR_FAIL, "run %s: %s cannot be started", r->name, w.v[0]);
    if (ok && r->record && !job->plain)
        ok = tables_of(m, r, job, copy, e);
    arena_free(&a);
    return ok;
}

/* ---- csv ---- */

static char *read_text(const char *path, struct err *e)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t n = 0, cap = 0, got = 1;
    while (f && got) {
        if (n + 4096 > cap)
            text = array_grow(text, &cap, n + 4096, 1);
        got = fread(text + n, 1, 4095, f);
        n += got;
    }
    if (!f || ferror(f)) {
        fail(e, ERR_FAIL, "%s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    } else
        text[n] = '\0';
    if (f)
        fclose(f);
    return text;
}

bool matrix_csv_read(struct matrix_csv *c, const char *path, struct err *e)
{
    size_t cells = 0, cap = 0;
    *c = (struct matrix_csv){.text = read_text(path, e)};
    if (!c->text)
        return false;
    char *at = c->text, *line;
    for (; (line = strsep(&at, "\n")) != NULL;) {
        if (!*line)
            continue;
        size_t before = cells;
        for (char *field; (field = strsep(&line, ",")) != NULL;)
            ARRAY_PUSH(c->cells, cells, cap, field);
        if (before == 0)
            c->columns = cells;
        else if (cells - before != c->columns) {
            matrix_csv_free(c);
            return fail(e, ERR_FAIL, "%s: rows of different lengths", path);
        }
    }
    c->rows = c->columns ? cells / c->columns - 1 : 0;
    return c->columns > 0 || fail(e, ERR_FAIL, "%s: empty", path);
}

void matrix_csv_free(struct matrix_csv *c)
{
    free(c->text);
    free(c->cells);
    *c = (struct matrix_csv){0};
}

const char *matrix_csv_text(const struct matrix_csv *c, size_t row, const char *column)
{
    for (size_t i = 0; i < c->columns; i++)
        if (!strcmp(c->cells[i], column))
            return c->cells[(row + 1) * c->columns + i];
    return "";
}

double matrix_csv_at(const struct matrix_csv *c, size_t row, const char *column)
{
    const char *text = matrix_csv_text(c, row, column);
    char *end;
    double v = strtod(text, &end);
    return *text && !*end ? v : NAN;
}
