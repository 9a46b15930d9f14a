/* recurrent.c - B.3's metadata from the boundaries, on the host. */
#include "kernels/layout/recurrent.h"

#include <inttypes.h>

static bool check_boundaries(const int64_t *cu, int64_t entries, struct err *e)
{
    if (entries < 1)
        return fail(e, ERR_USAGE, "cu_seqlens is empty: want a leading 0 and an end per sequence");
    if (cu[0] != 0)
        return fail(e, ERR_USAGE, "cu_seqlens[0] is %" PRId64 ": must be 0", cu[0]);
    for (int64_t i = 1; i < entries; i++)
        if (cu[i] < cu[i - 1])
            return fail(e, ERR_USAGE, "cu_seqlens[%" PRId64 "] is %" PRId64 ", after %" PRId64 ": must not decrease", i, cu[i], cu[i - 1]);
    return true;
}

static bool check_cut(int64_t total, int cp, int rank, int conv_width, struct err *e)
{
    if (cp < 1)
        return fail(e, ERR_USAGE, "cp size %d: want at least 1", cp);
    if (rank < 0 || rank >= cp)
        return fail(e, ERR_USAGE, "cp rank %d: want 0 to %d", rank, cp - 1);
    if (total < cp)
        return fail(e, ERR_USAGE, "%" PRId64 " tokens for cp = %d: want at least one a rank", total, cp);
    if (total % cp)
        return fail(e, ERR_USAGE, "%" PRId64 " tokens are not a multiple of cp = %d", total, cp);
    if (cp > 1 && total / cp < conv_width - 1)
        return fail(e, ERR_USAGE, "%" PRId64 " rows a rank are fewer than the conv width less one (%d): the halo would span two ranks", total / cp,
                    conv_width - 1);
    return true;
}

bool recurrent_context(struct arena *a, const int64_t *cu, int64_t entries, int cp, int rank, int conv_width, struct recurrent *out, struct err *e)
{
    if (!check_boundaries(cu, entries, e) || !check_cut(cu[entries - 1], cp, rank, conv_width, e))
        return false;
    int64_t rows = cu[entries - 1] / cp, begin = rank * rows, end = begin + rows, first_start = 0, last_end = 0;
    *out = (struct recurrent){.rows = rows, .local_cu = arena_array(a, int64_t, entries + 1)};
    for (int64_t i = 1; i < entries; i++) {
        if (cu[i - 1] <= begin)
            first_start = cu[i - 1];
        if (cu[i] <= begin || cu[i - 1] >= end || cu[i] == cu[i - 1])
            continue;
        last_end = cu[i];
        out->local_cu[++out->segments] = (cu[i] < end ? cu[i] : end) - begin;
    }
    out->pre_conv_tokens = begin - first_start;
    out->pre_ranks = rank - (int)(first_start / rows);
    out->post_ranks = (int)((last_end - 1) / rows) - rank;
    out->is_first = out->pre_ranks == 0;
    out->is_last = out->post_ranks == 0;
    return true;
}
