/* prefix_split.c - the pieces of the contiguous split, as cumulative lengths. */
#include "kernels/layout/prefix_split.h"
#include "kernels/layout/attn_plan.h"

bool prefix_split(struct arena *a, const int64_t *cu, int64_t entries, int cp, int rank, struct prefix_split *out, struct err *e)
{
    struct attn_plan plan;
    if (!attn_plan_make(a, cu, entries, &(struct attn_place){.split = SPLIT_CONTIGUOUS, .cp = cp, .rank = rank}, &plan, e))
        return false;
    *out = (struct prefix_split){.cu_q = arena_array(a, int64_t, plan.npieces + 1),
                                 .cu_k = arena_array(a, int64_t, plan.npieces + 1),
                                 .sequences = plan.npieces,
                                 .k_start = plan.npieces ? plan.pieces[0].k : 0};
    out->k_end = out->k_start;
    for (int64_t i = 0; i < plan.npieces; i++) {
        const struct attn_piece *p = &plan.pieces[i];
        out->cu_q[i + 1] = out->cu_q[i] + p->qlen;
        out->cu_k[i + 1] = out->cu_k[i] + p->klen;
        out->k_end += p->klen;
        out->max_q = p->qlen > out->max_q ? p->qlen : out->max_q;
        out->max_k = p->klen > out->max_k ? p->klen : out->max_k;
    }
    return true;
}
