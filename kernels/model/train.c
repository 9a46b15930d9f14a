/* train.c - a rank's loop over steps; checkpoints pass through one whole copy a process. */
#include "kernels/model/train.h"
#include "kernels/device/sim.h"
#include "kernels/model/checkpoint.h"
#include "kernels/model/groups.h"
#include "kernels/model/model_impl.h"
#include "kernels/ops/gemm.h"
#include "schemas/marker.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

struct job {
    const struct train_config *c;
    struct comm_world *world;
    void (*row)(void *ctx, const struct train_row *r);
    void *ctx;
    struct checkpoint loaded, saved; /* whole; of this process */
    _Atomic uint64_t started;
};

struct rank_state {
    struct job *job;
    struct model *m;
    struct optimizer opt;
    int rank;
};

static void update(struct model *m, void *ctx)
{
    struct rank_state *r = ctx;
    DEV_RANGE(m->rank.device, RANGE_OPTIMIZER, -1);
    optimizer_update(&r->opt, m->rank.stream, m->grads);
}

/* ---- checkpoints ---- */

struct moving {
    float *here, *whole;
    bool save;
};

static void move_place(void *ctx, int64_t here, int64_t whole, bool first)
{
    const struct moving *v = ctx;
    if (v->save && first)
        v->whole[whole] = v->here[here];
    else if (!v->save)
        v->here[here] = v->whole[whole];
}

/* Parameters and moments between the device and a whole checkpoint. */
static void move_state(struct rank_state *r, struct checkpoint *c, bool save)
{
    struct arena a = {0};
    float *host = arena_array(&a, float, r->opt.n), *const parts[CHECKPOINT_PARTS] = {r->opt.master, r->opt.m, r->opt.v};
    size_t bytes = (size_t)r->opt.n * sizeof *host;
    for (int i = 0; i < CHECKPOINT_PARTS; i++) {
        struct moving v = {host, c->v[i], save};
        if (save)
            dev_download(r->m->rank.stream, host, parts[i], bytes, SITE_HERE);
        net_places(&r->m->net, &r->m->stack, move_place, &v);
        if (!save)
            dev_upload(r->m->rank.stream, parts[i], host, bytes, SITE_HERE);
    }
    arena_free(&a);
}

static void load(struct rank_state *r)
{
    move_state(r, &r->job->loaded, false);
    r->opt.updates = r->job->loaded.updates;
    optimizer_publish(&r->opt, r->m->rank.stream);
}

/* ---- steps ---- */

static uint64_t params_hash(struct rank_state *r)
{
    struct arena a = {0};
    float *host = arena_array(&a, float, r->opt.n);
    dev_download(r->m->rank.stream, host, r->m->params, (size_t)r->opt.n * sizeof *host, SITE_HERE);
    uint64_t hash = net_hash(&r->m->net, &r->m->stack, host);
    arena_free(&a);
    return hash;
}

static void values(struct rank_state *r, struct train_row *row)
{
    double sums[SUMS];
    row->loss = row->grad_norm = NAN;
    if (!device_has_storage(r->m->rank.device))
        return;
    dev_download(r->m->rank.stream, sums, r->m->sums, sizeof sums, SITE_HERE);
    row->loss = sums[SUM_LOSS];
    row->grad_norm = sqrt(sums[SUM_PARAM_GRADS]);
    if (shape_tp(r->m->shape) == 1)
        row->param_hash = params_hash(r);
}

static void count(const struct run_config *c, int64_t step, struct train_row *row)
{
    struct arena a = {0};
    const struct packing *packs = config_packs(c, c->one_batch ? 0 : step, &a);
    row->tokens = c->shape.tokens * c->shape.microbatches;
    for (int64_t b = 0; b < c->shape.microbatches; b++)
        row->padded += packing_padded(&packs[b]);
    arena_free(&a);
}

static bool steps(struct rank_state *r, struct err *e)
{
    const struct train_config *c = r->job->c;
    int64_t first = r->job->loaded.step;
    for (int64_t i = first; i < first + c->run->steps; i++) {
        struct train_row row = {.step = i, .mfu = NAN};
        struct step_times t;
        if (!model_step(r->m, i, MARK_STEP, i, &t, e))
            return false;
        values(r, &row);
        if (r->rank > 0)
            continue;
        row.step_ns = t.step_ns;
        row.peak_bytes = t.peak_bytes;
        count(c->run, i, &row);
        if (c->peak_flops > 0)
            row.mfu = train_flops(c->run, i) / ((double)t.step_ns * 1e-9 * c->peak_flops);
        r->job->row(r->job->ctx, &row);
    }
    return true;
}

