/* run_config.c - what is to be run, out of the options: words, lists, and the checks that need several of them. */
#include "kernels/options.h"
#include "kernels/model/groups.h"
#include "kernels/model/stack.h"
#include "kernels/modes/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ns that one operator of an eager framework costs its host before the device hears of it: dispatch, autograd, launch. */
enum { FRAMEWORK_NS = 6000 };

/* The number of `word` among the words (which end with NULL), -1 with an error when it is none of them. */
static int one_of(const char *option, const char *word, const char *const *words, struct err *e)
{
    char all[128] = "";
    for (int i = 0; words[i]; i++) {
        if (!strcmp(word, words[i]))
            return i;
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", words[i]);
    }
    fail(e, ERR_USAGE, "--%s %s: want %s", option, word, all);
    return -1;
}

static bool host_cost_of(const char *text, int64_t *ns, struct err *e)
{
    if (!strcmp(text, "none"))
        *ns = 0;
    else if (!strcmp(text, "framework") || !strcmp(text, "eager"))
        *ns = FRAMEWORK_NS;
    else if (!opt_int(text, ns) || *ns < 0 || *ns > 1000000000)
        return fail(e, ERR_USAGE, "--host-cost %s: want none, framework, eager, or ns up to 1000000000", text);
    return true;
}

/* How a route is applied; the naive one as the baseline does it, always. */
static bool read_pack(const struct run_options *o, struct cp_shape *s, struct err *e)
{
    static const char *const packs[] = {"joined", "blocks", NULL};
    int pack = o->pack ? one_of("pack", o->pack, packs, e) : s->route == ROUTE_NAIVE;
    s->pack_blocks = pack == 1;
    return pack == 1 || (pack == 0 && s->route != ROUTE_NAIVE) ||
           fail(e, ERR_USAGE, "--route naive --pack %s: the naive route is applied block by block: want blocks, or another route", o->pack);
}

static bool read_words(const struct run_options *o, struct run_config *c, struct err *e)
{
    static const char *const routes[] = {
        [ROUTE_NAIVE] = "naive", [ROUTE_INTERVAL] = "interval", [ROUTE_PREBUILT] = "prebuilt", [ROUTE_ENCODED] = "encoded", NULL};
    static const char *const boundaries[] = {"per-layer", "cached", NULL}, *const recompute[] = {"none", "full", NULL};
    static const char *const summaries[] = {"checkpoint", "keep", NULL};
    static const char *const metadata[] = {[METADATA_CACHED] = "cached", [METADATA_HOISTED] = "hoisted", [METADATA_PER_LAYER] = "per-layer", NULL};
    static const char *const dtypes[] = {"fp32", "bf16", "fp16", NULL}, *const devices[] = {"auto", "cpu", "cuda", "sim", NULL},
                             *const comms[] = {"threads", "mpi", "nccl", "sim", NULL}, *const paddings[] = {"none", "eod", NULL};
    int route = one_of("route", o->route, routes, e), full = one_of("recompute", o->recompute, recompute, e);
    int cached = o->boundaries ? one_of("boundaries", o->boundaries, boundaries, e) : route != ROUTE_NAIVE;
    int kept = one_of("summary", o->summary, summaries, e), plans = one_of("metadata", o->metadata, metadata, e);
    int dtype = one_of("dtype", o->dtype, dtypes, e);
    one_of("device", o->device, devices, e);
    one_of("comm", c->comm, comms, e);
    c->eod = one_of("padding", o->padding, paddings, e) == 1;
    c->shape.route = (enum route_kind)route;
    c->shape.boundaries_cached = cached == 1;
    c->shape.recompute = full == 1;
    c->shape.summary_kept = kept == 1;
    c->shape.dtype = (enum dtype)dtype;
    c->shape.metadata = (enum metadata_kind)plans;
    return e->kind == ERR_NONE && read_pack(o, &c->shape, e) && host_cost_of(o->host_cost, &c->host_cost_ns, e);
}

/* Which ranks can move the memory of which device: those of threads all but the modelled one's. */
static bool places_fit(const struct run_config *c, struct err *e)
{
    bool sim = !strcmp(c->device, "sim"), cuda = !strcmp(c->device, "cuda");
    if (!strcmp(c->comm, "nccl") && !cuda)
        return fail(e, ERR_USAGE, "--comm nccl --device %s: NCCL moves the memory of GPUs; use --device cuda, or --comm threads", c->device);
    if (!strcmp(c->comm, "mpi") && cuda)
        return fail(e, ERR_USAGE, "--comm mpi --device cuda: MPI moves the memory of hosts here; use --comm nccl, under mpirun if you like");
    if (sim != !strcmp(c->comm, "sim"))
        return fail(e, ERR_USAGE, "--device %s --comm %s: sim ranks are those of the sim device and no others", c->device, c->comm);
    return true;
}

