/* test_ivl.c - interval sets against the same sets written down bit by bit. */
#include "analyzer/ivl.h"
#include "unit.h"

enum { SPAN = 60, MOST = 12 };

static struct ivlset random_set(struct arena *a, bool bits[SPAN])
{
    size_t n = rnd(MOST + 1);
    struct ivl *v = arena_array(a, struct ivl, n);
    for (size_t i = 0; i < n; i++) {
        v[i].start = (int64_t)rnd(SPAN);
        v[i].end = v[i].start + (int64_t)rnd(14) - 3; /* empty and reversed ones too */
        if (v[i].end > SPAN)
            v[i].end = SPAN;
        for (int64_t b = v[i].start; b < v[i].end; b++)
            bits[b] = true;
    }
    return ivl_from(v, n);
}

static void assert_same(struct ivlset x, const bool bits[SPAN])
{
    bool got[SPAN] = {0};
    int64_t before = INT64_MIN;
    for (size_t i = 0; i < x.n; i++) {
        assert_true(x.v[i].start < x.v[i].end);
        assert_true(x.v[i].start > before); /* sorted, disjoint, not touching */
        before = x.v[i].end;
        for (int64_t b = x.v[i].start; b < x.v[i].end; b++)
            got[b] = true;
    }
    assert_memory_equal(got, bits, sizeof got);
}

static int64_t count(const bool bits[SPAN], int64_t from, int64_t to)
{
    int64_t n = 0;
    for (int64_t b = from < 0 ? 0 : from; b < to && b < SPAN; b++)
        n += bits[b];
    return n;
}

TEST(ivl_matches_bitmap)
{
    PROP(4000)
    {
        struct arena a = {0};
        bool bx[SPAN] = {0}, by[SPAN] = {0}, both[SPAN], either[SPAN], less[SPAN];
        struct ivlset x = random_set(&a, bx), y = random_set(&a, by);
        for (int i = 0; i < SPAN; i++) {
            both[i] = bx[i] && by[i];
            either[i] = bx[i] || by[i];
            less[i] = bx[i] && !by[i];
        }
        assert_same(x, bx);
        assert_same(ivl_and(&a, x, y), both);
        assert_same(ivl_or(&a, x, y), either);
        assert_same(ivl_sub(&a, x, y), less);
        assert_int_equal(ivl_len(x), count(bx, 0, SPAN));
        assert_same(x, bx); /* inputs are not changed */
        arena_free(&a);
    }
}

TEST(ivl_within_and_touches_match_bitmap)
{
    PROP(4000)
    {
        struct arena a = {0};
        bool bits[SPAN] = {0};
        struct ivlset x = random_set(&a, bits);
        int64_t from = (int64_t)rnd(SPAN + 6) - 3, to = from + (int64_t)rnd(12);
        assert_int_equal(ivl_within(x, from, to), count(bits, from, to));
        bool point = (from >= 0 && from < SPAN && bits[from]) || (from >= 1 && from <= SPAN && bits[from - 1]);
        assert_int_equal(ivl_touches(x, from, to), to > from ? count(bits, from, to) > 0 : point);
        size_t i = ivl_find(x, from);
        assert_true(i == x.n || x.v[i].end > from);
        assert_true(i == 0 || x.v[i - 1].end <= from);
        arena_free(&a);
    }
}

TEST(ivl_one_is_empty_when_reversed)
{
    struct arena a = {0};
    assert_int_equal(ivl_one(&a, 5, 5).n, 0);
    assert_int_equal(ivl_one(&a, 6, 5).n, 0);
    assert_int_equal(ivl_len(ivl_one(&a, INT64_C(-4), 5)), 9);
    arena_free(&a);
}

UNIT_MAIN(UNIT(ivl_matches_bitmap), UNIT(ivl_within_and_touches_match_bitmap), UNIT(ivl_one_is_empty_when_reversed))
