/* bench_verify.c - `cpbench verify`: every mode on 1, 2, 4 and 8 ranks against one rank, forward and backward.
 *
 * The packed sets are those that hide errors: unequal lengths, empty slots, sequences across the cuts, memory that lasts
 * (slow decay), one sequence over all ranks. The limits are those of spec F.1; the largest difference itself is printed and
 * never judged, as it depends on the scale of the gradients.
 */
#include "kernels/bench.h"
#include "kernels/model/trial.h"
#include "kernels/options.h"
#include "schemas/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct column columns[] = {
    {"mode", UNIT_TEXT},   {"cp", UNIT_ID},      {"case", UNIT_TEXT},  {"dtype", UNIT_TEXT}, {"quantity", UNIT_TEXT},
    {"metric", UNIT_TEXT}, {"value", UNIT_REAL}, {"limit", UNIT_REAL}, {"ok", UNIT_ID},      {0}};

enum { LENGTHS_MAX = 8, CP_MOST = 8 };
static const struct set {
    const char *name;
    bool quick;
    struct param_init init;
    int64_t times, n, lengths[LENGTHS_MAX]; /* in a full run lengths are `times` longer */
} sets[] = {
    {"straddle", true, {0.005, 0.05}, 4, 3, {16, 128, 112}},
    {"empty_slots", true, {0.005, 0.05}, 4, 7, {0, 64, 0, 0, 48, 144, 0}},
    {"unequal", false, {1, 16}, 8, 5, {16, 48, 96, 32, 64}},
    {"one", false, {0.005, 0.05}, 8, 1, {256}},
    {"many", false, {0.005, 0.05}, 2, 8, {16, 16, 32, 16, 64, 16, 48, 48}},
};

struct verify {
    const char *mode, *device, *comm;
    bool quick;
    int64_t seed, most;
};

/* What a row's value may be, by operator and type; spec F.1: ours for fp32, for the narrower types those of seeds/004 (GDN)
 * and of seeds/003 (attention). */
static const struct limits {
    double max_rel_ref, rel_l2, param_rel_l2, grad_norm;
} limits[OP_COUNT][3] = {
    [OP_GDN] = {[DTYPE_FP32] = {1e-4, 1e-5, 1e-5, 1e-5}, [DTYPE_BF16] = {1e-1, 5e-2, 1e-1, 1e-2}, [DTYPE_FP16] = {1e-1, 5e-2, 1e-1, 1e-2}},
    [OP_ATTN] = {[DTYPE_FP32] = {1e-4, 1e-5, 1e-5, 1e-5}, [DTYPE_BF16] = {2.5e-2, 2.5e-2, 2.5e-2, 1e-2}, [DTYPE_FP16] = {5e-3, 5e-3, 5e-3, 1e-2}}};

struct job {
    struct table *t;
    const struct set *set;
    const struct layer_case *c;
};

static void row(const struct job *j, const char *quantity, const char *metric, double value, double limit)
{
    struct cell *c = table_row(j->t);
    c[0] = cell_text(j->c->mode->name);
    c[1] = cell_int(j->c->shape.cp);
    c[2] = cell_text(j->set->name);
    c[3] = cell_text(dtype_name(j->c->shape.dtype));
    c[4] = cell_text(quantity);
    c[5] = cell_text(metric);
    c[6] = cell_real(value);
    c[7] = cell_real(limit);
    c[8] = cell_int(isnan(limit) ? isfinite(value) : value <= limit);
}

static void rows(const struct job *j, const struct agreement *g)
{
    const struct limits *l = &limits[j->c->shape.op][j->c->shape.dtype];
    const struct {
        const char *quantity;
        const struct distance *d;
        double rel_l2;
    } all[] = {{"output", &g->out, l->rel_l2}, {"input_grad", &g->dx, l->rel_l2}, {"param_grad", &g->param, l->param_rel_l2}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        row(j, all[i].quantity, "max_abs", all[i].d->max_abs, NAN);
        row(j, all[i].quantity, "max_rel_ref", all[i].d->max_rel_ref, l->max_rel_ref);
        row(j, all[i].quantity, "rel_l2", all[i].d->rel_l2, all[i].rel_l2);
    }
    row(j, "grad_norm", "max_rel_ref", g->grad_norm, l->grad_norm);
}

static struct packing pack_of(const struct set *s, bool quick, struct arena *a)
{
    struct packing p = {.cu = arena_array(a, int64_t, s->n + 1), .sequences = s->n};
    for (int64_t i = 0; i < s->n; i++)
        p.cu[i + 1] = p.cu[i] + s->lengths[i] * (quick ? 1 : s->times);
    p.total = p.cu[s->n];
    return p;
}

/* The shape of a mode for a set: heads that divide over eight ranks. False when an option is refused. */
static bool shape_of(const struct cp_mode *mode, const struct packing *p, struct cp_shape *s, struct arena *a, struct err *e)
{
    struct run_options o = run_options_default;
    struct run_config c;
    o.mode = mode->name;
    o.device = "cpu";
    o.cp = 1;
    o.recompute = "full";
    o.tokens = p->total;
    o.seqs = "equal:1";
    o.hidden = 32;
    o.kheads = 8;
    o.vheads = 16;
    o.dk = 8;
    o.dv = 6;
    o.qheads = 16;
    o.kvheads = 8;
    o.dqk = 8;
    o.dv_attn = 6;
    bool ok = run_config_of(&o, &c, a, e);
    *s = c.shape;
    return ok;
}

