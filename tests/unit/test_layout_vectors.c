/* test_layout_vectors.c - the reference-file forms of layouts, routes and metadata: right files pass, any wrong digit is noticed. */
#include "vector_judge.h"

extern const struct vector_form vec_layouts, vec_routes, vec_layout_rejects, vec_recurrent_cp_context;

/* One sequence of four tokens on two ranks: chunks of one token, rank 0 has 0 and 3. By hand. */
static const char layouts[] = "{\"doc\":\"\",\"cases\":[{\"name\":\"four\",\"cu_seqlens\":[0,4,4],\"cp\":2,\"total\":4,\"zigzag\":[[0,3],[1,2]],"
                              "\"contiguous\":[[0,1],[2,3]],\"zigzag_segments\":[[[0,1,0],[3,1,1]],[[1,1,0],[2,1,1]]]}]}";

/* Token 1 goes from rank 1 to rank 0, token 3 the other way; rank 1 gets 3 before 2. */
static const char routes[] =
    "{\"doc\":\"\",\"cases\":[{\"name\":\"four\",\"cu_seqlens\":[0,4],\"cp\":2,\"source\":\"zigzag\",\"target\":\"contiguous\",\"ranks\":["
    "{\"rank\":0,\"local_source_length\":2,\"local_target_length\":2,\"send_rows\":null,\"recv_rows\":null,\"input_split_sizes\":[1,1],"
    "\"output_split_sizes\":[1,1],\"rows_kept_local\":1},"
    "{\"rank\":1,\"local_source_length\":2,\"local_target_length\":2,\"send_rows\":null,\"recv_rows\":[1,0],\"input_split_sizes\":[1,1],"
    "\"output_split_sizes\":[1,1],\"rows_kept_local\":1}]}]}";

static const char recurrent[] =
    "[{\"cu_seqlens\":[0,5,12],\"cp\":3,\"ranks\":["
    "{\"rank\":0,\"local_cu\":[0,4],\"pre_conv_tokens\":0,\"pre_ranks\":0,\"post_ranks\":1,\"is_first\":true,\"is_last\":false},"
    "{\"rank\":1,\"local_cu\":[0,1,4],\"pre_conv_tokens\":4,\"pre_ranks\":1,\"post_ranks\":1,\"is_first\":false,\"is_last\":false},"
    "{\"rank\":2,\"local_cu\":[0,4],\"pre_conv_tokens\":3,\"pre_ranks\":1,\"post_ranks\":0,\"is_first\":false,\"is_last\":true}]}]";

static const char rejects[] =
    "[{\"cu_seqlens\":[0,10],\"cp\":2,\"reason\":\"not_divisible_by_2cp\"},{\"cu_seqlens\":[],\"cp\":2,\"reason\":\"empty\"},"
    "{\"cu_seqlens\":[0,8,4],\"cp\":2,\"reason\":\"decreasing\"},{\"cu_seqlens\":[4,8],\"cp\":2,\"reason\":"
    "\"does_not_start_at_zero\"},{\"cu_seqlens\":[0,8],\"cp\":2,\"rank\":5,\"reason\":\"bad_rank\"},"
    "{\"cu_seqlens\":[0,8],\"cp\":-1,\"reason\":\"bad_cp_size\"},"
    "{\"cu_seqlens\":[0,8],\"cp\":2,\"layout\":\"interleaved\",\"reason\":\"bad_layout\"}]";

TEST(right_files_pass)
{
    right(&vec_layouts, layouts, 1 + 2 * 5);
    right(&vec_routes, routes, 2 * (3 + 4 + 4));
    right(&vec_recurrent_cp_context, recurrent, 3 * 6);
    right(&vec_layout_rejects, rejects, 6 * 4 + 1);
}

/* A form takes its own kind of file only. */
TEST(forms_do_not_take_each_other)
{
    const struct vector_form *const forms[] = {&vec_layouts, &vec_routes, &vec_recurrent_cp_context, &vec_layout_rejects};
    const char *const texts[] = {layouts, routes, recurrent, rejects};
    for (int f = 0; f < 4; f++)
        for (int t = 0; t < 4; t++)
            assert_int_equal(judge(forms[f], texts[t]).taken, f == t);
    assert_false(judge(&vec_routes, "{\"doc\":\"\",\"cases\":[]}").taken);
    assert_false(judge(&vec_recurrent_cp_context, "[]").taken);
}

TEST(wrong_numbers_are_noticed)
{
    every_digit(&vec_layouts, layouts);
    every_digit(&vec_routes, routes);
    every_digit(&vec_recurrent_cp_context, recurrent);
}

static void wrong(const char *text, int rows, int bad)
{
    struct outcome o = judge(&vec_layout_rejects, text);
    assert_true(o.taken);
    assert_int_equal(o.rows, rows);
    assert_int_equal(o.bad, bad);
}

TEST(inputs_that_are_right_or_wrong_for_another_reason)
{
    wrong("[{\"cu_seqlens\":[0,8],\"cp\":2,\"reason\":\"not_divisible_by_2cp\"}]", 4, 4);
    wrong("[{\"cu_seqlens\":[0,10],\"cp\":2,\"reason\":\"decreasing\"}]", 4, 4);
    wrong("[{\"cu_seqlens\":[0,8],\"cp\":2,\"layout\":\"zigzag\",\"reason\":\"bad_layout\"}]", 2, 2);
    assert_false(judge(&vec_layout_rejects, "[{\"cu_seqlens\":[0,8],\"cp\":2,\"reason\":\"unheard_of\"}]").taken);
    assert_false(judge(&vec_layout_rejects, "[{\"cu_seqlens\":[0,\"8\"],\"cp\":2,\"reason\":\"empty\"}]").taken);
    assert_false(judge(&vec_layout_rejects, "[{\"cu_seqlens\":[0,8000000000],\"cp\":3,\"reason\":\"not_divisible_by_2cp\"}]").taken);
}

UNIT_MAIN(UNIT(right_files_pass), UNIT(forms_do_not_take_each_other), UNIT(wrong_numbers_are_noticed),
          UNIT(inputs_that_are_right_or_wrong_for_another_reason))
