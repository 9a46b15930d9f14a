/* test_route_counts.c - what the routes announce: op rows, wait rows, ranges, clears, counted by a subscriber (spec D.3). */
#include "unit.h"

#include "kernels/layout/resolve.h"
#include "kernels/layout/route_naive.h"
#include "layout_ranks.h"
#include "schemas/activity.h"
#include "schemas/marker.h"

#include <pthread.h>

extern activity_subscribe_fn cpscope_activity_subscribe;

/* What happened on rank 0. */
enum { MAX_ROWS = 20000 };
static struct {
    pthread_mutex_t lock;
    struct activity row[MAX_ROWS];
    int n;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(void *ctx, const struct activity *a)
{
    (void)ctx;
    if (a->what != ACT_EVENT || a->rank != 0)
        return;
    pthread_mutex_lock(&seen.lock);
    if (seen.n < MAX_ROWS) {
        seen.row[seen.n] = *a;
        seen.row[seen.n].name = a->transient ? "transient" : a->name;
        seen.n++;
    }
    pthread_mutex_unlock(&seen.lock);
}

static bool is_op(const struct activity *a)
{
    return a->kind == EV_OP;
}

static bool is_wait(const struct activity *a)
{
    return a->kind == EV_RUNTIME && a->sync_class != SYNC_NONE;
}

/* Rows of a kind, at a function (NULL: all), of a name (NULL: all). */
static int count(bool (*is)(const struct activity *a), const char *function, const char *name)
{
    int n = 0;
    for (int i = 0; i < seen.n; i++) {
        const struct activity *a = &seen.row[i];
        n += is(a) && (!function || (a->site && !strcmp(a->site->function, function))) && (!name || !strcmp(a->name, name));
    }
    return n;
}

static int count_kind(enum ev_kind kind, const char *name)
{
    int n = 0;
    for (int i = 0; i < seen.n; i++)
        n += seen.row[i].kind == kind && (!name || !strcmp(seen.row[i].name, name));
    return n;
}

/* Is the host interval inside a range of this name? */
static bool inside(const struct activity *a, const char *range)
{
    for (int i = 0; i < seen.n; i++) {
        const struct activity *r = &seen.row[i];
        if (r->kind == EV_RANGE && !strcmp(r->name, range) && r->start <= a->start && a->end <= r->end)
            return true;
    }
    return false;
}

/* Many short sequences: every rank needs an index. */
static struct boundary_set short_sequences(int cp)
{
    return boundaries_of((int64_t[]){1, 1, 1, 1, 1, 1, 1}, 7, 2 * cp);
}

/* One micro-batch as a test wants it: `layers` layers, each converting both ways, then backward. */
struct plan {
    struct boundary_set set;
    enum route_kind kind;
    int layers;
    bool cached_boundaries, two_buffers;
    struct cache_stats routes, resolves; /* out, of rank 0 */
};

static bool layer(struct rank_env *x, const struct plan *t, struct packed_seqs *p, struct err *e)
{
    struct swap_ctx ctx = {x->comm, x->stream, p, t->kind};
    int64_t rows = t->set.cu[t->set.entries - 1] / x->cp;
    struct route *there = NULL, *back = NULL;
    if (!(t->cached_boundaries ? resolve_boundaries_cached(p, x->stream, x->cp, e) : resolve_boundaries(p, x->stream, x->cp, e)))
        return false;
    float *in = dev_alloc(x->device, (size_t)(2 * rows) * sizeof *in);
    dev_set_async(x->stream, in, 0, (size_t)(2 * rows) * sizeof *in);
    float *mid = swap_forward(&ctx, LAYOUT_ZIGZAG, in, rows, 2, &there, e);
    float *out = mid ? swap_forward(&ctx, LAYOUT_CONTIGUOUS, mid, rows, 2, &back, e) : NULL;
    if (out) {
        float *d_mid = swap_backward(&ctx, back, out, 2), *d_in = swap_backward(&ctx, there, d_mid, 2);
        swap_free(x->device, d_in, d_mid);
        swap_free(x->device, d_mid, out);
    }
    swap_free(x->device, out, mid);
    swap_free(x->device, mid, in);
    dev_free(x->device, in);
    route_release(there);
    route_release(back);
    return out;
}

static bool micro_batch(struct rank_env *x, struct err *e)
{
    struct plan *t = x->ctx;
    struct boundaries *q = boundaries_create(x->stream, t->set.cu, t->set.entries);
    struct boundaries *kv = t->two_buffers ? boundaries_create(x->stream, t->set.cu, t->set.entries) : q;
    struct packed_seqs p;
    packed_init(&p, q, kv, t->set.cu[t->set.entries - 1]);
    bool ok = t->kind != ROUTE_PREBUILT || route_prebuild(&p, x->stream, x->cp, x->rank, e);
    for (int i = 0; ok && i < t->layers; i++)
        ok = layer(x, t, &p, e);
    if (x->rank == 0) {
        t->routes = p.route_stats;
        t->resolves = p.resolve_stats;
    }
    packed_close(&p);
    boundaries_close(q);
    if (kv != q)
        boundaries_close(kv);
    return ok;
}

static void record(int cp, struct plan *t)
{
    struct err e = {0};
    seen.n = 0;
    assert_true(cpscope_activity_subscribe(ACTIVITY_VERSION, note, NULL));
    bool ok = on_ranks(cp, micro_batch, t, &e);
    cpscope_activity_subscribe(ACTIVITY_VERSION, NULL, NULL);
    assert_ok(ok, &e);
    assert_in_range(seen.n, 1, MAX_ROWS - 1);
}

static void expect(bool (*is)(const struct activity *a), const char *function, const char *name, int want)
{
    int got = count(is, function, name);
    if (got != want)
        fail_msg("%s %s: %d, want %d", function ? function : "all", name ? name : "all", got, want);
}

TEST(naive_route_reads_18c_plus_1_a_conversion)
{
    for (int c = 1; c <= 8; c *= 2)
        for (int layers = 1; layers <= 2; layers++) {
            struct plan t = {.set = oracle_set(3, c), .kind = ROUTE_NAIVE, .layers = layers};
            int n = c == 1 ? 0 : 2 * layers; /* conversions */
            record(c, &t);
            expect(is_op, "thd_rank_indices", NULL, n * 16 * c);
            expect(is_op, "thd_rank_indices", "item", n * 8 * c);
            expect(is_op, "thd_rank_indices", "is_nonzero", n * 4 * c);
            expect(is_op, "thd_rank_indices", "index", n * 4 * c);
            expect(is_op, "zigzag_contiguous_swap", NULL, n * (2 * c + 1));
            expect(is_op, "zigzag_contiguous_swap", "nonzero", n * c);
            expect(is_op, "zigzag_contiguous_swap", "index", n * c);
            expect(is_op, "zigzag_contiguous_swap", "item", n);
            expect(is_op, "resolve_cu_seqlens", NULL, layers * 6);
            expect(is_op, NULL, NULL, n * (18 * c + 1) + layers * 6);
            expect(is_wait, "thd_rank_indices", NULL, n * 12 * c);
            expect(is_wait, "zigzag_contiguous_swap", NULL, n * (2 * c + 1));
            expect(is_wait, NULL, NULL, n * (14 * c + 1) + layers * 4);
            assert_int_equal(count_kind(EV_RANGE, RANGE_THD_ROUTE), n);
            assert_int_equal(count_kind(EV_COMM, NULL), 2 * n);
            assert_true(c == 1 || count_kind(EV_MEMSET, NULL) > layers + 4 * n);
            if (layers == 1)
                print_message("# cp %d: %d kernels, %d memsets for %d naive conversions and their backward\n", c, count_kind(EV_KERNEL, NULL),
                              count_kind(EV_MEMSET, NULL), n);
        }
}

TEST(interval_route_reads_once_a_direction)
{
    for (int c = 1; c <= 8; c *= 2) {
        struct plan t = {.set = short_sequences(c), .kind = ROUTE_INTERVAL, .layers = 3};
        bool moves = c > 1;
        record(c, &t);
        expect(is_op, "resolve_cu_seqlens", NULL, 3 * 6);
        expect(is_op, NULL, NULL, 3 * 6);
        expect(is_wait, "route_build", NULL, moves ? 4 : 0); /* the boundaries down, an index up */
        expect(is_wait, NULL, NULL, (moves ? 4 : 0) + 3 * 4);
        assert_int_equal(count_kind(EV_RANGE, RANGE_THD_ROUTE), moves ? 2 : 0);
        assert_int_equal(count_kind(EV_RANGE, RANGE_THD_PREFIX "route/zigzag_to_contiguous"), moves);
        assert_int_equal(count_kind(EV_RANGE, RANGE_THD_PREFIX "swap/zigzag_to_contiguous"), moves ? 6 : 0); /* 3 forward, 3 backward */
        assert_int_equal(count_kind(EV_RANGE, RANGE_THD_PREFIX "pack/contiguous_to_zigzag"), moves ? 6 : 0);
        assert_int_equal(count_kind(EV_COMM, NULL), moves ? 12 : 0);
        assert_int_equal(count_kind(EV_MEMSET, NULL), 3);
        assert_int_equal(t.routes.misses, moves ? 2 : 0);
        assert_int_equal(t.routes.hits, moves ? 4 : 0);
    }
}

/* A swap there and its gradient back: the ranges say which way the rows move. */
static bool one_conversion(struct rank_env *x, struct err *e)
{
    struct plan *t = x->ctx;
    struct boundaries *b = boundaries_create(x->stream, t->set.cu, t->set.entries);
    int64_t rows = t->set.cu[t->set.entries - 1] / x->cp;
    float *in = dev_alloc(x->device, (size_t)rows * sizeof *in);
    dev_set_async(x->stream, in, 0, (size_t)rows * sizeof *in);
    struct route *r = route_build(b, x->stream, x->cp, x->rank, LAYOUT_ZIGZAG, LAYOUT_CONTIGUOUS, e);
    for (int i = 0; r && i < 3; i++)
        dev_free(x->device, i < 2 ? route_apply(r, x->comm, x->stream, in, 1) : route_apply_transposed(r, x->comm, x->stream, in, 1));
    dev_free(x->device, in);
    boundaries_close(b);
    bool ok = r;
    route_release(r);
    return ok;
}

TEST(ranges_tell_the_direction)
{
    static const char *const parts[] = {"swap", "pack", "all_to_all", "scatter"};
    struct plan t = {.set = short_sequences(2)};
    struct err e = {0};
    seen.n = 0;
    assert_true(cpscope_activity_subscribe(ACTIVITY_VERSION, note, NULL));
    bool ok = on_ranks(2, one_conversion, &t, &e);
    cpscope_activity_subscribe(ACTIVITY_VERSION, NULL, NULL);
    assert_ok(ok, &e);
    for (int i = 0; i < 4; i++) {
        char there[80], back[80];
        snprintf(there, sizeof there, RANGE_THD_PREFIX "%s/zigzag_to_contiguous", parts[i]);
        snprintf(back, sizeof back, RANGE_THD_PREFIX "%s/contiguous_to_zigzag", parts[i]);
        assert_int_equal(count_kind(EV_RANGE, there), 2);
        assert_int_equal(count_kind(EV_RANGE, back), 1);
    }
}

/* One sequence is the identity on the first half of the ranks: nothing is uploaded there. */
TEST(an_identity_uploads_nothing)
{
    struct plan t = {.set = oracle_set(1, 4), .kind = ROUTE_INTERVAL, .layers = 1};
    record(4, &t);
    expect(is_wait, "route_build", NULL, 2);
}

TEST(prebuilt_routes_are_hits)
{
    struct plan t = {.set = short_sequences(4), .kind = ROUTE_PREBUILT, .layers = 3, .cached_boundaries = true};
    record(4, &t);
    expect(is_op, NULL, NULL, 6);
    expect(is_wait, "route_build", NULL, 4);
    expect(is_wait, NULL, NULL, 8); /* spec D.4: 8 a micro-batch */
    assert_int_equal(t.routes.hits, 6);
    assert_int_equal(t.routes.misses + t.routes.rebuilds + t.routes.uncached, 0);
    assert_string_equal(t.routes.reason, "-");
    assert_int_equal(t.resolves.misses, 1);
    assert_int_equal(t.resolves.hits, 2);
}

TEST(distinct_kv_boundaries_cost_one_item_more)
{
    struct plan t = {.set = oracle_set(3, 2), .kind = ROUTE_INTERVAL, .layers = 2, .two_buffers = true};
    record(2, &t);
    expect(is_op, "resolve_cu_seqlens", NULL, 2 * 7);
    expect(is_op, "resolve_cu_seqlens", "item", 2 * 5);
    expect(is_wait, "resolve_cu_seqlens", NULL, 2 * 5);
}

/* thd_route holds every host read of the derivation, and no exchange. */
TEST(the_route_range_holds_the_derivation_only)
{
    for (int kind = ROUTE_NAIVE; kind <= ROUTE_INTERVAL; kind++) {
        struct plan t = {.set = oracle_set(3, 4), .kind = (enum route_kind)kind, .layers = 1};
        int packs = 0;
        record(4, &t);
        for (int i = 0; i < seen.n; i++) {
            const struct activity *a = &seen.row[i];
            if (is_op(a) || is_wait(a))
                assert_int_equal(inside(a, RANGE_THD_ROUTE), strcmp(a->site->function, "resolve_cu_seqlens") != 0);
            if (a->kind == EV_RANGE && strstr(a->name, "/swap/")) {
                assert_false(inside(a, RANGE_THD_ROUTE));
                packs++;
            }
        }
        assert_int_equal(packs, 4);
    }
}

UNIT_MAIN(UNIT(naive_route_reads_18c_plus_1_a_conversion), UNIT(interval_route_reads_once_a_direction), UNIT(ranges_tell_the_direction),
          UNIT(an_identity_uploads_nothing), UNIT(prebuilt_routes_are_hits), UNIT(distinct_kv_boundaries_cost_one_item_more),
          UNIT(the_route_range_holds_the_derivation_only))