/* The ranks that have the first CP number hold everything between them. */
static void save(struct rank_state *r)
{
    struct checkpoint *s = &r->job->saved;
    if (!s->floats || r->rank >= shape_tp(r->m->shape))
        return;
    move_state(r, s, true);
    s->updates = r->opt.updates;
    s->step = r->job->loaded.step + r->job->c->run->steps;
}

static bool rank_main(int rank, void *ctx, struct err *e)
{
    struct job *j = ctx;
    struct rank_state r = {.job = j, .rank = rank, .m = model_open(j->c->run, j->world, rank, e)};
    if (!r.m)
        return false;
    optimizer_open(&r.opt, r.m->rank.stream, &j->c->rates, j->c->run->shape.dtype, r.m->params, r.m->net.floats);
    r.m->update = update;
    r.m->update_ctx = &r;
    if (j->loaded.floats)
        load(&r);
    if (rank < shape_tp(r.m->shape) && device_has_storage(r.m->rank.device))
        atomic_fetch_add(&j->started, params_hash(&r));
    bool ok = steps(&r, e);
    if (ok)
        save(&r);
    dev_device_sync(r.m->rank.device, SITE_HERE);
    optimizer_close(&r.opt, r.m->rank.device);
    model_close(r.m);
    return ok;
}

/* The whole model's floats: those of one rank with everything. */
static struct net whole_net(const struct run_config *c)
{
    struct arena a = {0};
    struct stack s;
    struct net n;
    stack_init(&s, c, 0, false, &a);
    net_init(&n, c, &s);
    arena_free(&a);
    return n;
}

static bool prepare(struct job *j, struct err *e)
{
    const struct train_config *c = j->c;
    int64_t floats = train_params(c->run);
    if (c->load && !checkpoint_read(&j->loaded, c->load, floats, e))
        return false;
    return !c->save || (checkpoint_writable(c->save, e) && checkpoint_make(&j->saved, floats, e));
}

bool train_run(const struct train_config *c, void (*row)(void *ctx, const struct train_row *r), void *ctx, uint64_t *started, struct err *e)
{
    struct job j = {.c = c, .row = row, .ctx = ctx};
    gemm_init();
    comm_reduction_order(c->run->order_seed);
    if (*c->run->machine.name)
        sim_use_machine(&c->run->machine);
    bool ok = prepare(&j, e);
    j.world = ok ? comm_world_open(c->run->comm, config_ranks(c->run), e) : NULL;
    ok = j.world && ranks_run_here(j.world, rank_main, &j, e);
    if (ok && c->save && comm_world_first(j.world) == 0)
        ok = checkpoint_write(&j.saved, c->save, e);
    comm_world_close(j.world);
    checkpoint_free(&j.loaded);
    checkpoint_free(&j.saved);
    if (started)
        *started = atomic_load(&j.started);
    return ok;
}

/* ---- what a step asks for ---- */

int64_t train_params(const struct run_config *c)
{
    return whole_net(c).whole_floats;
}

double train_flops(const struct run_config *c, int64_t step)
{
    const struct cp_shape *s = &c->whole;
    struct arena a = {0};
    const struct packing *packs = config_packs(c, c->one_batch ? 0 : step, &a);
    double tokens = (double)c->shape.tokens * (double)c->shape.microbatches, pairs = 0, attn = (double)(c->attn ? s->layers / STACK_PERIOD : 0);
    for (int64_t b = 0; b < c->shape.microbatches; b++)
        for (int64_t i = 0; i < packs[b].sequences; i++) {
            double n = (double)(packs[b].cu[i + 1] - packs[b].cu[i]);
            pairs += n * (n + 1) / 2;
        }
    arena_free(&a);
    if (c->mode->op == OP_ATTN)
        attn = (double)s->layers;
    double dk = (double)s->dk, dv = (double)s->dv, chunk = 64, scan = chunk * (3 * dk + 2 * dv) + 3 * dk * dv + chunk * chunk / 3;
    double attention = attn * pairs * (double)s->qheads * 2 * (double)(s->dqk + s->dv_attn);
    double recurrence = ((double)s->layers - attn) * tokens * (double)s->vheads * 2 * scan;
    return 6 * (double)train_params(c) * tokens + 3 * (attention + recurrence);
}
