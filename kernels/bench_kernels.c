/* bench_kernels.c - `cpbench kernels`: every kernel that the modes launch on a GPU, against the CPU's on the same arguments; or
 * how fast they run. Modes do the launching, so a kernel is seen with the arguments that it gets in earnest.
 */
#include "kernels/bench.h"
#include "kernels/device/cuda_module.h"
#include "kernels/device/shadow.h"
#include "kernels/model/run.h"
#include "kernels/options.h"
#include "schemas/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct column checks[] = {{"kernel", UNIT_TEXT}, {"launches", UNIT_COUNT}, {"compared", UNIT_COUNT}, {"max_abs", UNIT_REAL},
                                       {"rel_l2", UNIT_REAL}, {"limit", UNIT_REAL},     {"ok", UNIT_ID},          {0}};
static const struct column rates[] = {{"kernel", UNIT_TEXT}, {"launches", UNIT_COUNT}, {"time_ns", UNIT_NS},
                                      {"flops", UNIT_REAL},  {"bytes", UNIT_REAL},     {"tflops", UNIT_REAL},
                                      {"gbps", UNIT_REAL},   {"gemm_pct", UNIT_REAL},  {0}};

static const double LIMIT = 1e-5; /* spec F.1, fp32: a kernel's inputs are the same on both sides */

struct kernels {
    const char *device, *mode;
    bool time, small;
};

/* What is run: all modes, and what only some options launch. */
static const struct variant {
    const char *mode, *route, *dtype; /* NULL: every mode; the default */
} variants[] = {{NULL, NULL, NULL}, {"gdn.chunkwise", "naive", NULL}, {"gdn.chunkwise", "encoded", NULL}, {"attn.ring.zigzag", NULL, "bf16"}};

static void small_shape(struct run_options *o)
{
    o->tokens = 96;
    o->seqs = "56,40";
    o->hidden = 16;
    o->dk = o->dv = o->dqk = o->dv_attn = 8;
}

/* Of a layer of the seeds' models: large enough that a launch's own cost does not count. */
static void large_shape(struct run_options *o)
{
    o->tokens = 16384;
    o->seqs = "equal:4";
    o->hidden = 2048;
    o->kheads = 16;
    o->vheads = 32;
    o->dk = o->dv = o->dqk = o->dv_attn = 128;
    o->qheads = 16;
    o->kvheads = 8;
}

static bool run_variant(const struct kernels *k, const char *mode, const struct variant *v, struct err *e)
{
    struct run_options o = run_options_default;
    struct run_config c;
    struct run_row row;
    struct arena a = {0};
    o.mode = mode;
    o.device = k->device;
    o.cp = k->time ? 1 : 4;
    o.recompute = "full";
    if (v->route)
        o.route = v->route;
    if (v->dtype)
        o.dtype = v->dtype;
    if (k->time)
        large_shape(&o);
    else if (k->small)
        small_shape(&o);
    bool ok = run_config_of(&o, &c, &a, e) && run_steps(&c, &row, NULL, e);
    arena_free(&a);
    return ok;
}

static bool run_all(const struct kernels *k, struct err *e)
{
    bool any = false;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        for (const struct cp_mode *const *m = modes; *m; m++) {
            const struct variant *v = &variants[i];
            if ((v->mode && strcmp(v->mode, (*m)->name) != 0) || (k->mode && strcmp(k->mode, (*m)->name) != 0) || (k->time && i > 0))
                continue;
            any = true;
            if (!run_variant(k, (*m)->name, v, e))
                return false;
        }
    return any || fail(e, ERR_USAGE, "--mode %s: no such mode (cpbench list shows all)", k->mode);
}

static bool gemm(const struct shadow_row *r)
{
    return strncmp(r->kernel, "gemm_", 5) == 0;
}

static double gemm_rate(const struct shadow_row *rows, size_t n)
{
    double flops = 0, ns = 0;
    for (size_t i = 0; i < n; i++)
        if (gemm(&rows[i])) {
            flops += rows[i].flops;
            ns += (double)rows[i].ns;
        }
    return ns > 0 ? flops / ns : 0;
}

