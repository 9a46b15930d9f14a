/* test_layout.c - layouts and route plans against the token-by-token oracle; what D.2 rejects. */
#include "unit.h"

#include "kernels/layout/route.h"
#include "layout_oracle.h"

static void same_rows(const struct boundary_set *b, int cp, int rank, enum layout l)
{
    static int64_t want[ORACLE_MAX_TOKENS];
    struct arena a = {0};
    struct packing p;
    struct err e = {0};
    assert_ok(packing_check(&a, b->cu, b->entries, cp, rank, l, &p, &e), &e);
    int64_t n = oracle_rows(b, cp, rank, l, want), *got = layout_rows(&a, &p, cp, rank, l), local = 0;
    assert_int_equal(n, p.total / cp);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(got[i], want[i]);
    struct segments x = layout_segments(&a, &p, cp, rank, l);
    assert_int_equal(x.n, l == LAYOUT_ZIGZAG ? 2 * p.sequences : p.total > 0);
    for (int64_t i = 0; i < x.n; i++, local += x.v[i - 1].length)
        assert_int_equal(x.v[i].local, local); /* runs follow each other */
    assert_int_equal(local, n);
    arena_free(&a);
}

TEST(layouts_match_the_oracle)
{
    for (int cp = 1; cp <= 8; cp *= 2)
        for (int which = 0; which < ORACLE_SETS; which++)
            for (int rank = 0; rank < cp; rank++) {
                struct boundary_set b = oracle_set(which, cp);
                same_rows(&b, cp, rank, LAYOUT_ZIGZAG);
                same_rows(&b, cp, rank, LAYOUT_CONTIGUOUS);
            }
}

TEST(random_layouts_match_the_oracle)
{
    PROP(300)
    {
        int cp = 1 + (int)rnd(8);
        struct boundary_set b = random_boundaries(cp);
        same_rows(&b, cp, (int)rnd((uint64_t)cp), LAYOUT_ZIGZAG);
        same_rows(&b, cp, (int)rnd((uint64_t)cp), LAYOUT_CONTIGUOUS);
    }
}

/* All ranks' plans at once: every rank's tokens are packed, exchanged and scattered by hand. */
static void plans_move_every_token(const struct boundary_set *b, int cp, enum layout source, enum layout target)
{
    static int64_t rows[ORACLE_MAX_TOKENS], got[ORACLE_MAX_TOKENS];
    struct arena a = {0};
    struct err e = {0};
    struct route_plan plan[8];
    for (int r = 0; r < cp; r++)
        assert_ok(route_plan(&a, b->cu, b->entries, cp, r, source, target, &plan[r], &e), &e);
    for (int d = 0; d < cp; d++) {
        int64_t at = 0;
        for (int s = 0; s < cp; s++) {
            assert_int_equal(plan[s].send_split[d], plan[d].recv_split[s]); /* the two ends agree */
            int64_t first = 0;
            oracle_rows(b, cp, s, source, rows);
            for (int k = 0; k < d; k++)
                first += plan[s].send_split[k];
            for (int64_t k = first; k < first + plan[s].send_split[d]; k++, at++)
                got[plan[d].recv_rows ? plan[d].recv_rows[at] : at] = rows[plan[s].send_rows ? plan[s].send_rows[k] : k];
        }
        int64_t n = oracle_rows(b, cp, d, target, rows);
        assert_int_equal(at, n);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(got[i], rows[i]);
        assert_true(!(source == LAYOUT_ZIGZAG ? plan[d].send_rows : plan[d].recv_rows)); /* the zigzag side is the identity */
    }
    arena_free(&a);
}

TEST(plans_match_the_oracle)
{
    for (int cp = 1; cp <= 8; cp *= 2)
        for (int which = 0; which < ORACLE_SETS; which++) {
            struct boundary_set b = oracle_set(which, cp);
            plans_move_every_token(&b, cp, LAYOUT_ZIGZAG, LAYOUT_CONTIGUOUS);
            plans_move_every_token(&b, cp, LAYOUT_CONTIGUOUS, LAYOUT_ZIGZAG);
        }
}

TEST(random_plans_match_the_oracle)
{
    PROP(300)
    {
        int cp = 1 + (int)rnd(8);
        struct boundary_set b = random_boundaries(cp);
        plans_move_every_token(&b, cp, LAYOUT_ZIGZAG, LAYOUT_CONTIGUOUS);
        plans_move_every_token(&b, cp, LAYOUT_CONTIGUOUS, LAYOUT_ZIGZAG);
    }
}

