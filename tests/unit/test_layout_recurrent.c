/* test_layout_recurrent.c - B.3's metadata against a walk over the tokens, and its rejections. */
#include "unit.h"

#include "kernels/layout/recurrent.h"

/* sequence[t] of every token. */
static void sequence_of_tokens(const int64_t *cu, int64_t entries, int *sequence)
{
    for (int64_t i = 0; i + 1 < entries; i++)
        for (int64_t t = cu[i]; t < cu[i + 1]; t++)
            sequence[t] = (int)i;
}

static int64_t ranks_with(const int *sequence, int which, int64_t rows, int from, int to)
{
    int64_t n = 0;
    for (int r = from; r < to; r++) {
        bool has = false;
        for (int64_t t = r * rows; t < (r + 1) * rows; t++)
            has = has || sequence[t] == which;
        n += has;
    }
    return n;
}

static void same_context(const int64_t *cu, int64_t entries, int cp, int rank)
{
    static int sequence[4096];
    struct arena a = {0};
    struct err e = {0};
    struct recurrent got;
    int64_t rows = cu[entries - 1] / cp, begin = rank * rows, end = begin + rows, n = 0, before = 0;
    sequence_of_tokens(cu, entries, sequence);
    assert_ok(recurrent_context(&a, cu, entries, cp, rank, 0, &got, &e), &e);
    assert_int_equal(got.rows, rows);
    for (int64_t t = begin; t < end; t++)
        if (t == begin || sequence[t] != sequence[t - 1])
            assert_int_equal(got.local_cu[n++], t - begin);
    assert_int_equal(got.segments, n);
    assert_int_equal(got.local_cu[n], rows);
    for (int64_t t = 0; t < begin; t++)
        before += sequence[t] == sequence[begin];
    assert_int_equal(got.pre_conv_tokens, before);
    assert_int_equal(got.pre_ranks, ranks_with(sequence, sequence[begin], rows, 0, rank));
    assert_int_equal(got.post_ranks, ranks_with(sequence, sequence[end - 1], rows, rank + 1, cp));
    assert_int_equal(got.is_first, got.pre_ranks == 0);
    assert_int_equal(got.is_last, got.post_ranks == 0);
    arena_free(&a);
}

TEST(random_contexts_match_the_walk)
{
    PROP(500)
    {
        int64_t cu[10] = {0}, entries = 2 + (int64_t)rnd(8);
        int cp = 1 + (int)rnd(8);
        for (int64_t i = 1; i < entries; i++)
            cu[i] = cu[i - 1] + (int64_t)(rnd(4) ? rnd(30) : 0);
        cu[entries - 1] += cp - cu[entries - 1] % cp; /* divisible, and at least one a rank */
        same_context(cu, entries, cp, (int)rnd((uint64_t)cp));
    }
}

/* The worked check of B.3. */
TEST(context_of_the_worked_example)
{
    static const int64_t cu[] = {0, 5, 12}, local[] = {0, 1, 4};
    struct arena a = {0};
    struct err e = {0};
    struct recurrent x;
    assert_ok(recurrent_context(&a, cu, 3, 3, 1, 4, &x, &e), &e);
    assert_memory_equal(x.local_cu, local, sizeof local);
    assert_int_equal(x.segments, 2);
    assert_int_equal(x.pre_conv_tokens, 4);
    assert_int_equal(x.pre_ranks, 1);
    assert_int_equal(x.post_ranks, 1);
    arena_free(&a);
}

static void rejected(const int64_t *cu, int64_t entries, int cp, int rank, int width, const char *why)
{
    struct arena a = {0};
    struct err e = {0};
    struct recurrent x;
    if (recurrent_context(&a, cu, entries, cp, rank, width, &x, &e))
        fail_msg("taken, should be refused: %s", why);
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, why);
    arena_free(&a);
}

TEST(rejections_name_field_and_value)
{
    rejected((int64_t[]){0, 10}, 2, 3, 0, 4, "10 tokens are not a multiple of cp = 3");
    rejected((int64_t[]){0, 14}, 2, 4, 0, 4, "14 tokens are not a multiple of cp = 4");
    rejected((int64_t[]){0, 2}, 2, 3, 0, 4, "2 tokens for cp = 3: want at least one a rank");
    rejected((int64_t[]){0, 8}, 2, 4, 0, 4, "2 rows a rank are fewer than the conv width less one (3): the halo would span two ranks");
    rejected((int64_t[]){1, 8}, 2, 4, 0, 4, "cu_seqlens[0] is 1: must be 0");
    rejected((int64_t[]){0, 8, 4}, 3, 2, 0, 4, "cu_seqlens[2] is 4, after 8: must not decrease");
    rejected((int64_t[]){0}, 0, 2, 0, 4, "cu_seqlens is empty: want a leading 0 and an end per sequence");
    rejected((int64_t[]){0, 8}, 2, 0, 0, 4, "cp size 0: want at least 1");
    rejected((int64_t[]){0, 8}, 2, 2, 2, 4, "cp rank 2: want 0 to 1");
}

/* Exactly W - 1 rows a rank are enough; a single rank needs no halo. */
TEST(smallest_shard)
{
    struct arena a = {0};
    struct err e = {0};
    struct recurrent x;
    assert_ok(recurrent_context(&a, (int64_t[]){0, 12}, 2, 4, 0, 4, &x, &e), &e);
    assert_ok(recurrent_context(&a, (int64_t[]){0, 1}, 2, 1, 0, 4, &x, &e), &e);
    arena_free(&a);
}

UNIT_MAIN(UNIT(random_contexts_match_the_walk), UNIT(context_of_the_worked_example), UNIT(rejections_name_field_and_value), UNIT(smallest_shard))
