/* curves.c - from csv logs to curves: which columns, in order of step. */
#include "analyzer/curves.h"
#include "analyzer/csvlog.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MOST = 9, PANELS_MOST = 6 };

struct row {
    int64_t step;
    double y;
    size_t at;
};

/* By step; of a step that is there twice the later row counts (a run that was resumed). */
static int by_step(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    int later = (a->step > b->step) - (a->step < b->step);
    return later ? later : (a->at > b->at) - (a->at < b->at);
}

static struct plot_curve curve_of(const struct csvlog *log, int step, int column, struct arena *a)
{
    struct row *rows = arena_array(a, struct row, log->nrows + 1);
    int64_t *steps = arena_array(a, int64_t, log->nrows + 1);
    double *y = arena_array(a, double, log->nrows + 1);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < log->nrows; i++) {
        double at = log->v[i * log->ncolumns + (size_t)step];
        if (at >= 0 && at < 1e15)
            rows[n++] = (struct row){(int64_t)at, column < 0 ? NAN : log->v[i * log->ncolumns + (size_t)column], i};
    }
    qsort(rows, n, sizeof *rows, by_step);
    for (size_t i = 0; i < n; i++) {
        kept -= kept && steps[kept - 1] == rows[i].step;
        steps[kept] = rows[i].step;
        y[kept++] = rows[i].y;
    }
    return (struct plot_curve){steps, y, kept};
}

static bool usual(const char *name)
{
    return strcmp(name, "loss") == 0 || strcmp(name, "grad_norm") == 0 || strncmp(name, "reward", 6) == 0;
}

static bool anywhere(const struct csvlog *logs, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (csvlog_column(&logs[i], name) >= 0)
            return true;
    return false;
}

/* The names of the panels: as asked for, else the usual ones in the order in which the files have them. */
static bool choose(const struct csvlog *logs, size_t n, const struct opt_list *columns, struct plot_curves *c, const char **names, struct err *e)
{
    for (size_t i = 0; i < columns->n; i++) {
        if (!anywhere(logs, n, columns->v[i]))
            return fail(e, ERR_USAGE, "--column %s: no file has such a column", columns->v[i]);
        if (c->npanels == PANELS_MOST)
            return fail(e, ERR_USAGE, "%zu columns: at most %d in one picture", columns->n, PANELS_MOST);
        names[c->npanels++] = columns->v[i];
    }
    for (size_t f = 0; !columns->n && f < n; f++)
        for (size_t k = 0; k < logs[f].ncolumns; k++) {
            bool there = false;
            for (size_t p = 0; p < c->npanels; p++)
                there |= strcmp(names[p], logs[f].names[k]) == 0;
            if (usual(logs[f].names[k]) && !there && c->npanels < PANELS_MOST)
                names[c->npanels++] = logs[f].names[k];
        }
    c->panels = names;
    return c->npanels || fail(e, ERR_USAGE, "no column loss, grad_norm or reward: say --column NAME");
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The last part of the path; the whole of it where another file has the same last part. */
static const char *label_of(const struct opt_list *files, size_t i)
{
    for (size_t k = 0; k < files->n; k++)
        if (k != i && strcmp(last_part(files->v[k]), last_part(files->v[i])) == 0)
            return files->v[i];
    return last_part(files->v[i]);
}

static bool read_all(const struct opt_list *files, struct csvlog *logs, const char **names, struct arena *a, struct err *e)
{
    if (files->n > FILES_MOST)
        return fail(e, ERR_USAGE, "%zu files: at most %d curves can be told apart", files->n, FILES_MOST);
    for (size_t i = 0; i < files->n; i++) {
        if (!csvlog_read(files->v[i], a, &logs[i], e))
            return false;
        if (csvlog_column(&logs[i], "step") < 0)
            return fail(e, ERR_FAIL, "%s: no column step: not a log of cpbench run or cpbench train", files->v[i]);
        names[i] = label_of(files, i);
    }
    return true;
}

bool curves_plot(const struct opt_list *files, const struct opt_list *columns, bool logarithmic, enum plot_format f, struct arena *a,
                 struct plot *out, struct err *e)
{
    struct csvlog logs[FILES_MOST];
    const char *names[FILES_MOST], *panels[PANELS_MOST];
    struct plot_curves c = {.files = names, .nfiles = files->n, .logarithmic = logarithmic};
    if (!read_all(files, logs, names, a, e) || !choose(logs, files->n, columns, &c, panels, e))
        return false;
    struct plot_curve *v = arena_array(a, struct plot_curve, c.npanels * c.nfiles);
    size_t most = 0;
    for (size_t p = 0; p < c.npanels; p++)
        for (size_t i = 0; i < c.nfiles; i++) {
            struct plot_curve *k = &v[p * c.nfiles + i];
            *k = curve_of(&logs[i], csvlog_column(&logs[i], "step"), csvlog_column(&logs[i], panels[p]), a);
            most = k->n > most ? k->n : most;
        }
    c.v = v;
    const char *sample = arena_printf(a, "n: %zu run%s of up to %zu step%s", c.nfiles, c.nfiles == 1 ? "" : "s", most, most == 1 ? "" : "s");
    return plot_curves(&c, sample, f, a, out, e);
}
