/* test_cuda_gdn_state.c - the tests of test_gdn_state.c, run on the kernels of gdn*.cu. */
#include "cuda_launch.h"
#include "kernels/ops/gdn_state.h"

#define gdn_scan_prepare_cpu(...) cuda_launch("gdn_scan_prepare", (__VA_ARGS__))
#define gdn_summary_fwd_cpu(...) cuda_launch("gdn_summary_fwd", (__VA_ARGS__))
#define gdn_summary_merge_cpu(...) cuda_launch("gdn_summary_merge", (__VA_ARGS__))
#define gdn_summary_grad_cpu(...) cuda_launch("gdn_summary_grad", (__VA_ARGS__))
#define gdn_map_compose_cpu(...) cuda_launch("gdn_map_compose", (__VA_ARGS__))
#define gdn_map_turn_cpu(...) cuda_launch("gdn_map_turn", (__VA_ARGS__))
#define gdn_map_outer_cpu(...) cuda_launch("gdn_map_outer", (__VA_ARGS__))
#define gdn_merge_grad_cpu(...) cuda_launch("gdn_merge_grad", (__VA_ARGS__))

#include "test_gdn_state.c"
