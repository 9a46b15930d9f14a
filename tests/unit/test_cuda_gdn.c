/* test_cuda_gdn.c - the tests of test_gdn.c, run on the kernels of gdn*.cu. */
#define CASES_A_CASE 10
#include "cuda_launch.h"
#include "kernels/ops/gdn.h"

#define gdn_scan_prepare_cpu(...) cuda_launch("gdn_scan_prepare", (__VA_ARGS__))
#define gdn_scan_fwd_cpu(...) cuda_launch("gdn_scan_fwd", (__VA_ARGS__))
#define gdn_scan_bwd_cpu(...) cuda_launch("gdn_scan_bwd", (__VA_ARGS__))
#define gdn_summary_fwd_cpu(...) cuda_launch("gdn_summary_fwd", (__VA_ARGS__))
#define gdn_summary_bwd_cpu(...) cuda_launch("gdn_summary_bwd", (__VA_ARGS__))
#define gdn_summary_merge_cpu(...) cuda_launch("gdn_summary_merge", (__VA_ARGS__))

#define main gdn_main
#include "test_gdn.c"

/* Enough heads for blocks of 64 columns. */
TEST(wide_blocks_match_the_recurrence)
{
    static const int sizes[][5] = {{9, 2, 132, 5, 3}, {70, 1, 66, 67, 66}};
    PROP(20)
    {
        const int *s = sizes[prop_ % 2];
        struct problem p = {.T = s[0], .HK = s[1], .HV = s[2], .dk = s[3], .dv = s[4], .C = prop_ % 2 ? 64 : 4, .nseg = 2};
        draw(&p);
        compare(&p, 1e-5);
        arena_free(&p.a);
    }
}

#undef main
UNIT_MAIN(UNIT(chunks_match_the_recurrence), UNIT(large_heads_match_the_recurrence), UNIT(rows_may_be_part_of_wider_ones),
          UNIT(ranks_compose_to_the_whole), UNIT(repeats_are_bit_identical), UNIT(merge_of_two), UNIT(wide_blocks_match_the_recurrence))