/* The modelled device and its ranks come together, and only they have a machine. */
static bool read_places(const struct run_options *o, struct run_config *c, struct err *e)
{
    bool sim = !strcmp(o->device, "sim");
    c->comm = o->comm ? o->comm : sim ? "sim" : "threads";
    c->device = strcmp(o->device, "auto") ? o->device : strcmp(c->comm, "mpi") ? device_auto() : "cpu";
    if (!places_fit(c, e))
        return false;
    if (!sim && o->machine)
        return fail(e, ERR_USAGE, "--machine %s: only --device sim is modelled", o->machine);
    return !sim || machine_load(&c->machine, o->machine ? o->machine : "h200x8", e);
}

static bool read_order(const struct run_options *o, struct run_config *c, struct err *e)
{
    int64_t seed = 0;
    bool random = !strncmp(o->reduction_order, "random:", 7);
    if (!(random ? opt_int(o->reduction_order + 7, &seed) && seed > 0 : !strcmp(o->reduction_order, "fixed")))
        return fail(e, ERR_USAGE, "--reduction-order %s: want fixed, or random:SEED with a seed above 0", o->reduction_order);
    c->order_seed = (uint64_t)seed;
    return !random || !strcmp(c->comm, "threads") || fail(e, ERR_USAGE, "--reduction-order %s: only --comm threads can draw it", o->reduction_order);
}

static void read_numbers(const struct run_options *o, struct run_config *c)
{
    struct cp_shape *s = &c->shape;
    s->cp = (int)o->cp;
    s->tokens = o->tokens;
    s->hidden = o->hidden;
    s->kheads = o->kheads;
    s->vheads = o->vheads;
    s->dk = o->dk;
    s->dv = o->dv;
    s->conv = o->conv;
    s->qheads = o->qheads;
    s->kvheads = o->kvheads;
    s->dqk = o->dqk;
    s->dv_attn = o->dv_attn;
    s->ulysses = o->ulysses;
    s->window = o->window;
    s->rotary = o->rotary;
    s->attn_gate = o->attn_gate;
    c->vocab = o->vocab;
    c->ffn = o->ffn;
    c->one_batch = o->one_batch;
    s->layers = o->layers;
    s->microbatches = o->microbatches;
    c->steps = o->steps;
    c->warmup = o->warmup;
    c->repeat = o->repeat;
    c->seed = (uint64_t)o->seed;
}

/* "C" or "CxN": N times C. */
static bool read_size(const struct run_options *o, const char *word, int64_t *cp, int64_t *times, struct err *e)
{
    char size[16] = "";
    const char *x = strchr(word, 'x');
    *times = 1;
    snprintf(size, sizeof size, "%.*s", x ? (int)(x - word) : (int)strlen(word), word);
    if (!opt_int(size, cp) || (x && !opt_int(x + 1, times)) || *times < 1)
        return fail(e, ERR_USAGE, "--dynamic-cp %s: '%s' is no cp size, nor CxN for N of them", o->dynamic_cp, word);
    if ((*cp != 1 && *cp != 2 && *cp != 4 && *cp != 8) || o->cp % *cp)
        return fail(e, ERR_USAGE, "--dynamic-cp %s: %" PRId64 " is not one of 1, 2, 4, 8 that divide --cp %" PRId64, o->dynamic_cp, *cp, o->cp);
    return true;
}

static bool read_sizes(const struct run_options *o, struct run_config *c, struct arena *a, struct err *e)
{
    enum { MOST = 10000 };
    int *sizes = o->dynamic_cp ? arena_array(a, int, MOST) : NULL;
    char *rest = o->dynamic_cp ? arena_strdup(a, o->dynamic_cp) : NULL;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        int64_t cp, times;
        if (!read_size(o, word, &cp, &times, e))
            return false;
        if (times > MOST || (c->nsizes + times) * o->microbatches > MOST)
            return fail(e, ERR_USAGE, "--dynamic-cp %s: more than %d micro-batches a step", o->dynamic_cp, MOST);
        for (; times > 0; times--)
            sizes[c->nsizes++] = (int)cp;
    }
    c->sizes = sizes;
    c->shape.microbatches *= c->nsizes ? c->nsizes : 1;
    return true;
}

static bool read_attn_mode(const struct run_options *o, struct run_config *c, struct err *e)
{
    if (!o->attn_mode)
        return true;
    c->attn = mode_find_named("attn-mode", o->attn_mode, e);
    if (!c->attn)
        return false;
    if (c->attn->op != OP_ATTN || c->mode->op != OP_GDN)
        return fail(e, ERR_USAGE, "--mode %s, --attn-mode %s: want a gdn mode and an attn mode (cpbench list shows all)", o->mode, o->attn_mode);
    if (o->layers < STACK_PERIOD)
        return fail(e, ERR_USAGE, "--attn-mode %s: every fourth layer is attention, and --layers %" PRId64 " has none", o->attn_mode, o->layers);
    return o->cp == 1 || c->attn->entry_layout == c->mode->entry_layout ||
           fail(e, ERR_USAGE, "--mode %s takes %s rows, --attn-mode %s %s ones: choose two of one layout (cpbench list shows it)", o->mode,
                layout_name(c->mode->entry_layout), o->attn_mode, layout_name(c->attn->entry_layout));
}

