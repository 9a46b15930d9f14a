/* runs.c - which files make one run: run 0 holds the first file of each rank, run 1 the second, and so on. */
#include "analyzer/trace_build.h"

static bool holds_rank(const struct trace *t, size_t file, int32_t rank)
{
    for (size_t i = 0; i < t->nranks; i++)
        if (t->ranks[i].file == file && t->ranks[i].rank == rank)
            return true;
    return false;
}

/* Files that know no rank are apart: nothing says that they belong together. */
static bool clash(const struct trace *t, size_t x, size_t y)
{
    bool known = false;
    for (size_t i = 0; i < t->nranks; i++) {
        if (t->ranks[i].file != x || t->ranks[i].rank < 0)
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
        if (t->files[k].run == run && clash(t, file, k))
            return false;
    return true;
}

void runs_number(struct trace *t)
{
    for (size_t i = 0; i < t->nfiles; i++)
        while (!run_is_free(t, i, t->files[i].run))
            t->files[i].run++;
}
