/* output.c - one way in which results leave the program. */
#include "analyzer/output.h"
#include "analyzer/across.h"
#include "analyzer/re.h"
#include "analyzer/warn.h"
#include "reports/gaterow.h"
#include "reports/render.h"
#include "schemas/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* How tables are shown; of the formats some are for verdicts only. */
#define OUTPUT_ROWS(formats)                                                                                                                         \
    {OPT_TEXT, "format", offsetof(struct output_opts, format), formats, "NAME", 'f'},                                                                \
        {OPT_TEXT, "output", offsetof(struct output_opts, path), "write to FILE instead of standard output", "FILE", 'o'},                           \
        {OPT_FLAG, "across-ranks", offsetof(struct output_opts, across_ranks),                                                                       \
         "minimum, median, maximum and the worst rank instead of a row per rank (text does this by itself over 4 ranks)"},                           \
        {OPT_COUNT, "top", offsetof(struct output_opts, top), "only the first N rows", "N"},                                                         \
        {OPT_TEXT, "sort", offsetof(struct output_opts, sort), "order by a column: numbers down, text up", "COLUMN"},                                \
        {OPT_TEXT, "filter", offsetof(struct output_opts, filter), "only rows with a text that matches", "RE"},                                      \
        {OPT_FLAG, "quiet", offsetof(struct output_opts, quiet), "nothing on standard error but errors", NULL, 'q'},                                 \
        {OPT_FLAG, "no-progress", offsetof(struct output_opts, no_progress), "no progress on standard error"},                                       \
    {                                                                                                                                                \
        OPT_TEXT, "color", offsetof(struct output_opts, color), "colours in text: auto (default), always, never", "WHEN"                             \
    }

const struct opt output_opt_rows[] = {OUTPUT_ROWS("text (default), csv, json, markdown, html"), {0}};
const struct opt output_gate_rows[] = {OUTPUT_ROWS("text (default), csv, json, markdown, html, junit, sarif, github"), {0}};

static bool open_file(struct output *o, const char *path, struct err *e)
{
    struct stat st;
    if (!*path)
        return fail(e, ERR_USAGE, "the name of the file to write is empty");
    o->path = path;
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return fail(e, ERR_FAIL, "%s: a folder; give a file name", path);
    bool device = there && !S_ISREG(st.st_mode); /* a device or a pipe is written to: a rename would put a file in its place */
    if (!device && asprintf(&o->tmp, "%s.tmp", path) < 0)
        return fail(e, ERR_FAIL, "%s: out of memory", path);
    o->f = fopen(device ? path : o->tmp, "we");
    if (o->f) {
        warn_show();
        return true;
    }
    fail(e, ERR_FAIL, "%s: cannot write: %s", path, strerror(errno));
    free(o->tmp);
    *o = (struct output){0};
    return false;
}

bool output_open(struct output *o, const char *path, struct err *e)
{
    *o = (struct output){.f = stdout};
    if (!path || strcmp(path, "-") == 0) {
        warn_show();
        return true;
    }
    return open_file(o, path, e);
}

bool output_close(struct output *o, bool keep, struct err *e)
{
    if (!o->path || !o->f)
        return keep;
    bool good = !ferror(o->f);
    good = fclose(o->f) == 0 && good;
    bool ok = keep && good && (!o->tmp || rename(o->tmp, o->path) == 0);
    if (keep && !ok)
        fail(e, ERR_FAIL, "%s: cannot write: %s", o->path, strerror(errno));
    if (!ok && o->tmp)
        unlink(o->tmp);
    free(o->tmp);
    *o = (struct output){0};
    return ok;
}

bool output_spares(const char *path, const char *input, struct err *e)
{
    struct stat out, in;
    struct arena a = {0};
    bool there = path && stat(path, &out) == 0, same = false;
    for (char *p = arena_strdup(&a, input), *slash; there && !same; *slash = '\0') {
        bool found = stat(p, &in) == 0;
        same = found && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
        slash = strrchr(p, '/');
        if (found || errno != ENOTDIR || !slash)
            break;
    }
    arena_free(&a);
    return !same || fail(e, ERR_USAGE, "-o %s: is the trace that is read; give another name", path);
}

