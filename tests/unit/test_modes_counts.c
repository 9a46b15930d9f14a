/* test_modes_counts.c - what a mode declares (expect) is what a subscriber sees of a run: collectives with their bytes and
 * host reads, on every rank; and the declared numbers are those of the formulas of spec C.5, C.6, D.3, D.4. */
#include "run_options.h"

#include "kernels/model/groups.h"
#include "kernels/modes/expect.h"
#include "schemas/activity.h"

#include <pthread.h>

extern activity_subscribe_fn cpscope_activity_subscribe;

enum { RANKS = 8 };

/* Rows of one step in the form of a declaration, counted from the reports. */
static struct {
    pthread_mutex_t lock;
    struct expect rank[RANKS];
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_reader(const struct activity *a)
{
    static const char *const readers[] = {"thd_rank_indices", "zigzag_contiguous_swap", "resolve_cu_seqlens", "route_build",
                                          "unpack_sequences", "gather_boundaries",      "kv_index_build",     "route_decode"};
    for (size_t i = 0; a->site && i < sizeof readers / sizeof *readers; i++)
        if (!strcmp(a->site->function, readers[i]))
            return true;
    return false;
}

static void note(void *ctx, const struct activity *a)
{
    (void)ctx;
    if (a->what != ACT_EVENT || a->rank < 0)
        return;
    pthread_mutex_lock(&seen.lock);
    struct expect *x = &seen.rank[a->rank];
    if (a->kind == EV_COMM && !strcmp(a->group, "cp"))
        expect_comm(x, a->function, 1, a->bytes);
    if (a->kind == EV_COMM && !strcmp(a->group, "tp"))
        expect_tp(x, a->function, 1, a->bytes);
    if (a->kind == EV_OP && is_reader(a))
        expect_syncs(x, a->site->function, 1, 0);
    if (a->kind == EV_RUNTIME && a->sync_class && is_reader(a))
        expect_syncs(x, a->site->function, 0, 1);
    pthread_mutex_unlock(&seen.lock);
}

static const char *device = "cpu";

static struct run_options small_options(const char *mode)
{
    struct run_options o = run_options_default;
    o.mode = mode;
    o.device = device;
    o.tokens = 256;
    o.seqs = "128,64,64";
    o.hidden = 8;
    o.kheads = o.vheads = 8;
    o.dk = o.dv = 4;
    return o;
}

static const struct expect_row *find(const struct expect *x, const char *what, const char *kind)
{
    for (int i = 0; i < x->n; i++)
        if (!strcmp(x->rows[i].what, what) && !strcmp(x->rows[i].kind, kind))
            return &x->rows[i];
    return NULL;
}

static bool is_counted(const struct expect_row *r)
{
    return strcmp(r->what, "flops") != 0 && strcmp(r->what, "work") != 0 && strcmp(r->what, "schedule") != 0;
}

/* Every row of x that is an event has its equal in y. */
static void contained(const struct expect *x, const struct expect *y, const char *text)
{
    for (int i = 0; i < x->n; i++) {
        const struct expect_row *r = &x->rows[i], *s = find(y, r->what, r->kind);
        if (is_counted(r) && (!s || s->count != r->count || s->bytes != r->bytes))
            fail_msg("%s: %s %s is %lld (%lld bytes) on one side, %lld (%lld) on the other", text, r->what, r->kind, (long long)r->count,
                     (long long)r->bytes, (long long)(s ? s->count : 0), (long long)(s ? s->bytes : 0));
    }
}

static void run_and_compare(const struct run_options *o)
{
    struct arena a = {0};
    struct run_config c = config_of(o, &a);
    struct run_row row;
    struct err e = {0};
    memset(seen.rank, 0, sizeof seen.rank);
    assert_true(cpscope_activity_subscribe(ACTIVITY_VERSION, note, NULL));
    bool ok = run_steps(&c, &row, NULL, &e);
    assert_true(cpscope_activity_subscribe(ACTIVITY_VERSION, NULL, NULL));
    assert_ok(ok, &e);
    for (int rank = 0; rank < config_ranks(&c); rank++) {
        struct expect declared = {0};
        char *text =
            arena_printf(&a, "%s cp %d L %d B %d %s %s %s tp %d %s %s rank %d", o->mode, (int)o->cp, (int)o->layers, (int)o->microbatches, o->route,
                         o->boundaries, o->recompute, (int)o->tp, o->dynamic_cp ? o->dynamic_cp : "-", o->attn_mode ? o->attn_mode : "-", rank);
        groups_expect(&c, rank, &declared);
        contained(&declared, &seen.rank[rank], text);
        contained(&seen.rank[rank], &declared, text);
    }
    arena_free(&a);
}

/* Options of run i of a grid over layers, micro-batches, recompute, lengths, routes. */
static struct run_options grid_options(const char *mode, int cp, int i)
{
    static const char *const routes[] = {"naive", "interval", "prebuilt", "encoded"}, *const boundaries[] = {NULL, "per-layer", "cached"};
    struct run_options o = small_options(mode);
    o.cp = cp;
    o.layers = 1 + i % 3;
    o.microbatches = 1 + (i + 1) % 3;
    o.recompute = (i + cp) % 2 ? "full" : "none";
    o.dtype = i % 4 == 1 ? "bf16" : i % 4 == 2 ? "fp16" : "fp32";
    o.route = routes[i % 4];
    o.pack = (i + cp) % 3 ? NULL : "blocks"; /* counts are the same */
    o.boundaries = boundaries[i / 4 % 3];
    o.summary = i % 2 ? "keep" : "checkpoint";
    o.seqs = i % 2 ? "random:4" : i % 4 ? "256" : "128,64,64";
    o.qheads = o.kvheads = 8;
    o.dqk = o.dv_attn = 4;
    return o;
}

/* Runs of the grid that the mode takes; how many. */
static int grid(const struct cp_mode *mode, int runs)
{
    int n = 0;
    for (int cp = 1; cp <= RANKS; cp *= 2)
        for (int i = 0; i < runs; i++) {
            struct arena a = {0};
            struct run_config c;
            struct err e = {0};
            struct run_options o = grid_options(mode->name, cp, i);
            bool takes = run_config_of(&o, &c, &a, &e);
            arena_free(&a);
            if (takes)
                run_and_compare(&o);
            n += takes && cp > 1;
        }
    return n;
}

TEST(every_mode_shows_what_it_declares)
{
    for (const struct cp_mode *const *m = modes; *m; m++)
        if (grid(*m, 4) < 4)
            fail_msg("%s: ran too rarely", (*m)->name);
}

/* The modelled device runs the same code: its counts are the same, reads of what index kernels wrote with them. */
TEST(every_mode_shows_it_on_the_sim_device)
{
#ifdef __SANITIZE_THREAD__
    skip_because("ranks of the sim device take turns in one thread: the thread sanitizer sees nothing of them");
#endif
    device = "sim";
    for (const struct cp_mode *const *m = modes; *m; m++)
        if (grid(*m, 8) < 8)
            fail_msg("%s: ran too rarely", (*m)->name);
    device = "cpu";
}

TEST(all_routes_show_what_they_declare)
{
    struct err e = {0};
    assert_int_equal(grid(mode_find("gdn.chunkwise", &e), 12), 36);
}

TEST(attention_shows_what_it_declares)
{
    static const char *const metadata[] = {"cached", "hoisted", "per-layer"};
    int ran = 0;
    for (const struct cp_mode *const *m = modes; *m; m++)
        for (int i = 0; i < 12 && (*m)->op == OP_ATTN; i++) {
            struct run_options o = small_options((*m)->name);
            struct arena a = {0};
            struct run_config c;
            struct err e = {0};
            o.cp = 1 << i % 4;
            o.layers = 1 + i % 3;
            o.microbatches = 1 + i / 4;
            o.recompute = i % 2 ? "full" : "none";
            o.metadata = metadata[i % 3];
            o.dtype = i % 4 == 3 ? "bf16" : "fp32";
            o.seqs = i % 5 ? "random:4" : "128,64,64";
            o.qheads = 8, o.kvheads = 8 >> i % 3, o.dqk = 4, o.dv_attn = 4 - i % 2;
            o.ulysses = 1 << i % 3, o.window = 1 << (i + 1) % 3;
            bool fits = run_config_of(&o, &c, &a, &e);
            arena_free(&a);
            if (fits)
                run_and_compare(&o);
            ran += fits;
        }
    assert_true(ran > 80);
}

/* What is asked for beside the mode's own options: sizes that change, TP groups, padding, both operators. */
TEST(groups_show_what_they_declare)
{
    static const char *const lists[] = {NULL, "4,1,2x2,1", "2,4", NULL}, *const routes[] = {"naive", "interval", "encoded", "prebuilt"};
    for (const struct cp_mode *const *m = modes; *m; m++)
        for (int i = 0; i < 4; i++) {
            struct run_options o = small_options((*m)->name);
            o.cp = i == 3 ? 2 : 4;
            o.tp = 1 + (i != 1);
            o.dynamic_cp = lists[i];
            o.seqs = i == 2 ? "random:3" : "equal:8";
            o.padding = i == 2 ? "eod" : "none";
            o.route = routes[i];
            o.recompute = "full";
            o.dtype = i == 3 ? "fp16" : "fp32";
            o.qheads = o.kvheads = 8, o.dqk = o.dv_attn = 4;
            o.layers = 1 + i;
            if (i == 3 && (*m)->op == OP_GDN)
                o.attn_mode = (*m)->entry_layout == LAYOUT_ZIGZAG ? "attn.kvag.reorder2" : "attn.ring.contiguous";
            run_and_compare(&o);
        }
}

static int64_t declared(const struct run_options *o, int rank, const char *what, const char *kind, bool bytes)
{
    struct arena a = {0};
    struct run_config c = config_of(o, &a);
    struct expect x = {0};
    groups_expect(&c, rank, &x);
    const struct expect_row *r = find(&x, what, kind);
    int64_t n = r ? bytes ? r->bytes : r->count : 0;
    arena_free(&a);
    return n;
}

static struct run_options seed_options(const char *mode)
{
    struct run_options o = small_options(mode);
    o.layers = 24;
    o.microbatches = 10;
    o.recompute = "full";
    return o;
}

/* The integers of seeds/000 (spec C.6, D.4). */
TEST(the_seeds_numbers)
{
    struct run_options o = seed_options("gdn.chunkwise");
    o.route = "naive";
    assert_int_equal(declared(&o, 0, "comm", "all_to_all_v", false), 1440);
    assert_int_equal(declared(&o, 0, "comm", "all_gather", false), 1440);
    assert_int_equal(declared(&o, 0, "op_sync", "thd_rank_indices", false), 61440);
    assert_int_equal(declared(&o, 0, "op_sync", "zigzag_contiguous_swap", false), 8640);
    assert_int_equal(declared(&o, 0, "op_sync", "resolve_cu_seqlens", false), 2880);
    assert_int_equal(declared(&o, 0, "wait_sync", "thd_rank_indices", false) + declared(&o, 0, "wait_sync", "zigzag_contiguous_swap", false), 54720);
    assert_int_equal(declared(&o, 0, "wait_sync", "resolve_cu_seqlens", false), 1920);
    o.route = "interval";
    assert_int_equal(declared(&o, 0, "op_sync", "thd_rank_indices", false), 0);
    assert_int_equal(declared(&o, 0, "op_sync", "resolve_cu_seqlens", false), 60);
    o.boundaries = "per-layer";
    assert_int_equal(declared(&o, 0, "op_sync", "resolve_cu_seqlens", false), 2880);
    o = seed_options("gdn.chunkwise"); /* 4.5: groups of one convert nothing */
    o.route = "naive";
    o.microbatches = 1;
    o.dynamic_cp = "1x8,2x41,4x7";
    o.seqs = "equal:4";
    assert_int_equal(declared(&o, 3, "op_sync", "thd_rank_indices", false), 2 * 48 * 16 * (41 * 2 + 7 * 4));
    assert_int_equal(declared(&o, 3, "comm", "all_to_all_v", false), 24 * 3 * 2 * (41 + 7));
    assert_int_equal(declared(&o, 3, "op_sync", "resolve_cu_seqlens", false), 24 * 2 * 6 * 56);
    assert_int_equal(declared(&o, 3, "schedule", "cp2", false), 41);
    o = seed_options("gdn.replicated_allgather");
    assert_int_equal(declared(&o, 0, "comm", "all_gather", false), 480);
    assert_int_equal(declared(&o, 0, "comm", "reduce_scatter", false), 240);
    assert_int_equal(declared(&o, 0, "wait_sync", "gather_boundaries", false), 10);
    o = seed_options("gdn.headwise.per_seq");
    assert_int_equal(declared(&o, 0, "comm", "all_to_all", false), 504 * 30);
    assert_int_equal(declared(&o, 0, "op_sync", "unpack_sequences", false), 4 * 30 * 24 * 2);
}

/* One sequence at cp 4: ranks send the fractions 0.5, 1, 0.5, 1 of their rows in a conversion (spec C). */
TEST(bytes_of_one_sequence)
{
    struct run_options o = small_options("gdn.chunkwise");
    o.seqs = "256";
    int64_t wp = 2 * 8 * 4 + 2 * 8 * 4 + 2 * 8, wo = 8 * 4, rows = 64;
    for (int rank = 0; rank < 4; rank++)
        assert_int_equal(declared(&o, rank, "comm", "all_to_all_v", true), 2 * rows / (rank % 2 ? 1 : 2) * (wp + wo) * 4);
    int64_t halo = 3 * (2 * 8 * 4 + 8 * 4) * 4, state = 8 * 4 * (4 + 4) * 4;
    assert_int_equal(declared(&o, 0, "comm", "all_gather", true), 2 * (halo + state));
    o.mode = "gdn.headwise.per_seq";
    assert_int_equal(declared(&o, 2, "comm", "all_to_all", true), 2 * rows * (wp + wo) * 4 * 3 / 4);
    o.mode = "gdn.replicated_allgather";
    o.recompute = "full";
    assert_int_equal(declared(&o, 1, "comm", "all_gather", true), 2 * rows * wp * 4);
    assert_int_equal(declared(&o, 1, "comm", "reduce_scatter", true), 3 * rows * wp * 4);
}

/* Spec C.5, E.2, E.3, E.5: rows x heads x dims x 4 bytes, by what each mode sends. */
TEST(bytes_of_attention)
{
    struct run_options o = small_options("attn.kvag.direct1");
    o.qheads = 8, o.kvheads = 4, o.dqk = 6, o.dv_attn = 4;
    int64_t kv = 64 * 4 * (6 + 4) * 4; /* 64 rows */
    assert_int_equal(declared(&o, 1, "comm", "all_gather", false), 4);
    assert_int_equal(declared(&o, 1, "comm", "all_gather", true), 2 * kv);
    assert_int_equal(declared(&o, 1, "comm", "reduce_scatter", true), 3 * kv);
    o.mode = "attn.ring.zigzag";
    assert_int_equal(declared(&o, 2, "comm", "send_recv", false), 3 + 3 + 4);
    assert_int_equal(declared(&o, 2, "comm", "send_recv", true), (3 + 3 + 4) * kv);
    o.mode = "attn.ulysses";
    assert_int_equal(declared(&o, 0, "comm", "all_to_all", false), 8);
    assert_int_equal(declared(&o, 0, "comm", "all_to_all", true), 2 * 64 * (8 * 6 + 4 * (6 + 4) + 8 * 4) * 4 * 3 / 4);
    o.mode = "attn.usp";
    assert_int_equal(declared(&o, 0, "comm", "all_to_all_v", true), 2 * 64 * (8 * 6 + 4 * (6 + 4) + 8 * 4) * 4 / 2);
    assert_int_equal(declared(&o, 0, "comm", "send_recv", true), (1 + 1 + 2) * kv);
    o.metadata = "per-layer";
    o.layers = 3;
    assert_int_equal(declared(&o, 0, "wait_sync", "kv_index_build", false), 3);
    o.metadata = "cached";
    assert_int_equal(declared(&o, 0, "wait_sync", "kv_index_build", false), 1);
}

/* Rows travel in their storage type; states, and sums on their way around a ring, are floats. */
TEST(bytes_of_narrow_types)
{
    struct run_options o = small_options("gdn.headwise.fused"), half;
    o.qheads = o.kvheads = 8, o.dqk = o.dv_attn = 4;
    static const struct {
        const char *mode, *kind;
        int64_t kept; /* of the bytes: what does not shrink */
    } rows[] = {{"gdn.headwise.fused", "all_to_all", 0},
                {"gdn.ulysses", "all_to_all", 0},
                {"gdn.chunkwise", "all_to_all_v", 0},
                {"gdn.chunkwise", "all_gather", 2 * 8 * 4 * (4 + 4) * 4},
                {"gdn.summary_allgather", "reduce_scatter", 3 * 8 * 4 * (4 + 4) * 4},
                {"gdn.state_p2p", "send_recv", 2 * 8 * 4 * 4 * 4},
                {"gdn.state_p2p", "all_to_all_v", 0},
                {"attn.ulysses", "all_to_all", 0},
                {"attn.kvag.direct1", "all_gather", 0},
                {"attn.kvag.direct1", "reduce_scatter", 0},
                {"attn.ring.zigzag", "send_recv", 4 * 64 * 8 * (4 + 4) * 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        o.mode = rows[i].mode;
        o.seqs = "256";
        half = o;
        half.dtype = i % 2 ? "bf16" : "fp16";
        int64_t all = declared(&o, 1, "comm", rows[i].kind, true), narrow = declared(&half, 1, "comm", rows[i].kind, true);
        assert_int_equal(declared(&o, 1, "comm", rows[i].kind, false), declared(&half, 1, "comm", rows[i].kind, false));
        assert_int_equal(2 * (narrow - rows[i].kept), all - rows[i].kept);
    }
}

/* Modes that exchange states send the same whatever the number of tokens (spec C.5). */
TEST(bytes_of_states)
{
    int64_t halo = 3 * (2 * 8 * 4 + 8 * 4) * 4, state = 8 * 4 * 4 * 4, map = 2 * state;
    struct run_options o = small_options("gdn.state_p2p");
    o.seqs = "256";
    assert_int_equal(declared(&o, 0, "comm", "send_recv", false), 4);
    assert_int_equal(declared(&o, 0, "comm", "send_recv", true), state);
    assert_int_equal(declared(&o, 1, "comm", "send_recv", true), 2 * state);
    assert_int_equal(declared(&o, 3, "comm", "send_recv", true), state);
    assert_int_equal(declared(&o, 0, "comm", "all_to_all_v", true), halo);
    assert_int_equal(declared(&o, 2, "comm", "all_to_all_v", true), 2 * halo);
    o.mode = "gdn.summary_allgather";
    assert_int_equal(declared(&o, 1, "comm", "all_gather", true), map);
    assert_int_equal(declared(&o, 1, "comm", "reduce_scatter", true), 3 * map);
    o.mode = "gdn.state_logscan";
    assert_int_equal(declared(&o, 1, "comm", "send_recv", false), 2 * 2);
    assert_int_equal(declared(&o, 1, "comm", "send_recv", true), (2 + 1) * map);
    o.mode = "gdn.chunkwise.snake";
    assert_int_equal(declared(&o, 1, "comm", "all_gather", true), 2 * 2 * (map + halo));
    o.mode = "gdn.chunkwise.native";
    assert_int_equal(declared(&o, 1, "comm", "all_gather", true), 2 * (map + halo));
}

/* The heads for tokens: z does not travel (spec C.5). */
TEST(bytes_of_heads)
{
    int64_t wp = 2 * 8 * 4 + 2 * 8 * 4 + 2 * 8, wo = 8 * 4, rows = 64;
    struct run_options o = small_options("gdn.ulysses");
    assert_int_equal(declared(&o, 1, "comm", "all_to_all", false), 4);
    assert_int_equal(declared(&o, 1, "comm", "all_to_all", true), 2 * rows * (wp - wo + wo) * 4 * 3 / 4);
    o.mode = "gdn.headwise.fused";
    assert_int_equal(declared(&o, 1, "comm", "all_to_all", false), 4);
    assert_int_equal(declared(&o, 1, "comm", "all_to_all", true), 2 * rows * (wp + wo) * 4 * 3 / 4);
    o.mode = "gdn.chunkwise.hidden_swap";
    o.seqs = "256";
    assert_int_equal(declared(&o, 1, "comm", "all_to_all_v", true), 2 * 2 * rows * 8 * 4);
}

/* No mode repeats the work of the core but the replicated one, cp times (spec C.3). */
TEST(flops_of_the_core)
{
    struct run_options o = small_options("gdn.chunkwise");
    o.recompute = "full";
    int64_t once = declared(&o, 0, "flops", "core", false), projection = declared(&o, 0, "flops", "projection", false);
    assert_true(once > 0 && projection > 0);
    for (const struct cp_mode *const *m = modes; *m; m++) {
        o.mode = (*m)->name;
        if ((*m)->op != OP_GDN)
            continue;
        assert_int_equal(declared(&o, 0, "flops", "projection", false), projection);
        int64_t core = declared(&o, 0, "flops", "core", false), want = !strcmp(o.mode, "gdn.replicated_allgather") ? 4 * once : once;
        assert_in_range(core, want - 4, want + 4); /* rounded */
    }
}

UNIT_MAIN(UNIT(every_mode_shows_what_it_declares), UNIT(every_mode_shows_it_on_the_sim_device), UNIT(all_routes_show_what_they_declare),
          UNIT(attention_shows_what_it_declares), UNIT(groups_show_what_they_declare), UNIT(bytes_of_attention), UNIT(bytes_of_states),
          UNIT(bytes_of_narrow_types), UNIT(bytes_of_heads), UNIT(flops_of_the_core), UNIT(the_seeds_numbers), UNIT(bytes_of_one_sequence))