/* The worked example of D.5. */
TEST(plan_of_the_worked_example)
{
    static const int64_t cu[] = {0, 16, 40}, split[2][2] = {{12, 8}, {8, 12}};
    static const int64_t recv[2][20] = {{0, 1, 2, 3, 12, 13, 14, 15, 16, 17, 18, 19, 4, 5, 6, 7, 8, 9, 10, 11},
                                        {0, 1, 14, 15, 16, 17, 18, 19, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}};
    for (int r = 0; r < 2; r++) {
        struct arena a = {0};
        struct err e = {0};
        struct route_plan to, from;
        assert_ok(route_plan(&a, cu, 3, 2, r, LAYOUT_ZIGZAG, LAYOUT_CONTIGUOUS, &to, &e), &e);
        assert_ok(route_plan(&a, cu, 3, 2, r, LAYOUT_CONTIGUOUS, LAYOUT_ZIGZAG, &from, &e), &e);
        assert_memory_equal(to.recv_rows, recv[r], sizeof recv[r]);
        assert_memory_equal(from.send_rows, recv[r], sizeof recv[r]);
        assert_null(to.send_rows);
        assert_null(from.recv_rows);
        assert_memory_equal(to.send_split, split[r], sizeof split[r]);
        assert_memory_equal(to.recv_split, split[r], sizeof split[r]);
        arena_free(&a);
    }
}

/* The share of rows that leave their rank, for one long sequence (spec C, common). */
TEST(rows_kept_of_one_sequence)
{
    for (int cp = 2; cp <= 8; cp *= 2) {
        int64_t cu[] = {0, 2 * cp * 8}, kept = 0;
        for (int r = 0; r < cp; r++) {
            struct arena a = {0};
            struct err e = {0};
            struct route_plan plan;
            assert_ok(route_plan(&a, cu, 2, cp, r, LAYOUT_ZIGZAG, LAYOUT_CONTIGUOUS, &plan, &e), &e);
            kept += plan.send_split[r];
            arena_free(&a);
        }
        assert_int_equal(kept * cp, cu[1]);
    }
}

static void rejected(const int64_t *cu, int64_t entries, int cp, int rank, enum layout source, enum layout target, const char *why)
{
    struct arena a = {0};
    struct err e = {0};
    struct route_plan plan;
    if (route_plan(&a, cu, entries, cp, rank, source, target, &plan, &e))
        fail_msg("taken, should be refused: %s", why);
    assert_int_equal(e.kind, ERR_USAGE);
    if (strcmp(e.msg, why))
        fail_msg("\"%s\", want \"%s\"", e.msg, why);
    arena_free(&a);
}

TEST(rejections_name_field_and_value)
{
    enum layout z = LAYOUT_ZIGZAG, c = LAYOUT_CONTIGUOUS;
    rejected((int64_t[]){0, 12}, 2, 4, 0, z, c, "cu_seqlens[1] ends a sequence of 12 tokens: not a multiple of 2 * cp = 8, pad it");
    rejected((int64_t[]){0, 10}, 2, 2, 0, c, z, "cu_seqlens[1] ends a sequence of 10 tokens: not a multiple of 2 * cp = 4, pad it");
    rejected((int64_t[]){0, 4, 9}, 3, 2, 1, z, c, "cu_seqlens[2] ends a sequence of 5 tokens: not a multiple of 2 * cp = 4, pad it");
    rejected((int64_t[]){8, 16}, 2, 2, 0, z, c, "cu_seqlens[0] is 8: must be 0");
    rejected((int64_t[]){0, 16, 8}, 3, 2, 0, z, c, "cu_seqlens[2] is 8, after 16: must not decrease");
    rejected((int64_t[]){0}, 0, 2, 0, z, c, "cu_seqlens is empty: want a leading 0 and an end per sequence");
    rejected((int64_t[]){0, 16}, 2, 0, 0, z, c, "cp size 0: want at least 1");
    rejected((int64_t[]){0, 16}, 2, 2, 2, z, c, "cp rank 2: want 0 to 1");
    rejected((int64_t[]){0, 16}, 2, 2, -1, z, c, "cp rank -1: want 0 to 1");
    rejected((int64_t[]){0, 16}, 2, 2, 0, z, z, "source and target layout are both zigzag: want zigzag to contiguous or back");
    rejected((int64_t[]){0, 16}, 2, 2, 0, (enum layout)7, c, "layout number 7: want zigzag or contiguous");
}

TEST(layout_names)
{
    struct err e = {0};
    enum layout l;
    for (int i = 0; i < LAYOUT_COUNT; i++) {
        assert_ok(layout_from_name(layout_name((enum layout)i), &l, &e), &e);
        assert_int_equal(l, i);
    }
    assert_false(layout_from_name("interleaved", &l, &e));
    assert_string_equal(e.msg, "layout interleaved: want zigzag or contiguous");
}

/* Sizes judged by the runtime cp: legal for 2, not for 8. */
TEST(the_runtime_cp_decides)
{
    static const int64_t cu[] = {0, 12, 16};
    struct arena a = {0};
    struct err e = {0};
    struct packing p;
    assert_ok(packing_check(&a, cu, 3, 2, 0, LAYOUT_ZIGZAG, &p, &e), &e);
    assert_false(packing_check(&a, cu, 3, 8, 0, LAYOUT_ZIGZAG, &p, &e));
    arena_free(&a);
}

UNIT_MAIN(UNIT(layouts_match_the_oracle), UNIT(random_layouts_match_the_oracle), UNIT(plans_match_the_oracle), UNIT(random_plans_match_the_oracle),
          UNIT(plan_of_the_worked_example), UNIT(rows_kept_of_one_sequence), UNIT(rejections_name_field_and_value), UNIT(layout_names),
          UNIT(the_runtime_cp_decides))