static bool filter(struct table *t, const char *text, struct err *e)
{
    regex_t re;
    char buf[RE_WHY];
    const char *why = re_compile(&re, text, buf);
    if (why)
        return fail(e, ERR_USAGE, "--filter '%s': %s", text, why);
    size_t kept = 0;
    for (size_t r = 0; r < t->nrows; r++) {
        const struct cell *row = table_at(t, r);
        bool hit = false;
        for (size_t c = 0; !hit && c < t->ncolumns; c++)
            hit = row[c].kind == CELL_TEXT && regexec(&re, row[c].s, 0, NULL, 0) == 0;
        if (hit)
            memmove(table_at(t, kept++), row, t->ncolumns * sizeof *row);
    }
    regfree(&re);
    table_cut(t, kept);
    return true;
}

static bool sort(struct table *t, const char *column, struct err *e)
{
    int c = table_column(t, column);
    if (c >= 0) {
        table_sort(t, c, t->columns[c].unit != UNIT_TEXT);
        return true;
    }
    struct arena a = {0};
    const char **names = arena_array(&a, const char *, t->ncolumns + 1);
    for (size_t i = 0; i < t->ncolumns; i++)
        names[i] = t->columns[i].name;
    const char *near = nearest_name(column, names);
    if (near)
        fail(e, ERR_USAGE, "--sort %s: no such column; did you mean %s", column, near);
    else
        fail(e, ERR_USAGE, "--sort %s: no such column; cpscope help %s lists them", column, t->name);
    arena_free(&a);
    return false;
}

static bool colors(const char *when, const FILE *f, bool *on, struct err *e)
{
    *on = when && strcmp(when, "always") == 0;
    if (!when || strcmp(when, "auto") == 0)
        *on = f == stdout && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    else if (!*on && strcmp(when, "never") != 0)
        return fail(e, ERR_USAGE, "--color %s: not auto, always or never", when);
    return true;
}

static int width_of(const FILE *f)
{
    struct winsize w;
    return f == stdout && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

static const struct renderer *format_of(const struct output_opts *o, bool verdicts, struct err *e)
{
    return renderer_find(o->format ? o->format : "text", verdicts, e);
}

bool output_ready(const struct output_opts *o, bool verdicts, struct err *e)
{
    bool on;
    return format_of(o, verdicts, e) && colors(o->color, NULL, &on, e);
}

static bool print(const struct table *t, const struct output_opts *o, struct err *e)
{
    const struct renderer *r = format_of(o, gaterow_fits(t), e);
    struct output out;
    if (!r || !output_open(&out, o->path, e))
        return false;
    struct render_opts ro = {.width = width_of(out.f)};
    bool ok = colors(o->color, out.f, &ro.color, e) && r->render(&t, 1, &ro, out.f, e);
    return output_close(&out, ok, e) && ok;
}

/* Files that do not say their rank are put together when that is asked for. */
static bool put_together(const struct table *t, const struct output_opts *o)
{
    bool text = !o->format || strcmp(o->format, "text") == 0;
    if (o->across_ranks)
        return t->nrows && table_column(t, "rank") >= 0;
    return text && across_ranks_count(t) > 4;
}

bool output_table(struct table *t, const char *worst, const struct output_opts *o, struct err *e)
{
    if ((o->sort && !sort(t, o->sort, e)) || (o->filter && !filter(t, o->filter, e)))
        return false;
    if (put_together(t, o)) {
        struct table few;
        across_ranks(t, worst, &few);
        if (o->top)
            table_cut(&few, (size_t)o->top);
        bool ok = print(&few, o, e);
        across_free(&few);
        return ok;
    }
    if (o->top)
        table_cut(t, (size_t)o->top);
    return print(t, o, e);
}
