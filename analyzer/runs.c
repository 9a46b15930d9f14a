/* runs.c - which files make one run: run 0 holds the first file of each rank, run 1 the second, and so on. */
#include "analyzer/trace_build.h"

static bool holds_rank(const struct trace_file *f, int32_t rank)
{
    for (size_t i = 0; i < f->nheld; i++)
        if (f->held[i] == rank)
            return true;
    return false;
}

/* Files that know no rank are apart: nothing says that they belong together. */
static bool clash(const struct trace_file *x, const struct trace_file *y)
{
    bool known = false;
    for (size_t i = 0; i < x->nheld; i++) {
        if (x->held[i] < 0)
            continue;
        known = true;
        if (holds_rank(y, x->held[i]))
            return true;
    }
    return !known;
}

static bool run_is_free(const struct trace *t, size_t file, int run)
{
    for (size_t k = 0; k < file; k++)
        if (t->files[k].run == run && clash(&t->files[file], &t->files[k]))
            return false;
    return true;
}

void runs_number(struct trace *t)
{
    for (size_t i = 0; i < t->nfiles; i++)
        while (!run_is_free(t, i, t->files[i].run))
            t->files[i].run++;
}
