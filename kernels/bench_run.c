/* bench_run.c - `cpbench run`: runs steps of a stack of layers under a mode. */
#include "kernels/bench.h"
#include "kernels/model/run.h"
#include "kernels/options.h"
#include "schemas/launch.h"
#include "schemas/table.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct column columns[] = {{"step", UNIT_ID},
                                        {"step_ns", UNIT_NS},
                                        {"tokens", UNIT_COUNT},
                                        {"loss", UNIT_REAL},
                                        {"grad_norm", UNIT_REAL},
                                        {"peak_bytes", UNIT_BYTES},
                                        {"fwd_ns", UNIT_NS},
                                        {"param_hash", UNIT_TEXT},
                                        {"out_hash", UNIT_TEXT},
                                        {"grad_hash", UNIT_TEXT},
                                        {"valid_tokens", UNIT_COUNT},
                                        {"padded_tokens", UNIT_COUNT},
                                        {"pass_ns", UNIT_NS},
                                        {0}};

static struct cell hash_cell(struct table *t, uint64_t hash)
{
    return cell_text(table_text(t, "%016" PRIx64, hash));
}

static void print(const struct run_row *rows, int64_t n)
{
    struct table t;
    table_init(&t, "run", "Steps", columns);
    for (int64_t i = 0; i < n; i++) {
        struct cell *c = table_row(&t);
        c[0] = cell_int(rows[i].step);
        c[1] = cell_int(rows[i].step_ns);
        c[2] = cell_int(rows[i].tokens);
        c[3] = cell_real(rows[i].loss);
        c[4] = cell_real(rows[i].grad_norm);
        c[5] = cell_int(rows[i].peak_bytes);
        c[6] = cell_int(rows[i].fwd_ns);
        c[10] = cell_int(rows[i].tokens - rows[i].padded);
        c[11] = cell_int(rows[i].padded);
        c[12] = cell_int(rows[i].pass_ns);
        if (isnan(rows[i].loss))
            continue; /* a model of a machine computes no values */
        c[7] = hash_cell(&t, rows[i].param_hash);
        c[8] = hash_cell(&t, rows[i].out_hash);
        c[9] = hash_cell(&t, rows[i].grad_hash);
    }
    table_csv(&t, stdout);
    table_free(&t);
}

/* What a rank works on, and how many micro-batches all groups together. */
static void say_schedule(const struct run_config *c, const char *self)
{
    int64_t all = 0;
    fprintf(stderr, "%s: schedule of a rank:", self);
    for (int cp = 1; cp <= 8; cp *= 2) {
        int64_t n = 0;
        for (int64_t b = 0; b < c->shape.microbatches; b++)
            n += c->sizes[b % c->nsizes] == cp;
        if (n)
            fprintf(stderr, "%s %" PRId64 "%s at cp %d", all ? "," : "", n, all ? "" : " micro-batches", cp);
        all += n * (c->shape.cp / cp);
    }
    fprintf(stderr, "; %" PRId64 " in all a step\n", all);
}

static void run_and_print(const struct run_options *o, const struct run_config *c, const char *self, struct arena *a, struct err *e)
{
    struct run_row *rows = arena_array(a, struct run_row, c->steps);
    bool speaks = !strcmp(c->comm, "threads") || launch_env().rank <= 0;
    if (speaks && !strcmp(o->device, "auto"))
        fprintf(stderr, "%s: --device auto: running on %s\n", self,
                strcmp(c->device, "cpu") ? c->device : "the cpu, for there is no GPU to use (--device cuda says why)");
    if (speaks && c->nsizes)
        say_schedule(c, self);
    config_announce(c, &(struct config_words){o->host_cost, o->seqs, o->dynamic_cp});
    bool rank0 = false;
    if (run_steps(c, rows, &rank0, e) && rank0)
        print(rows, c->steps);
}

struct faults {
    int64_t extra_item;
};
static const struct opt fault_rows[] = {
    {OPT_INT, "extra-item", offsetof(struct faults, extra_item), "an item (a host read) more in each forward of this layer, 0 the first [none]",
     "LAYER"},
    {0},
};

static bool set_faults(const struct faults *f, struct run_config *c, struct err *e)
{
    if (f->extra_item < -1 || f->extra_item >= c->shape.layers)
        return fail(e, ERR_USAGE, "--extra-item %" PRId64 ": not in 0 .. %" PRId64 ", the layers", f->extra_item, (int64_t)c->shape.layers - 1);
    c->extra_item = f->extra_item + 1;
    return true;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct run_options o = run_options_default;
    struct faults f = {.extra_item = -1};
    const struct opt_group groups[] = {
        {run_option_rows, &o, "The run (defaults in brackets):"}, {fault_rows, &f, "Faults, to test gates with:"}, {0}};
    struct arena a = {0};
    struct run_config c;
    if (opt_parse(
            argc, argv, groups,
            "Runs training steps of a stack of layers under a mode, forward and backward, and prints a row a step: csv "
            "step,step_ns,tokens,loss,grad_norm,peak_bytes,fwd_ns,param_hash,out_hash,grad_hash,valid_tokens,padded_tokens,pass_ns.\v"
            "loss is the mean of out^2/2; grad_norm is over input and parameter gradients. Parameters are not updated: all steps "
            "see the same ones, on other data. step_ns, fwd_ns, pass_ns and peak_bytes are the largest of the ranks'; fwd_ns is the device's time in "
            "forward phases, pass_ns in all of the micro-batches, without the reductions at the end. Hashes are of bits: equal hashes are equal "
            "outputs, whatever the route. Times on the cpu backend are this machine's.\n\n"
            "  cpbench run --mode gdn.chunkwise --cp 4 --layers 4 --recompute full\n"
            "  cpbench run --mode attn.ring.zigzag --device sim --cp 8 --tokens 131072",
            &a, e) &&
        run_config_of(&o, &c, &a, e) && set_faults(&f, &c, e))
        run_and_print(&o, &c, argv[0], &a, e);
    arena_free(&a);
    return STATUS_OK;
}

const struct bench_cmd bench_run = {.name = "run", .what = "runs steps of a stack of layers under a mode", .run = run};
