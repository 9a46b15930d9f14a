/* run.c - ranks as threads, each with its model; results meet in a table by (rank, step, repeat), which all processes get. */
#include "kernels/model/run.h"
#include "kernels/device/sim.h"
#include "kernels/model/groups.h"
#include "kernels/model/model.h"
#include "kernels/ops/gemm.h"
#include "schemas/marker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct result {
    struct step_times times;
    struct step_values values;
};

struct run {
    const struct run_config *config;
    struct comm_world *world;
    struct result *results; /* [ranks][steps][repeat] */
};

static struct result *result_at(const struct run *r, int64_t step, int64_t repeat, int rank)
{
    return &r->results[(rank * r->config->steps + step) * r->config->repeat + repeat];
}

static bool all_steps(struct run *r, struct model *m, int rank, struct err *e)
{
    const struct run_config *c = r->config;
    struct step_times ignored;
    for (int64_t i = 0; i < c->warmup; i++)
        if (!model_step(m, i - c->warmup, MARK_WARMUP, i, &ignored, e))
            return false;
    for (int64_t i = 0; i < c->steps * c->repeat; i++) {
        struct result *x = result_at(r, i / c->repeat, i % c->repeat, rank);
        if (!model_step(m, i / c->repeat, MARK_STEP, i, &x->times, e))
            return false;
        model_values(m, &x->values);
    }
    return true;
}

static bool rank_main(int rank, void *ctx, struct err *e)
{
    struct run *r = ctx;
    struct model *m = model_open(r->config, r->world, rank, e);
    bool ok = m && all_steps(r, m, rank, e);
    model_close(m);
    return ok;
}

static int ascending(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

static int64_t median(int64_t *v, int64_t n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

static int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* Times of the ranks together: the slowest counts. */
static struct step_times slowest(const struct run *r, int64_t step, int64_t repeat)
{
    struct step_times t = {0};
    for (int rank = 0; rank < config_ranks(r->config); rank++) {
        const struct step_times *x = &result_at(r, step, repeat, rank)->times;
        t.step_ns = larger(t.step_ns, x->step_ns);
        t.fwd_ns = larger(t.fwd_ns, x->fwd_ns);
        t.pass_ns = larger(t.pass_ns, x->pass_ns);
        t.peak_bytes = larger(t.peak_bytes, x->peak_bytes);
    }
    return t;
}

/* One repeat's values over all ranks: row hashes are summed, and so are those of the parts that the ranks of a TP group hold;
 * ranks that hold the same part must agree in it. */
static bool together(const struct run *r, int64_t step, int64_t repeat, struct step_values *v, struct err *e)
{
    int tp = shape_tp(&r->config->shape);
    *v = result_at(r, step, repeat, 0)->values;
    for (int rank = 1; rank < config_ranks(r->config); rank++) {
        const struct step_values *x = &result_at(r, step, repeat, rank)->values, *first = &result_at(r, step, repeat, rank % tp)->values;
        v->out_rows += x->out_rows;
        v->dx_rows += x->dx_rows;
        v->param_hash += rank < tp ? x->param_hash : 0;
        v->grad_hash += rank < tp ? x->grad_hash : 0;
        if (x->param_hash != first->param_hash || x->grad_hash != first->grad_hash)
            return fail(e, ERR_FAIL, "step %" PRId64 ": rank %d has other %s than rank %d", step, rank,
                        x->param_hash != first->param_hash ? "parameters" : "parameter gradients", rank % tp);
    }
    return true;
}

static void set_values(struct run_row *row, const struct step_values *v)
{
    const uint64_t grads[] = {v->grad_hash, v->dx_rows};
    row->loss = v->loss;
    row->grad_norm = v->grad_norm;
    row->param_hash = v->param_hash;
    row->out_hash = v->out_rows;
    row->grad_hash = XXH3_64bits(grads, sizeof grads);
}

static bool make_row(const struct run *r, int64_t step, struct run_row *row, struct err *e)
{
    const struct run_config *c = r->config;
    struct arena a = {0};
    int64_t *steps = arena_array(&a, int64_t, c->repeat), *fwds = arena_array(&a, int64_t, c->repeat), *passes = arena_array(&a, int64_t, c->repeat);
    struct step_values first = {0}, v;
    bool ok = true;
    *row = (struct run_row){.step = step, .tokens = c->shape.tokens * c->shape.microbatches};
    const struct packing *packs = config_packs(c, step, &a);
    for (int64_t b = 0; b < c->shape.microbatches; b++)
        row->padded += packing_padded(&packs[b]);
    for (int64_t i = 0; ok && i < c->repeat; i++) {
        struct step_times t = slowest(r, step, i);
        steps[i] = t.step_ns;
        fwds[i] = t.fwd_ns;
        passes[i] = t.pass_ns;
        row->peak_bytes = larger(row->peak_bytes, t.peak_bytes);
        ok = together(r, step, i, i ? &v : &first, e);
        if (ok && i && memcmp(&first, &v, sizeof v) != 0)
            ok = fail(e, ERR_FAIL, "step %" PRId64 ": repeat %" PRId64 " computes other values than the first", step, i);
    }
    row->step_ns = median(steps, c->repeat);
    row->fwd_ns = median(fwds, c->repeat);
    row->pass_ns = median(passes, c->repeat);
    set_values(row, &first);
    arena_free(&a);
    return ok;
}

bool run_steps(const struct run_config *c, struct run_row *rows, bool *rank0, struct err *e)
{
    struct arena a = {0};
    struct run r = {.config = c, .results = arena_array(&a, struct result, c->steps * c->repeat * config_ranks(c))};
    gemm_init();
    comm_reduction_order(c->order_seed);
    if (*c->machine.name)
        sim_use_machine(&c->machine);
    r.world = comm_world_open(c->comm, config_ranks(c), e);
    bool ok = r.world && ranks_run_here(r.world, rank_main, &r, e) &&
              comm_world_share(r.world, r.results, (size_t)(c->steps * c->repeat) * sizeof *r.results, e);
    if (ok && rank0)
        *rank0 = comm_world_first(r.world) == 0;
    for (int64_t i = 0; ok && i < c->steps; i++)
        ok = make_row(&r, i, &rows[i], e);
    comm_world_close(r.world);
    arena_free(&a);
    return ok;
}