static void check_row(struct table *t, const struct shadow_row *r)
{
    struct cell *c = table_row(t);
    c[0] = cell_text(r->kernel);
    c[1] = cell_int(r->launches);
    c[2] = cell_int(r->compared);
    c[3] = cell_real(r->max_abs);
    c[4] = cell_real(r->rel_l2);
    c[5] = cell_real(LIMIT);
    c[6] = cell_int(r->rel_l2 <= LIMIT && r->compared > 0);
}

static void rate_row(struct table *t, const struct shadow_row *r, double gemm)
{
    struct cell *c = table_row(t);
    c[0] = cell_text(r->kernel);
    c[1] = cell_int(r->launches);
    c[2] = cell_int(r->ns);
    c[3] = cell_real(r->flops);
    c[4] = cell_real(r->bytes);
    if (r->ns <= 0)
        return;
    c[5] = cell_real(r->flops / (double)r->ns / 1e3);
    c[6] = cell_real(r->bytes / (double)r->ns);
    if (gemm > 0 && r->flops > 0)
        c[7] = cell_real(100 * r->flops / (double)r->ns / gemm);
}

static enum status print(const struct kernels *k)
{
    enum { MOST = 256 };
    struct shadow_row rows[MOST];
    size_t n = shadow_rows(rows, MOST);
    struct table t;
    enum status status = STATUS_OK;
    table_init(&t, "kernels", "Kernels of a GPU", k->time ? rates : checks);
    for (size_t i = 0; i < n; i++) {
        if (k->time)
            rate_row(&t, &rows[i], gemm_rate(rows, n));
        else
            check_row(&t, &rows[i]);
        if (!k->time && table_at(&t, i)[6].i != 1)
            status = STATUS_NO;
    }
    table_csv(&t, stdout);
    table_free(&t);
    return status;
}

static enum status run(int argc, char **argv, struct err *e)
{
    static const struct opt options[] = {
        {OPT_TEXT, "device", offsetof(struct kernels, device), "cuda [cuda]", "NAME"},
        {OPT_TEXT, "mode", offsetof(struct kernels, mode), "what this mode launches only", "ID"},
        {OPT_FLAG, "small", offsetof(struct kernels, small), "a small shape"},
        {OPT_FLAG, "time", offsetof(struct kernels, time), "rates at a large shape, one rank: nothing is compared"},
        {0},
    };
    struct kernels k = {.device = "cuda"};
    const struct opt_group groups[] = {{options, &k, NULL}, {0}};
    struct arena a = {0};
    bool ok =
        opt_parse(argc, argv, groups,
                  "Runs every mode on a GPU, four ranks, and every kernel they launch on the CPU too, on copies of its arguments: csv "
                  "kernel,launches,compared,max_abs,rel_l2,limit,ok. Exit 1 when a row is not ok.\v"
                  "compared: blocks of memory that a launch changed and somebody used afterwards; rel_l2: the worst of them. With --time: csv "
                  "kernel,launches,time_ns,flops,bytes,tflops,gbps,gemm_pct; flops and bytes are those that the algorithm needs, gemm_pct is the "
                  "rate as a share of that of the matrix products (cuBLAS) in the same run.\n\n"
                  "  cpbench kernels --small --mode gdn.chunkwise\n"
                  "  cpbench kernels --time\n",
                  &a, e);
    if (ok && strcmp(k.device, "cuda") != 0)
        ok = fail(e, ERR_USAGE, "--device %s: only a GPU's kernels are held against the CPU's", k.device);
    if (ok && cuda_missing())
        ok = fail(e, ERR_FAIL, "%s; without a GPU there is nothing to hold against the CPU's", cuda_missing());
    if (ok) {
        shadow_start(k.time ? SHADOW_TIME : SHADOW_COMPARE);
        ok = run_all(&k, e);
    }
    arena_free(&a);
    return ok ? print(&k) : err_status(e);
}

const struct bench_cmd bench_kernels = {.name = "kernels", .what = "a GPU's kernels against the CPU's, or how fast they are", .run = run};
