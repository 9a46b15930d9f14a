/* bench_seeds.c - `cpbench seeds`: the sweep of seeds/004 over random initialisations, its table and its limits (spec F.4).
 *
 * One layer, two ranks, one sequence of 128 tokens, hidden 128, 4 key and 8 value heads of 16: three modes against the whole
 * sequence on one rank, with parameters, inputs and output gradients from seed 1, 2, ... As there, everything is
 * stored in bf16 and accumulated in single precision. A rank's 64 tokens are one chunk of the scan, so outputs may agree to the
 * bit; gradients do not.
 */
#include "kernels/bench.h"
#include "kernels/model/trial.h"
#include "schemas/opt.h"
#include "schemas/table.h"

#include <inttypes.h>
#include <math.h>

static const struct column columns[] = {{"metric", UNIT_TEXT}, {"maximum", UNIT_REAL},      {"threshold", UNIT_REAL},
                                        {"margin", UNIT_REAL}, {"seed_maximum", UNIT_REAL}, {0}};

static const char *const swept[] = {"gdn.ulysses", "gdn.state_p2p", "gdn.summary_allgather"};
enum { MODES = sizeof swept / sizeof *swept, TOKENS = 128, RANKS = 2, COUNT_MOST = 100000 };

/* Largest values over all seeds and modes. */
struct worst {
    double out_abs, dx_abs, rel_ref, rel_l2, param_l2, grad_norm, param_abs;
    double least_abs, least_l2; /* the smallest reference gradient of a parameter */
};

/* The rows of the seed's table; a threshold of NAN is not judged. */
static const struct metric {
    const char *name;
    size_t offset;
    double threshold, seed_maximum;
} metrics[] = {
    {"output_max_abs", offsetof(struct worst, out_abs), 5e-2, 1.9531e-3},
    {"input_grad_max_abs", offsetof(struct worst, dx_abs), 5e-1, 3.1250e-2},
    {"max_relative_to_reference", offsetof(struct worst, rel_ref), 1e-1, 9.7087e-3},
    {"output_input_rel_l2", offsetof(struct worst, rel_l2), 5e-2, 2.6903e-3},
    {"param_grad_rel_l2", offsetof(struct worst, param_l2), 1e-1, 7.7551e-3},
    {"grad_norm_relative", offsetof(struct worst, grad_norm), 1e-2, 4.5545e-4},
    {"param_grad_max_abs", offsetof(struct worst, param_abs), NAN, 9.0625e-1},
    {"least_reference_grad_max_abs", offsetof(struct worst, least_abs), NAN, 6.6406e-2},
    {"least_reference_grad_l2", offsetof(struct worst, least_l2), NAN, 1.0297e-1},
};

static const struct cp_shape shape = {
    .dtype = DTYPE_BF16, .tokens = TOKENS, .hidden = 128, .kheads = 4, .vheads = 8, .dk = 16, .dv = 16, .conv = 4, .layers = 1, .microbatches = 1};

static void add(struct worst *w, const struct agreement *g)
{
    w->out_abs = fmax(w->out_abs, g->out.max_abs);
    w->dx_abs = fmax(w->dx_abs, g->dx.max_abs);
    w->rel_ref = fmax(w->rel_ref, fmax(fmax(g->out.max_rel_ref, g->dx.max_rel_ref), g->param.max_rel_ref));
    w->rel_l2 = fmax(w->rel_l2, fmax(g->out.rel_l2, g->dx.rel_l2));
    w->param_l2 = fmax(w->param_l2, g->param.rel_l2);
    w->param_abs = fmax(w->param_abs, g->param.max_abs);
    w->grad_norm = fmax(w->grad_norm, g->grad_norm);
    w->least_abs = fmin(w->least_abs, g->least_param_abs);
    w->least_l2 = fmin(w->least_l2, g->least_param_l2);
}

static bool one_seed(uint64_t seed, struct worst *w, struct err *e)
{
    struct arena a = {0};
    const struct packing pack = {.cu = (int64_t[]){0, TOKENS}, .sequences = 1, .total = TOKENS};
    struct layer_result want = {0}, got;
    bool ok = true;
    for (int i = -1; ok && i < MODES; i++) {
        const struct cp_mode *mode = mode_find(swept[i < 0 ? 0 : i], e);
        if (!mode)
            return false;
        struct layer_case c = trial_make(mode, &shape, &pack, PARAM_INIT_DEFAULT, seed, &a);
        c.shape.cp = i < 0 ? 1 : RANKS;
        ok = layer_try(&c, i < 0 ? &want : &got, &a, e);
        if (ok && i >= 0) {
            struct agreement g = trial_compare(&c, &got, &want);
            add(w, &g);
        }
    }
    arena_free(&a);
    return ok;
}

/* False when a threshold is passed. */
static bool fill(struct table *t, const struct worst *w)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct metric *m = &metrics[i];
        double value = *(const double *)((const char *)w + m->offset);
        struct cell *c = table_row(t);
        c[0] = cell_text(m->name);
        c[1] = cell_real(value);
        c[2] = cell_real(m->threshold);
        c[3] = cell_real(m->threshold / value);
        c[4] = cell_real(m->seed_maximum);
        ok = ok && (isnan(m->threshold) ? isfinite(value) : value <= m->threshold);
    }
    return ok;
}

struct seeds {
    int64_t count;
};

static enum status run(int argc, char **argv, struct err *e)
{
    static const struct opt options[] = {{OPT_INT, "count", offsetof(struct seeds, count), "random initialisations [100]", "N"}, {0}};
    struct seeds o = {.count = 100};
    const struct opt_group groups[] = {{options, &o, NULL}, {0}};
    struct arena a = {0};
    struct table t;
    struct worst w = {.least_abs = INFINITY, .least_l2 = INFINITY};
    table_init(&t, "seeds", "Random initialisations", columns);
    bool ok = opt_parse(
        argc, argv, groups,
        "Runs gdn.ulysses, gdn.state_p2p and gdn.summary_allgather on two ranks against one, with as many random initialisations: csv "
        "metric,maximum,threshold,margin,seed_maximum.\v"
        "The shape, metrics, thresholds and storage type (bf16) of seeds/004; seed_maximum is its table's. margin is threshold by maximum. The last "
        "rows are not judged. Exit 1 when a maximum is over its threshold.\n\n"
        "  cpbench seeds --count 10\n",
        &a, e);
    if (ok && (o.count < 1 || o.count > COUNT_MOST))
        ok = fail(e, ERR_USAGE, "--count %" PRId64 ": not in 1 .. %d", o.count, COUNT_MOST);
    for (int64_t i = 1; ok && i <= o.count; i++)
        ok = one_seed((uint64_t)i, &w, e);
    enum status status = !ok ? err_status(e) : fill(&t, &w) ? STATUS_OK : STATUS_NO;
    if (ok)
        table_csv(&t, stdout);
    table_free(&t);
    arena_free(&a);
    return status;
}

const struct bench_cmd bench_seeds = {.name = "seeds", .what = "random initialisations of three modes against one rank", .run = run};
