/* bench_vectors.c - `cpbench vectors FILE.json...`: our kernels against reference files. */
#include "kernels/bench.h"
#include "kernels/ops/gemm.h"
#include "kernels/vectors/vectors.h"
#include "schemas/opt.h"

#include <string.h>

static const struct column columns[] = {
    {"file", UNIT_TEXT},
    {"case", UNIT_TEXT},
    {"quantity", UNIT_TEXT},
    {"max_abs", UNIT_REAL, .what = "largest difference of an element"},
    {"rel_l2", UNIT_REAL, .what = "length of the difference by length of the reference; empty where that is 0, or for whole numbers"},
    {"limit", UNIT_REAL, .what = "of rel_l2, and of max_abs by the largest element"},
    {"ok", UNIT_ID},
    {0},
};

static const struct vector_form *form_of(const struct jtree *root)
{
    for (const struct vector_form *const *f = vector_forms; *f; f++)
        if ((*f)->sniff(root))
            return *f;
    return NULL;
}

static bool run_file(const char *path, struct table *t, struct err *e)
{
    struct jtree *root = jtree_load(path, e);
    const struct vector_form *form = root ? form_of(root) : NULL;
    size_t before = t->nrows;
    bool ok = false;
    if (form)
        ok = form->run(root, basename(path), t, e);
    else if (root)
        fail(e, ERR_FAIL, "%s: not a vector file of a known form (see --help)", path);
    if (ok && t->nrows == before)
        ok = fail(e, ERR_FAIL, "%s: no case in it", path);
    jtree_free(root);
    return ok;
}

static bool all_ok(const struct table *t)
{
    int column = table_column(t, "ok");
    for (size_t i = 0; i < t->nrows; i++)
        if (table_at(t, i)[column].i != 1)
            return false;
    return true;
}

/* The known forms go into the help text. */
static const char *help(struct arena *a)
{
    const char *text = "Compares our kernels with reference vectors.\v";
    for (const struct vector_form *const *f = vector_forms; *f; f++)
        text = arena_printf(a, "%s  %-24s %s\n", text, (*f)->name, (*f)->what);
    return arena_printf(a,
                        "%s\nThe form is told by the content of a file. Exit 1 when a row is not ok, 3 when a file is of no known form.\n\n"
                        "  cpbench vectors vectors/*.json",
                        text);
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct opt_list files = {0};
    static const struct opt rows[] = {{OPT_ARGS, "FILE.json", 0, "reference vectors"}, {0}};
    const struct opt_group groups[] = {{rows, &files, NULL}, {0}};
    struct arena a = {0};
    struct table t;
    table_init(&t, "vectors", "Reference vectors", columns);
    gemm_init();
    bool ok = opt_parse(argc, argv, groups, help(&a), &a, e);
    for (size_t i = 0; ok && i < files.n; i++)
        ok = run_file(files.v[i], &t, e);
    if (ok)
        table_csv(&t, stdout);
    enum status status = !ok ? err_status(e) : all_ok(&t) ? STATUS_OK : STATUS_NO;
    table_free(&t);
    arena_free(&a);
    return status;
}

const struct bench_cmd bench_vectors = {
    .name = "vectors",
    .what = "compare our kernels with reference vectors",
    .run = run,
};
