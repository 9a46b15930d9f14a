/* mode_gdn_chunkwise_native.c - gdn.chunkwise where tokens come cut evenly already: no conversion, lengths are free (spec C.2).
 *
 *   rank 0 [.......] rank 1 [.......] rank 2 [.......]      halo rows and (S, M) summaries to everybody
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"

GDN_SHARD_MODE(gdn_links_all)

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    gdn_expect_flops(x, s, (double)shape_rows(s), (double)s->vheads);
    gdn_shard_expect_flops(x, s, rank, false);
    if (s->cp == 1)
        return;
    expect_comm(x, "all_gather", gdn_shard_calls(s), gdn_shard_calls(s) * gdn_shard_map_bytes(s));
    gdn_shard_expect_halo(x, s, rank, false);
}

const struct cp_mode mode_gdn_chunkwise_native = {
    .name = "gdn.chunkwise.native",
    .op = OP_GDN,
    .entry_layout = LAYOUT_CONTIGUOUS,
    .what = "contiguous shards: exchange halo rows and (S, M) summaries, scan locally",
    .check = gdn_shard_check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
