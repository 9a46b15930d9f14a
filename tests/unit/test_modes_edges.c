/* test_modes_edges.c - small and forbidden things: one token a rank, conversions under capture, summaries kept or run again,
 * log scan and p2p on sizes that are no power of two. */
#include "modes_run.h"

#include "kernels/ops/elementwise.h"

static struct layer_case case_of(struct arena *a, const char *mode, int cp, const int64_t *lengths, int64_t n)
{
    struct err e = {0};
    struct packing *p = arena_array(a, struct packing, 1);
    *p = pack_of(a, lengths, n);
    struct layer_case c = {.mode = mode_find(mode, &e), .pack = *p};
    struct param_layout l;
    c.shape = (struct cp_shape){.cp = cp,
                                .tokens = p->total,
                                .hidden = 12,
                                .kheads = 8,
                                .vheads = 16,
                                .dk = 4,
                                .dv = 3,
                                .conv = 4,
                                .layers = 1,
                                .microbatches = 1,
                                .packs = p};
    param_layout(&l, &c.shape);
    float *params = arena_array(a, float, l.floats);
    param_draw(params, &l, &c.shape, (struct param_init){0.01, 0.1}, 5);
    c.params = params;
    c.x = random_floats(a, c.shape.tokens * c.shape.hidden);
    c.dy = random_floats(a, c.shape.tokens * c.shape.hidden);
    return c;
}

/* Against one rank; gradients on every rank. */
static void agrees(struct layer_case *c, struct arena *a)
{
    struct err e = {0};
    struct param_layout l;
    int64_t n = c->shape.tokens * c->shape.hidden;
    param_layout(&l, &c->shape);
    assert_ok(c->mode->check(&c->shape, &e), &e);
    struct layer_result got = layer_run(c, a);
    struct layer_case one = *c;
    one.shape.cp = 1;
    struct layer_result want = layer_run(&one, a);
    assert_true(rel_l2(got.out, want.out, n) < 1e-5 && rel_l2(got.dx, want.dx, n) < 1e-5);
    for (int rank = 0; rank < c->shape.cp; rank++)
        assert_true(rel_l2(got.grads[rank], want.grads[0], l.floats) < 1e-5);
}

TEST(one_token_a_rank)
{
    for (int cp = 2; cp <= 8; cp *= 2) {
        struct arena a = {0};
        struct layer_case c = case_of(&a, "gdn.ulysses", cp, (const int64_t[]){cp}, 1);
        agrees(&c, &a);
        arena_free(&a);
    }
}

struct trip {
    int64_t rows;
    struct comm_world *world;
};

/* q, k, v, b, a of a row to the heads' ranks and back: nothing is lost, z is not touched. */
static bool round_trip(int rank, void *ctx, struct err *e)
{
    enum { SECTIONS = 5, WIDTH = 40, TRAVEL = 32 };
    const struct trip *t = ctx;
    struct device *d = device_open("cpu", rank, rank, e);
    struct stream *s = device_stream(d);
    struct comm *c = comm_open(t->world, rank, "cp", e);
    float rows[4 * WIDTH], back[4 * WIDTH];
    int64_t n = t->rows * WIDTH, travel = t->rows * TRAVEL;
    for (int64_t i = 0; i < n; i++)
        rows[i] = (float)(rank * 1000 + i);
    float *x = dev_alloc(d, sizeof rows), *y = dev_alloc(d, sizeof rows), *send = dev_alloc(d, sizeof rows), *recv = dev_alloc(d, sizeof rows);
    struct concat_heads_args cut = {.src = x,
                                    .dst = send,
                                    .ld = WIDTH,
                                    .rows = t->rows,
                                    .ranks = comm_size(c),
                                    .nsections = SECTIONS,
                                    .section = {{0, 8}, {8, 8}, {16, 8}, {32, 4}, {36, 4}}}; /* 24 .. 31 stays */
    dev_upload_async(s, x, rows, sizeof rows);
    dev_set_async(s, y, 0, sizeof rows);
    op_concat_heads(s, &cut);
    comm_all_to_all_rows(c, s, send, recv, travel / comm_size(c));
    comm_all_to_all_rows(c, s, recv, send, travel / comm_size(c));
    cut.src = y;
    cut.back = true;
    op_concat_heads(s, &cut);
    dev_download(s, back, y, sizeof back, SITE_HERE);
    bool ok = true;
    for (int64_t i = 0; i < n; i++)
        ok = ok && back[i] == (i % WIDTH >= 24 && i % WIDTH < 32 ? 0 : rows[i]);
    float *const all[] = {x, y, send, recv};
    for (int i = 0; i < 4; i++)
        dev_free(d, all[i]);
    comm_close(c);
    device_close(d);
    return ok || fail(e, ERR_FAIL, "rows came back changed");
}

TEST(heads_round_trip)
{
    for (int cp = 1; cp <= 4; cp *= 2)
        for (int rows = 1; rows <= 4; rows += 3) {
            struct err e = {0};
            struct trip t = {rows, comm_world_open("threads", cp, &e)};
            assert_ok(ranks_run(cp, round_trip, &t, &e), &e);
            comm_world_close(t.world);
        }
}

TEST(ranks_that_are_no_power_of_two)
{
    static const char *const names[] = {"gdn.state_logscan", "gdn.state_p2p", "gdn.summary_allgather", "gdn.chunkwise.native", "gdn.chunkwise.snake"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int cp = 3; cp <= 7; cp++) {
            struct arena a = {0};
            struct layer_case c = case_of(&a, names[i], cp, (const int64_t[]){cp * 6, cp * 20, cp * 2, cp * 8}, 4);
            agrees(&c, &a);
            arena_free(&a);
        }
}

