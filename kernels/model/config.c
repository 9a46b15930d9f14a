/* config.c - packings of a step, and the facts that a trace keeps of a run. */
#include "kernels/model/config.h"
#include "kernels/device/device.h"
#include "kernels/model/groups.h"
#include "schemas/version.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

int config_ranks(const struct run_config *c)
{
    return c->shape.cp * shape_tp(&c->shape);
}

struct packing *config_packs(const struct run_config *c, int64_t step, struct arena *a)
{
    struct packing *p = arena_array(a, struct packing, c->shape.microbatches);
    for (int64_t b = 0; b < c->shape.microbatches; b++) {
        struct packing drawn = seqs_of(&c->seqs, c->seed, step, b, a);
        int64_t part = shape_rows(&c->shape) * place_of(c, b, 0).cp;
        p[b] = c->nsizes && c->seqs.kind == SEQS_RANDOM ? packing_cut(&drawn, part, a) : drawn;
    }
    return p;
}

static void announce(const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    dev_meta(key, text);
}

/* The cores this process may use, and whether its threads (a host thread and a stream's worker a rank) outnumber them:
 * then times are shown and never judged. */
static void announce_cores(int ranks)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    announce("cores", cores);
    announce("oversubscribed", 2 * ranks > cores);
}

void config_announce(const struct run_config *c, const struct config_words *words)
{
    static const char *const routes[] = {
        [ROUTE_NAIVE] = "naive", [ROUTE_INTERVAL] = "interval", [ROUTE_PREBUILT] = "prebuilt", [ROUTE_ENCODED] = "encoded"};
    static const char *const plans[] = {[METADATA_CACHED] = "cached", [METADATA_HOISTED] = "hoisted", [METADATA_PER_LAYER] = "per-layer"};
    const struct cp_shape *s = &c->whole;
    const struct {
        const char *key, *text;
    } texts[] = {{"program", "cpbench run"},
                 {"program_version", CPSCOPE_VERSION},
                 {"mode", c->mode->name},
                 {"route", routes[s->route]},
                 {"pack", s->pack_blocks ? "blocks" : "joined"},
                 {"boundaries", s->boundaries_cached ? "cached" : "per-layer"},
                 {"summary", s->summary_kept ? "keep" : "checkpoint"},
                 {"metadata", plans[s->metadata]},
                 {"recompute", s->recompute ? "full" : "none"},
                 {"sequences", words->seqs},
                 {"padding", c->seqs.pad ? "eod" : "none"},
                 {"dynamic_cp", words->dynamic_cp ? words->dynamic_cp : "none"},
                 {"attn_mode", c->attn ? c->attn->name : "none"},
                 {"dtype", dtype_name(s->dtype)},
                 {"comm", c->comm},
                 {"host_cost", words->host_cost}};
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {{"world", config_ranks(c)},
                   {"cp", s->cp},
                   {"tp", shape_tp(&c->shape)},
                   {"layers", s->layers},
                   {"microbatches", s->microbatches},
                   {"tokens", s->tokens},
                   {"hidden", s->hidden},
                   {"kheads", s->kheads},
                   {"vheads", s->vheads},
                   {"dk", s->dk},
                   {"dv", s->dv},
                   {"conv", s->conv},
                   {"qheads", s->qheads},
                   {"kvheads", s->kvheads},
                   {"dqk", s->dqk},
                   {"dv_attn", s->dv_attn},
                   {"ulysses", s->ulysses},
                   {"window", s->window},
                   {"steps", c->steps},
                   {"warmup", c->warmup},
                   {"repeat", c->repeat},
                   {"seed", (int64_t)c->seed}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        dev_meta(texts[i].key, texts[i].text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        announce(numbers[i].key, numbers[i].value);
    if (*c->machine.name)
        dev_meta("machine", c->machine.name);
    else
        announce_cores(config_ranks(c));
}
