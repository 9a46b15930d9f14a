/* runs.c - which files make one run: run 0 holds the first file of each rank, run 1 the second, and so on. */
#include "analyzer/trace_build.h"

static bool holds_rank(const struct trace *t, const struct trace_file *f, int32_t rank)
{
    for (uint32_t i = f->first_rank; i < f->first_rank + f->nranks; i++)
        if (t->ranks[i].rank == rank)
            return true;
    return false;
}

/* Files that know no rank are apart: nothing says that they belong together. */
static bool clash(const struct trace *t, const struct trace_file *x, const struct trace_file *y)
{
    bool known = false;
    for (uint32_t i = x->first_rank; i < x->first_rank + x->nranks; i++) {
        if (t->ranks[i].rank < 0)
            continue;
        known = true;
        if (holds_rank(t, y, t->ranks[i].rank))
            return true;
    }
    return !known;
}

static bool run_is_free(const struct trace *t, size_t file, int run)
{
    for (size_t k = 0; k < file; k++)
        if (t->files[k].run == run && clash(t, &t->files[file], &t->files[k]))
            return false;
    return true;
}

void runs_number(struct trace *t)
{
    for (size_t i = 0; i < t->nfiles; i++)
        while (!run_is_free(t, i, t->files[i].run))
            t->files[i].run++;
}