/* Contiguous shards take any lengths; a sequence may begin and end anywhere. */
TEST(lengths_are_free_without_zigzag)
{
    static const char *const names[] = {"gdn.state_logscan", "gdn.state_p2p", "gdn.summary_allgather", "gdn.chunkwise.native", "gdn.ulysses"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct arena a = {0};
        struct layer_case c = case_of(&a, names[i], 4, (const int64_t[]){1, 14, 45, 3, 20, 17}, 6);
        agrees(&c, &a);
        arena_free(&a);
    }
}

TEST(summary_kept_or_run_again)
{
    static const char *const names[] = {"gdn.state_logscan", "gdn.state_p2p", "gdn.summary_allgather"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct arena a = {0};
        struct layer_case c = case_of(&a, names[i], 4, (const int64_t[]){90, 500, 10}, 3);
        struct param_layout l;
        param_layout(&l, &c.shape);
        struct layer_result again = layer_run(&c, &a);
        c.shape.summary_kept = true;
        struct layer_result kept = layer_run(&c, &a);
        assert_memory_equal(again.out, kept.out, (size_t)(c.shape.tokens * c.shape.hidden) * sizeof(float));
        assert_memory_equal(again.dx, kept.dx, (size_t)(c.shape.tokens * c.shape.hidden) * sizeof(float));
        for (int rank = 0; rank < 4; rank++)
            assert_memory_equal(again.grads[rank], kept.grads[rank], (size_t)l.floats * sizeof(float));
        arena_free(&a);
    }
}

/* ---- refusals ---- */

struct conversion {
    struct comm_world *world;
    bool capture;
};

static bool convert(int rank, void *ctx, struct err *e)
{
    const struct conversion *x = ctx;
    const int64_t cu[] = {0, 8};
    struct device *d = device_open("cpu", rank, rank, e);
    struct stream *s = device_stream(d);
    struct comm *c = comm_open(x->world, rank, "cp", e);
    struct boundaries *b = boundaries_create(s, cu, 2);
    struct packed_seqs p;
    packed_init(&p, b, b, 8);
    float *v = dev_alloc(d, 4 * sizeof(float));
    dev_set_async(s, v, 0, 4 * sizeof(float));
    bool ok = true;
    for (int kind = ROUTE_NAIVE; ok && kind <= ROUTE_ENCODED; kind++) {
        struct swap_ctx swap = {c, s, &p, (enum route_kind)kind};
        if (x->capture)
            dev_capture_begin(s);
        float *y = swap_forward(&swap, LAYOUT_ZIGZAG, v, 4, 1, NULL, e);
        dev_capture_end(s);
        ok = y != NULL;
        dev_free(d, y);
    }
    packed_close(&p);
    boundaries_close(b);
    dev_free(d, v);
    comm_close(c);
    device_close(d);
    return ok;
}

TEST(no_conversion_while_a_stream_is_captured)
{
    for (int capture = 0; capture < 2; capture++) {
        struct err e = {0};
        struct conversion x = {comm_world_open("threads", 2, &e), capture};
        bool ok = ranks_run(2, convert, &x, &e);
        comm_world_close(x.world);
        assert_int_equal(ok, !capture);
        assert_int_equal(e.kind, capture ? ERR_USAGE : ERR_NONE);
        if (capture)
            assert_non_null(strstr(e.msg, "while the stream is being captured"));
    }
}

/* The message names the option and the value. */
static void refused(const char *mode, int cp, struct cp_shape s, const char *words)
{
    struct err e = {0};
    const struct cp_mode *m = mode_find(mode, &e);
    s.cp = cp;
    if (m->check(&s, &e))
        fail_msg("%s took it: %s", mode, words);
    assert_int_equal(e.kind, ERR_USAGE);
    if (!strstr(e.msg, words))
        fail_msg("%s: '%s' does not say '%s'", mode, e.msg, words);
}

TEST(shapes_that_cannot_be_run)
{
    int64_t cu[] = {0, 20};
    struct packing p = {cu, 1, 20};
    struct cp_shape s = {
        .tokens = 20, .hidden = 8, .kheads = 4, .vheads = 8, .dk = 4, .dv = 4, .conv = 4, .layers = 1, .microbatches = 1, .packs = &p};
    static const char *const shards[] = {"gdn.state_logscan", "gdn.state_p2p", "gdn.summary_allgather", "gdn.chunkwise.native"};
    for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
        refused(shards[i], 10, s, "--conv 4");
        refused(shards[i], 3, s, "--tokens 20");
    }
    refused("gdn.ulysses", 5, s, "--kheads 4");
    refused("gdn.headwise.fused", 5, s, "--kheads 4");
    refused("gdn.headwise.fused", 4, s, "20 tokens");
    refused("gdn.chunkwise.snake", 4, s, "20 tokens");
    refused("gdn.chunkwise.hidden_swap", 4, s, "20 tokens");
    s.vheads = 6;
    refused("gdn.ulysses", 2, s, "--vheads 6");
}

UNIT_MAIN(UNIT(one_token_a_rank), UNIT(heads_round_trip), UNIT(ranks_that_are_no_power_of_two), UNIT(lengths_are_free_without_zigzag),
          UNIT(summary_kept_or_run_again), UNIT(no_conversion_while_a_stream_is_captured), UNIT(shapes_that_cannot_be_run))
