/* test_cache.c - when a remembered route or resolution may be used, and what is counted (spec D.6). */
#include "on_device.h"

#include "kernels/layout/resolve.h"
#include "layout_oracle.h"

/* cp and rank are only numbers for the route builder. */
static const int64_t first_cu[] = {0, 16, 48}, second_cu[] = {0, 32, 48};
enum { ENTRIES = 3, TOTAL = 48, CP = 2 };

/* The route must be the one of these boundaries, whatever the cache did. */
static void use(struct packed_seqs *p, const int64_t *cu, int cp, int rank, enum layout source)
{
    struct arena a = {0};
    struct route_plan want;
    struct route *r = route_get(p, stream, cp, rank, source, &e);
    if (!r)
        fail_msg("%s", e.msg);
    assert_ok(route_plan(&a, cu, ENTRIES, cp, rank, r->source, r->target, &want, &e), &e);
    assert_int_equal(r->cp, cp);
    assert_int_equal(r->rank, rank);
    assert_int_equal(r->source, source);
    assert_memory_equal(r->send_split, want.send_split, (size_t)cp * sizeof(int64_t));
    const int64_t *index = r->source == LAYOUT_ZIGZAG ? r->recv_index : r->send_index;
    const int64_t *rows = r->source == LAYOUT_ZIGZAG ? want.recv_rows : want.send_rows;
    assert_int_equal(!index, !rows);
    if (rows) {
        int64_t got[TOTAL];
        dev_download(stream, got, index, (size_t)want.rows * sizeof *got, SITE_HERE);
        assert_memory_equal(got, rows, (size_t)want.rows * sizeof *got);
    }
    route_release(r);
    arena_free(&a);
}

static void counted(const struct cache_stats *st, int hits, int misses, int rebuilds, int uncached, const char *reason)
{
    char got[200], want[200];
    snprintf(want, sizeof want, "cpscope.cache name=x hits=%d misses=%d rebuilds=%d uncached=%d reason=%s", hits, misses, rebuilds, uncached, reason);
    cache_stats_text(got, sizeof got, "x", st);
    assert_string_equal(got, want);
}

TEST(a_second_use_is_a_hit)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    counted(&p.route_stats, 0, 0, 0, 0, "-");
    use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 0, 1, 0, 0, "first-use");
    struct route *one = route_get(&p, stream, CP, 0, LAYOUT_ZIGZAG, &e), *two = route_get(&p, stream, CP, 0, LAYOUT_ZIGZAG, &e);
    assert_ptr_equal(one, two);
    counted(&p.route_stats, 2, 1, 0, 0, "first-use");
    packed_close(&p);
    assert_int_equal(one->rows, TOTAL / CP); /* a layer's saved route outlives the cache */
    route_release(one);
    route_release(two);
    boundaries_close(b);
}

TEST(directions_are_separate)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    for (int i = 0; i < 2; i++) {
        use(&p, first_cu, CP, 1, LAYOUT_ZIGZAG);
        use(&p, first_cu, CP, 1, LAYOUT_CONTIGUOUS);
    }
    counted(&p.route_stats, 2, 2, 0, 0, "first-use");
    packed_close(&p);
    boundaries_close(b);
}

TEST(a_replaced_buffer_rebuilds)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES), *other = boundaries_create(stream, second_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
    p.q = p.kv = other;
    use(&p, second_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 0, 1, 1, 0, "buffer-replaced");
    packed_close(&p);
    boundaries_close(b);
    boundaries_close(other);
}

TEST(an_in_place_refill_rebuilds)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
    boundaries_write(b, stream, 0, second_cu, ENTRIES);
    use(&p, second_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 0, 1, 1, 0, "written-in-place");
    use(&p, second_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 1, 1, 1, 0, "written-in-place");
    packed_close(&p);
    boundaries_close(b);
}

TEST(a_write_through_a_view_rebuilds)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES), *view = boundaries_view(b, 1, 1);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
    boundaries_write(view, stream, 0, second_cu + 1, 1);
    use(&p, second_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 0, 1, 1, 0, "written-in-place");
    assert_int_equal(boundaries_version(b), 1);
    assert_true(view->id != b->id);
    packed_close(&p);
    boundaries_close(b);
    boundaries_write(view, stream, 0, first_cu + 1, 1); /* the storage lives as long as a handle does */
    boundaries_close(view);
}

TEST(a_new_object_starts_empty)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p, next;
    packed_init(&p, b, b, TOTAL);
    use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
    packed_init(&next, b, b, TOTAL); /* the same buffer */
    use(&next, first_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&next.route_stats, 0, 1, 0, 0, "first-use");
    packed_close(&p);
    packed_close(&next);
    boundaries_close(b);
}