/* One mode, set and type over all cp sizes that the mode takes. */
static bool verify_set(struct table *t, const struct verify *v, const struct cp_mode *mode, const struct set *set, enum dtype dtype, struct err *e)
{
    struct arena a = {0};
    struct packing pack = pack_of(set, v->quick, &a);
    struct cp_shape s;
    struct layer_result want = {0}, got;
    bool ok = shape_of(mode, &pack, &s, &a, e);
    s.dtype = dtype;
    struct layer_case c = trial_make(mode, &s, &pack, set->init, (uint64_t)v->seed, &a);
    ok = ok && layer_try(&c, &want, &a, e);
    c.device = v->device;
    c.comm = v->comm;
    for (int cp = 1; ok && cp <= v->most; cp *= 2) {
        struct err refused = {0};
        c.shape.cp = cp;
        if (!mode->check(&c.shape, &refused))
            continue;
        ok = layer_try(&c, &got, &a, e);
        if (!ok)
            break;
        struct agreement g = trial_compare(&c, &got, &want);
        rows(&(struct job){t, set, &c}, &g);
    }
    arena_free(&a);
    return ok;
}

static bool verify_mode(struct table *t, const struct verify *v, const struct cp_mode *mode, struct err *e)
{
    size_t before = t->nrows;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int dtype = DTYPE_FP32; dtype <= (!v->quick || i == 0 ? DTYPE_FP16 : DTYPE_FP32); dtype++)
            if ((sets[i].quick || !v->quick) && !verify_set(t, v, mode, &sets[i], (enum dtype)dtype, e))
                return false;
    return t->nrows > before || fail(e, ERR_FAIL, "%s: refuses every packed set, so nothing is verified", mode->name);
}

static enum status judge(const struct table *t)
{
    for (size_t i = 0; i < t->nrows; i++)
        if (table_at(t, i)[8].i != 1)
            return STATUS_NO;
    return STATUS_OK;
}

static bool places_fit(const struct verify *v, struct err *e)
{
    bool cuda = !strcmp(v->device, "cuda");
    if (!cuda && strcmp(v->device, "cpu"))
        return fail(e, ERR_USAGE, "--device %s: want cpu, cuda", v->device);
    if (strcmp(v->comm, "threads") && (!cuda || strcmp(v->comm, "nccl")))
        return fail(e, ERR_USAGE, "--comm %s --device %s: want threads, or nccl with --device cuda", v->comm, v->device);
    return (v->most >= 1 && v->most <= CP_MOST) || fail(e, ERR_USAGE, "--max-cp %" PRId64 ": want 1 to %d", v->most, CP_MOST);
}

static enum status run(int argc, char **argv, struct err *e)
{
    static const struct opt options[] = {
        {OPT_FLAG, "quick", offsetof(struct verify, quick), "two small packed sets instead of all"},
        {OPT_TEXT, "mode", offsetof(struct verify, mode), "only this mode", "ID"},
        {OPT_TEXT, "device", offsetof(struct verify, device), "where they run: cpu, cuda; what they are held against runs on the cpu [cpu]", "NAME"},
        {OPT_TEXT, "comm", offsetof(struct verify, comm), "threads, nccl [threads]", "NAME"},
        {OPT_INT, "max-cp", offsetof(struct verify, most), "the largest cp size, up to 8 [8]", "C"},
        {OPT_INT, "seed", offsetof(struct verify, seed), "seed of parameters and inputs [1234]", "S"},
        {0},
    };
    struct verify v = {.device = "cpu", .comm = "threads", .seed = 1234, .most = CP_MOST};
    const struct opt_group groups[] = {{options, &v, NULL}, {0}};
    struct arena a = {0};
    struct table t;
    table_init(&t, "verify", "Modes against one rank", columns);
    bool ok =
        opt_parse(argc, argv, groups,
                  "Runs a layer of every mode, forward and backward, on 1, 2, 4 and 8 ranks and compares outputs, input gradients and all "
                  "parameter gradients on every rank with those of one rank: csv mode,cp,case,dtype,quantity,metric,value,limit,ok.\v"
                  "max_abs: largest difference, not judged. max_rel_ref: that by the largest element. rel_l2: length of the difference by the "
                  "length of the reference. param_grad: the worst parameter. Exit 1 when a row is not ok. A cp size that a mode refuses for the "
                  "set's lengths is left out.\n\n"
                  "  cpbench verify --quick --mode gdn.chunkwise",
                  &a, e);
    const struct cp_mode *only = ok && v.mode ? mode_find(v.mode, e) : NULL;
    ok = ok && (!v.mode || only) && places_fit(&v, e);
    for (const struct cp_mode *const *m = modes; ok && *m; m++)
        ok = (only && only != *m) || verify_mode(&t, &v, *m, e);
    if (ok)
        table_csv(&t, stdout);
    enum status status = ok ? judge(&t) : err_status(e);
    table_free(&t);
    arena_free(&a);
    return status;
}

const struct bench_cmd bench_verify = {.name = "verify", .what = "every mode on several ranks against one rank", .run = run};