/* What attention is asked for and is not built: never done in silence as something else (seeds/003). */
static bool check_attention(const struct run_options *o, struct err *e)
{
    if (strcmp(o->causal, "yes") != 0)
        return fail(e, ERR_USAGE, "--causal %s: only causal attention is built: want yes", o->causal);
    if (o->dropout != 0)
        return fail(e, ERR_USAGE, "--dropout %g: attention without dropout is built: want 0", o->dropout);
    if (o->kv_dtype && strcmp(o->kv_dtype, o->dtype) != 0)
        return fail(e, ERR_USAGE, "--kv-dtype %s, --dtype %s: queries, keys and values have one type", o->kv_dtype, o->dtype);
    if (o->kv_seqs && strcmp(o->kv_seqs, o->seqs) != 0)
        return fail(e, ERR_USAGE, "--kv-seqs %s, --seqs %s: boundaries of queries and keys must be equal; cross-attention is not built", o->kv_seqs,
                    o->seqs);
    return true;
}

/* What a trainable model has besides: rotary dims, columns of the MLP. */
static bool check_net(const struct run_options *o, struct err *e)
{
    if (o->rotary % 2 || o->rotary < 0 || o->rotary > o->dqk)
        return fail(e, ERR_USAGE, "--rotary %" PRId64 ": want an even number up to --dqk %" PRId64, o->rotary, o->dqk);
    if (o->ffn % o->tp)
        return fail(e, ERR_USAGE, "--ffn %" PRId64 " is not divisible by --tp %" PRId64 ": every rank of a TP group takes its share of the columns",
                    o->ffn, o->tp);
    return true;
}

static bool split_heads(const struct run_options *o, struct run_config *c, struct err *e)
{
    c->whole = c->shape;
    c->shape.tp = (int)o->tp;
    return tensor_split(&c->shape, c->mode->op, o->tp, e) && (!c->attn || tensor_split(&c->shape, c->attn->op, o->tp, e)) &&
           tensor_check_rows(&c->shape, o->tp, e);
}

/* What micro-batches hold, and who works on which. */
static bool read_batches(const struct run_options *o, struct run_config *c, struct arena *a, struct err *e)
{
    if (!read_sizes(o, c, a, e) || !seqs_parse(&c->seqs, o->seqs, o->tokens, (int)o->cp, c->eod, a, e))
        return false;
    if ((c->nsizes || o->tp > 1) && o->tokens % o->cp)
        return fail(e, ERR_USAGE, "--tokens %" PRId64 " is not divisible by --cp %" PRId64, o->tokens, o->cp);
    if (!split_heads(o, c, e))
        return false;
    c->shape.packs = config_packs(c, 0, a);
    return groups_check(c, e);
}

static void slow_down(struct run_config *c)
{
    int64_t *const costs[] = {&c->host_cost_ns, &c->host_nograd_ns, &c->host_layer_ns, &c->host_step_ns};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        *costs[i] = llround((double)*costs[i] * c->machine.framework_slowdown);
}

/* The dispatch cost that only a machine knows. */
static bool read_host_cost(const struct run_options *o, struct run_config *c, struct err *e)
{
    bool sim = *c->machine.name;
    c->eager = !strcmp(o->host_cost, "eager");
    if (c->eager && !sim)
        return fail(e, ERR_USAGE, "--host-cost eager: only --device sim models it");
    c->host_nograd_ns = c->host_cost_ns;
    if (sim && (c->eager || !strcmp(o->host_cost, "framework"))) {
        c->host_cost_ns = llround(c->machine.framework_op_ns);
        c->host_nograd_ns = llround(c->machine.framework_op_ns * c->machine.framework_nograd_share);
        c->host_layer_ns = llround(c->machine.framework_layer_ns);
        c->host_step_ns = llround(c->machine.framework_step_ns);
    }
    if (sim)
        slow_down(c);
    return true;
}

static bool read_all(const struct run_options *o, struct run_config *c, struct arena *a, struct err *e)
{
    if (!read_places(o, c, e) || !read_order(o, c, e) || !read_words(o, c, e) || !read_host_cost(o, c, e))
        return false;
    read_numbers(o, c);
    c->shape.op = c->mode->op;
    return read_attn_mode(o, c, e) && read_batches(o, c, a, e);
}

bool run_config_of(const struct run_options *o, struct run_config *config, struct arena *a, struct err *e)
{
    *config = (struct run_config){0};
    if (!o->mode)
        return fail(e, ERR_USAGE, "--mode is missing (cpbench list shows all)");
    config->mode = mode_find(o->mode, e);
    return config->mode && run_options_in_range(o, e) && check_attention(o, e) && check_net(o, e) && read_all(o, config, a, e);
}