TEST(cp_and_rank_changes_rebuild)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    use(&p, first_cu, 4, 1, LAYOUT_ZIGZAG);
    use(&p, first_cu, 2, 1, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 0, 1, 1, 0, "cp-changed");
    use(&p, first_cu, 2, 0, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 0, 1, 2, 0, "rank-changed");
    packed_close(&p);
    boundaries_close(b);
}

TEST(padded_boundaries_that_appear_rebuild)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES), *padded = boundaries_create(stream, second_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
    assert_ok(resolve_boundaries_cached(&p, stream, CP, &e), &e);
    p.q_padded = p.kv_padded = padded;
    use(&p, second_cu, CP, 0, LAYOUT_ZIGZAG);
    assert_ok(resolve_boundaries_cached(&p, stream, CP, &e), &e);
    counted(&p.route_stats, 0, 1, 1, 0, "buffer-replaced");
    counted(&p.resolve_stats, 0, 1, 1, 0, "buffer-replaced");
    packed_close(&p);
    boundaries_close(b);
    boundaries_close(padded);
}

TEST(unversioned_is_never_cached)
{
    struct boundaries *b = boundaries_create_unversioned(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    assert_ok(route_prebuild(&p, stream, CP, 0, &e), &e);
    assert_null(p.routes[LAYOUT_ZIGZAG].route);
    for (int i = 0; i < 3; i++) {
        use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
        assert_ok(resolve_boundaries_cached(&p, stream, CP, &e), &e);
    }
    assert_null(p.routes[LAYOUT_ZIGZAG].route);
    boundaries_write(b, stream, 1, second_cu + 1, 1);
    use(&p, second_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 0, 0, 0, 4, "unversioned");
    counted(&p.resolve_stats, 0, 0, 0, 3, "unversioned");
    packed_close(&p);
    boundaries_close(b);
}

TEST(a_global_length_that_changed_is_refused)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
    assert_ok(resolve_boundaries_cached(&p, stream, CP, &e), &e);
    p.total = TOTAL + 8;
    assert_null(route_get(&p, stream, CP, 0, LAYOUT_ZIGZAG, &e));
    assert_string_equal(e.msg, "cu_seqlens ends at 48, the micro-batch has 56 tokens");
    for (int i = 0; i < 2; i++) { /* a failure is not kept */
        e = (struct err){0};
        assert_false(resolve_boundaries_cached(&p, stream, CP, &e));
        assert_string_equal(e.msg, "cu_seqlens_q ends at 48, the micro-batch has 56 tokens");
        assert_int_equal(e.kind, ERR_USAGE);
    }
    e = (struct err){0};
    p.total = TOTAL;
    assert_ok(resolve_boundaries_cached(&p, stream, CP, &e), &e);
    counted(&p.resolve_stats, 0, 2, 0, 0, "first-use");
    packed_close(&p);
    boundaries_close(b);
}

TEST(prebuild_fills_both_directions)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    assert_ok(route_prebuild(&p, stream, CP, 1, &e), &e);
    use(&p, first_cu, CP, 1, LAYOUT_ZIGZAG);
    use(&p, first_cu, CP, 1, LAYOUT_CONTIGUOUS);
    counted(&p.route_stats, 2, 0, 0, 0, "-");
    packed_close(&p);
    boundaries_close(b);
}

TEST(prebuild_for_one_rank_is_nothing)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    assert_ok(route_prebuild(&p, stream, 1, 0, &e), &e);
    assert_null(p.routes[LAYOUT_ZIGZAG].route);
    assert_null(p.routes[LAYOUT_CONTIGUOUS].route);
    assert_false(p.prebuilt);
    packed_close(&p);
    boundaries_close(b);
}

/* seeds/000 2.5: the object that carried the prebuilt routes is replaced after the embedding. */
TEST(a_repacked_object_loses_prebuilt_routes)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p, repacked, again;
    packed_init(&p, b, b, TOTAL);
    assert_ok(route_prebuild(&p, stream, CP, 0, &e), &e);
    packed_repack(&repacked, &p, b, b);
    use(&repacked, first_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&repacked.route_stats, 0, 1, 0, 0, "boundary-object-replaced");
    use(&repacked, first_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&repacked.route_stats, 1, 1, 0, 0, "boundary-object-replaced");
    packed_repack(&again, &repacked, b, b);
    use(&again, first_cu, CP, 0, LAYOUT_CONTIGUOUS);
    counted(&again.route_stats, 0, 1, 0, 0, "boundary-object-replaced");
    packed_close(&p);
    packed_close(&repacked);
    packed_close(&again);
    boundaries_close(b);
}

