/* test_route.c - both routes on real ranks: rows land where the oracle says, gradients come back, bit for bit. */
#include "unit.h"

#include "kernels/device/hostread.h"
#include "kernels/layout/route_naive.h"
#include "layout_ranks.h"

enum { WIDTH = 3 };

/* The bits of element k of token t: any pattern but a signalling one, so -0 and denormals occur. */
static float element(int64_t t, int64_t k)
{
    uint32_t bits = (uint32_t)(t * WIDTH + k + 1) * 2654435761u;
    float f;
    if (t % 7 == 0)
        bits = 0x80000000u; /* -0 */
    bits &= 0xbfffffffu;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The rank's rows of the whole [T][WIDTH] matrix; n floats. */
static float *matrix(struct arena *a, const struct boundary_set *b, int cp, int rank, enum layout l, int64_t *n)
{
    int64_t *rows = arena_array(a, int64_t, ORACLE_MAX_TOKENS), count = oracle_rows(b, cp, rank, l, rows);
    float *v = arena_array(a, float, count *WIDTH + 1);
    for (int64_t i = 0; i < count * WIDTH; i++)
        v[i] = element(rows[i / WIDTH], i % WIDTH);
    *n = count * WIDTH;
    return v;
}

static bool same(struct rank_env *x, struct arena *a, const float *device, const float *want, int64_t n, const char *what, struct err *e)
{
    float *got = arena_array(a, float, n + 1);
    to_host(x, got, device, n);
    if (memcmp(got, want, (size_t)n * sizeof *got))
        return fail(e, ERR_FAIL, "%s differs on rank %d of %d", what, x->rank, x->cp);
    return true;
}

static enum layout other(enum layout l)
{
    return l == LAYOUT_ZIGZAG ? LAYOUT_CONTIGUOUS : LAYOUT_ZIGZAG;
}

/* Forward against the oracle; the gradient of every row returns to where the row came from. */
static bool one_way(struct rank_env *x, const struct boundary_set *b, const struct swap_ctx *ctx, enum layout source, struct err *e)
{
    struct arena a = {0};
    struct route *saved;
    int64_t n;
    float *before = matrix(&a, b, x->cp, x->rank, source, &n), *after = matrix(&a, b, x->cp, x->rank, other(source), &n);
    float *in = to_device(x, before, n), *dy = to_device(x, after, n);
    float *y = swap_forward(ctx, source, in, n / WIDTH, WIDTH, &saved, e);
    bool ok = y && same(x, &a, y, x->cp == 1 ? before : after, n, "output", e);
    if (ok) {
        float *dx = swap_backward(ctx, saved, dy, WIDTH);
        ok = same(x, &a, dx, x->cp == 1 ? after : before, n, "gradient", e) && same(x, &a, in, before, n, "input after the swap", e);
        ok = ok && ((x->cp == 1) == (y == in)) && ((x->cp == 1) == (dx == dy));
        swap_free(x->device, dx, dy);
        swap_free(x->device, y, in);
    }
    route_release(saved);
    dev_free(x->device, dy);
    dev_free(x->device, in);
    arena_free(&a);
    return ok || fail(e, ERR_FAIL, "alias");
}

/* zigzag -> contiguous -> zigzag is the identity. */
static bool there_and_back(struct rank_env *x, const struct boundary_set *b, const struct swap_ctx *ctx, struct err *e)
{
    struct arena a = {0};
    int64_t n;
    float *v = matrix(&a, b, x->cp, x->rank, LAYOUT_ZIGZAG, &n), *in = to_device(x, v, n);
    float *mid = swap_forward(ctx, LAYOUT_ZIGZAG, in, n / WIDTH, WIDTH, NULL, e);
    float *out = mid ? swap_forward(ctx, LAYOUT_CONTIGUOUS, mid, n / WIDTH, WIDTH, NULL, e) : NULL;
    bool ok = out && same(x, &a, out, v, n, "round trip", e);
    swap_free(x->device, out, mid);
    swap_free(x->device, mid, in);
    dev_free(x->device, in);
    arena_free(&a);
    return ok;
}

/* Every route, applied as it is and block by block. */
static bool both_routes(struct rank_env *x, struct err *e)
{
    const struct boundary_set *b = x->ctx;
    bool ok = true;
    for (int way = 0; ok && way < 2 * (ROUTE_ENCODED + 1); way++) {
        enum route_kind kind = (enum route_kind)(way / 2);
        struct boundaries *cu = boundaries_create(x->stream, b->cu, b->entries);
        struct packed_seqs p;
        packed_init(&p, cu, cu, b->cu[b->entries - 1]);
        struct swap_ctx ctx = {x->comm, x->stream, &p, kind, .blocks = way % 2};
        ok = kind != ROUTE_PREBUILT || route_prebuild(&p, x->stream, x->cp, x->rank, e);
        ok = ok && one_way(x, b, &ctx, LAYOUT_ZIGZAG, e) && one_way(x, b, &ctx, LAYOUT_CONTIGUOUS, e) && there_and_back(x, b, &ctx, e);
        packed_close(&p);
        boundaries_close(cu);
    }
    return ok;
}

TEST(rows_and_gradients_of_both_routes)
{
    for (int cp = 1; cp <= 8; cp *= 2)
        for (int which = 0; which < ORACLE_SETS; which++) {
            struct boundary_set b = oracle_set(which, cp);
            struct err e = {0};
            assert_ok(on_ranks(cp, both_routes, &b, &e), &e);
        }
}

TEST(random_rows_and_gradients)
{
    PROP(25)
    {
        int cp = 1 + (int)rnd(5);
        struct boundary_set b = random_boundaries(cp);
        struct err e = {0};
        assert_ok(on_ranks(cp, both_routes, &b, &e), &e);
    }
}

/* An index on the device as the host list it stands for. */
static bool same_list(struct rank_env *x, const struct route *r, const int64_t *index, const int64_t *want, const char *what, struct err *e)
{
    struct arena a = {0};
    int64_t *got = arena_array(&a, int64_t, r->rows + 1);
    bool ok = index || !want;
    if (ok && r->rows > 0 && index)
        dev_download(x->stream, got, index, (size_t)r->rows * sizeof *got, SITE_HERE);
    for (int64_t i = 0; ok && index && i < r->rows; i++)
        ok = got[i] == (want ? want[i] : i);
    arena_free(&a);
    return ok || fail(e, ERR_FAIL, "%s rows differ on rank %d of %d", what, x->rank, x->cp);
}

static bool same_route(struct rank_env *x, const struct route *r, const struct route_plan *want, struct err *e)
{
    size_t bytes = (size_t)x->cp * sizeof(int64_t);
    if (r->rows != want->rows || memcmp(r->send_split, want->send_split, bytes) || memcmp(r->recv_split, want->recv_split, bytes))
        return fail(e, ERR_FAIL, "splits differ on rank %d of %d", x->rank, x->cp);
    return same_list(x, r, r->send_index, want->send_rows, "send", e) && same_list(x, r, r->recv_index, want->recv_rows, "receive", e);
}

/* Token by token on the device, and by intervals on the host: the same lists. */
static bool naive_is_interval(struct rank_env *x, struct err *e)
{
    const struct boundary_set *b = x->ctx;
    struct boundaries *cu = boundaries_create(x->stream, b->cu, b->entries);
    bool ok = true;
    for (int source = 0; ok && source < LAYOUT_COUNT; source++) {
        struct arena a = {0};
        struct route_plan plan;
        struct route *naive = NULL, *interval = route_build(cu, x->stream, x->cp, x->rank, (enum layout)source, other((enum layout)source), e);
        ok = interval && route_plan(&a, b->cu, b->entries, x->cp, x->rank, interval->source, interval->target, &plan, e);
        float *in = dev_alloc(x->device, (size_t)(plan.rows + 1) * sizeof *in);
        if (plan.rows > 0)
            dev_set_async(x->stream, in, 0, (size_t)plan.rows * sizeof *in);
        float *y = ok ? zigzag_contiguous_swap(x->comm, x->stream, cu, interval->source, in, plan.rows, 1, &naive, e) : NULL;
        ok = y && same_route(x, naive, &plan, e) && same_route(x, interval, &plan, e);
        dev_free(x->device, y);
        dev_free(x->device, in);
        route_release(naive);
        route_release(interval);
        arena_free(&a);
    }
    boundaries_close(cu);
    return ok;
}

TEST(naive_and_interval_lists_are_equal)
{
    for (int cp = 2; cp <= 8; cp *= 2)
        for (int which = 0; which < ORACLE_SETS; which++) {
            struct boundary_set b = oracle_set(which, cp);
            struct err e = {0};
            assert_ok(on_ranks(cp, naive_is_interval, &b, &e), &e);
        }
}

/* thd_rank_indices alone, for every rank from one rank. */
static bool rank_rows_match(struct rank_env *x, struct err *e)
{
    const struct boundary_set *b = x->ctx;
    int cp = (int)rnd(8) + 1;
    static int64_t want[ORACLE_MAX_TOKENS], got[ORACLE_MAX_TOKENS];
    struct boundary_set mine = random_boundaries(cp);
    struct boundaries *cu = boundaries_create(x->stream, mine.cu, mine.entries);
    bool ok = b != NULL;
    for (int i = 0; ok && i < 2 * cp; i++) {
        struct rank_rows rows;
        ok = thd_rank_indices(x->stream, cu, cp, i / 2, (enum layout)(i % 2), &rows, e);
        if (!ok)
            break;
        int64_t n = oracle_rows(&mine, cp, i / 2, (enum layout)(i % 2), want);
        if (n > 0)
            dev_download(x->stream, got, rows.v, (size_t)n * sizeof *got, SITE_HERE);
        ok = (rows.n == n && !memcmp(got, want, (size_t)n * sizeof *got)) || fail(e, ERR_FAIL, "rows of rank %d of %d differ", i / 2, cp);
        dev_free(x->device, rows.memory);
    }
    boundaries_close(cu);
    return ok;
}

TEST(rank_indices_match_the_oracle)
{
    PROP(30)
    {
        struct err e = {0};
        struct boundary_set none = {0};
        assert_ok(on_ranks(1, rank_rows_match, &none, &e), &e);
    }
}

UNIT_MAIN(UNIT(rows_and_gradients_of_both_routes), UNIT(random_rows_and_gradients), UNIT(naive_and_interval_lists_are_equal),
          UNIT(rank_indices_match_the_oracle))
