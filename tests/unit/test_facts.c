/* test_facts.c - which differences of two recordings forbid to compare them, and which are only told. */
#include "analyzer/facts.h"
#include "trace_maker.h"

/* What a run states, two values of each; refused: why they are not compared; told: what they are compared for. */
static const struct said {
    const char *key, *before, *after, *refused, *told;
} said[] = {
    {"backend", "cpu", "sim", "backend sim against cpu", NULL},
    {"device_name", "A100", "H200", "device H200 against A100", NULL},
    {"machine", "h200x8", "mine", "modelled machine mine against h200x8", NULL},
    {"driver_version", "550", "560", "driver 560 against 550", NULL},
    {"world", "4", "8", "world size 8 against 4", NULL},
    {"cp", "4", "2", "context-parallel size 2 against 4", NULL},
    {"tp", "1", "2", "tensor-parallel size 2 against 1", NULL},
    {"dynamic_cp", "none", "2,4", "context-parallel sizes 2,4 against none", NULL},
    {"mode", "gdn.chunkwise", "attn.ulysses", "kind of layers attn against gdn", "mode attn.ulysses against gdn.chunkwise"},
    {"mode", "gdn.chunkwise", "gdn.ulysses", NULL, "mode gdn.ulysses against gdn.chunkwise"},
    {"attn_mode", "none", "attn.usp", "attention layers some against none", "attention mode attn.usp against none"},
    {"attn_mode", "attn.ring.zigzag", "attn.usp", NULL, "attention mode attn.usp against attn.ring.zigzag"},
    {"hidden", "64", "32", "hidden size 32 against 64", NULL},
    {"qheads", "8", "4", "query heads of attention 4 against 8", NULL},
    {"dv_attn", "16", "8", "value dimension of attention 8 against 16", NULL},
    {"dtype", "fp32", "bf16", "data type bf16 against fp32", NULL},
    {"route", "naive", "interval", NULL, "route interval against naive"},
    {"padding", "none", "eod", NULL, "padding eod against none"},
    {"recompute", "none", "full", NULL, "recompute full against none"},
    {"sequences", "random:6", "512,512", NULL, "sequences 512,512 against random:6"},
    {"microbatches", "1", "10", NULL, "micro-batches 10 against 1"},
    {"host_cost", "none", "framework", NULL, "host cost framework against none"},
    {"seed", "1", "2", NULL, NULL},
    {"record_events", "1", "2", NULL, NULL},
};
enum { NSAID = sizeof said / sizeof *said };

/* A trace that says the first value of each key, of case `at` the one given (NULL: nothing). */
static void trace_saying(struct trace *t, const char *name, size_t at, const char *value)
{
    struct maker m = maker(name);
    for (size_t i = 0; i < NSAID; i++)
        if (strcmp(said[i].key, said[at].key) != 0)
            tracedata_meta(&m.d, said[i].key, said[i].before);
    if (value)
        tracedata_meta(&m.d, said[at].key, value);
    make_work(&m, EV_KERNEL, "k", 0, 7, 10, 20, 1);
    make_open(&m, NULL, t);
}

static void judge(size_t at, const char *before, const char *after, const char *refused, const char *told)
{
    struct arena a = {0};
    struct trace x, y;
    trace_saying(&x, "before", at, before);
    trace_saying(&y, "after", at, after);
    struct facts f = facts_of(&x, &a), g = facts_of(&y, &a);
    const char *why = facts_differ(&f, &g, &a), *what = facts_varied(&x, &y, &a);
    const char *want = refused ? arena_printf(&a, "not comparable: %s", refused) : NULL;
    if (!why != !want || (why && strcmp(why, want) != 0))
        fail_msg("%s %s, %s: refused as '%s', want '%s'", said[at].key, before, after, why ? why : "-", want ? want : "-");
    if (!what != !told || (what && strcmp(what, told) != 0))
        fail_msg("%s %s, %s: told as '%s', want '%s'", said[at].key, before, after, what ? what : "-", told ? told : "-");
    trace_close(&x);
    trace_close(&y);
    arena_free(&a);
}

TEST(shape_forbids_and_variants_are_told)
{
    for (size_t i = 0; i < NSAID; i++) {
        judge(i, said[i].before, said[i].after, said[i].refused, said[i].told);
        judge(i, said[i].after, said[i].after, NULL, NULL);
    }
}

/* The backend is the one that a trace always has: maker() says cpu. */
TEST(what_one_side_leaves_out_is_not_held_against_it)
{
    for (size_t i = 1; i < NSAID; i += 4) {
        judge(i, NULL, said[i].after, NULL, NULL);
        judge(i, said[i].before, NULL, NULL, NULL);
    }
}

TEST(an_unknown_backend_is_another)
{
    struct arena a = {0};
    struct facts f = {0}, g = {0};
    facts_set(&g, "backend", "cuda");
    assert_string_equal(facts_differ(&f, &g, &a), "not comparable: backend cuda against unknown");
    assert_string_equal(facts_differ(&g, &f, &a), "not comparable: backend unknown against cuda");
    assert_null(facts_differ(&f, &f, &a));
    assert_null(facts_differ(&g, &g, &a));
    arena_free(&a);
}

UNIT_MAIN(UNIT(shape_forbids_and_variants_are_told), UNIT(what_one_side_leaves_out_is_not_held_against_it), UNIT(an_unknown_backend_is_another))