TEST(route_failures_are_not_cached)
{
    static const int64_t bad[] = {0, 18, 48};
    struct boundaries *b = boundaries_create(stream, bad, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    assert_null(route_get(&p, stream, CP, 0, LAYOUT_ZIGZAG, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    e = (struct err){0};
    boundaries_write(b, stream, 0, first_cu, ENTRIES);
    use(&p, first_cu, CP, 0, LAYOUT_ZIGZAG);
    counted(&p.route_stats, 0, 1, 0, 0, "first-use");
    packed_close(&p);
    boundaries_close(b);
}

static void resolve_refused(struct packed_seqs *p, int cp, const char *why)
{
    e = (struct err){0};
    assert_false(resolve_boundaries_cached(p, stream, cp, &e));
    assert_string_equal(e.msg, why);
    assert_int_equal(e.kind, ERR_USAGE);
    e = (struct err){0};
}

TEST(resolution_is_reused_and_renewed)
{
    struct boundaries *b = boundaries_create(stream, first_cu, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, b, b, TOTAL);
    for (int i = 0; i < 3; i++)
        assert_ok(resolve_boundaries_cached(&p, stream, CP, &e), &e);
    counted(&p.resolve_stats, 2, 1, 0, 0, "first-use");
    assert_ok(resolve_boundaries_cached(&p, stream, 4, &e), &e);
    counted(&p.resolve_stats, 2, 1, 1, 0, "cp-changed");
    boundaries_write(b, stream, 1, second_cu + 1, 1);
    assert_ok(resolve_boundaries_cached(&p, stream, 4, &e), &e);
    counted(&p.resolve_stats, 2, 1, 2, 0, "written-in-place");
    packed_close(&p);
    boundaries_close(b);
}

TEST(a_later_q_kv_mismatch_is_detected)
{
    struct boundaries *q = boundaries_create(stream, first_cu, ENTRIES), *kv = boundaries_create(stream, first_cu, ENTRIES);
    struct boundaries *shorter = boundaries_create(stream, (int64_t[]){0, TOTAL}, 2), *view = boundaries_view(q, 0, ENTRIES);
    struct packed_seqs p;
    packed_init(&p, q, kv, TOTAL);
    assert_ok(resolve_boundaries_cached(&p, stream, CP, &e), &e);
    boundaries_write(kv, stream, 0, second_cu, ENTRIES);
    resolve_refused(&p, CP, "cu_seqlens_kv[1] is 32, cu_seqlens_q has 16: must be equal");
    p.kv = shorter;
    resolve_refused(&p, CP, "cu_seqlens_kv has 2 entries, cu_seqlens_q 3: must be equal");
    p.kv = view; /* the same memory */
    assert_ok(resolve_boundaries_cached(&p, stream, CP, &e), &e);
    packed_close(&p);
    boundaries_close(q);
    boundaries_close(kv);
    boundaries_close(shorter);
    boundaries_close(view);
}

TEST(resolution_names_the_length)
{
    struct boundaries *b = boundaries_create(stream, (int64_t[]){0, 8, 14}, 3), *none = boundaries_create(stream, first_cu, 0);
    struct packed_seqs p;
    packed_init(&p, b, b, 14);
    resolve_refused(&p, 4, "cu_seqlens_q[2] ends a sequence of 6 tokens: not a multiple of cp = 4, pad it");
    resolve_refused(&p, 0, "cp size 0: want at least 1");
    p.kv = none;
    resolve_refused(&p, 2, "cu_seqlens_kv is empty: want a leading 0 and an end per sequence");
    packed_close(&p);
    boundaries_close(b);
    boundaries_close(none);
}

UNIT_MAIN(ON_DEVICE(a_second_use_is_a_hit), ON_DEVICE(directions_are_separate), ON_DEVICE(a_replaced_buffer_rebuilds),
          ON_DEVICE(an_in_place_refill_rebuilds), ON_DEVICE(a_write_through_a_view_rebuilds), ON_DEVICE(a_new_object_starts_empty),
          ON_DEVICE(cp_and_rank_changes_rebuild), ON_DEVICE(padded_boundaries_that_appear_rebuild), ON_DEVICE(unversioned_is_never_cached),
          ON_DEVICE(a_global_length_that_changed_is_refused), ON_DEVICE(prebuild_fills_both_directions), ON_DEVICE(prebuild_for_one_rank_is_nothing),
          ON_DEVICE(a_repacked_object_loses_prebuilt_routes), ON_DEVICE(route_failures_are_not_cached), ON_DEVICE(resolution_is_reused_and_renewed),
          ON_DEVICE(a_later_q_kv_mismatch_is_detected), ON_DEVICE(resolution_names_the_length))
