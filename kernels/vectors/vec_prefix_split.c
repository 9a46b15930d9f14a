/* vec_prefix_split.c - cumulative lengths and key range of every rank under an even cut. */
#include "kernels/layout/prefix_split.h"
#include "kernels/vectors/case_list.h"

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"cu_seqlens", "cp", "ranks", NULL}, *const rank_keys[] = {"cu_q", "cu_k", "k_slice", NULL};
    const struct jtree *first = jtree_is_array(root) ? jtree_at(root, 0) : NULL;
    return vec_has(first, keys) && vec_has(jtree_at(jtree_get(first, "ranks"), 0), rank_keys);
}

static bool run_rank(const struct ranks_case *c, int rank, const struct jtree *want, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct prefix_split got;
    struct int_list q, k, slice;
    int64_t max_q, max_k;
    if (!int_member(want, "cu_q", a, &q, e) || !int_member(want, "cu_k", a, &k, e) || !int_member(want, "k_slice", a, &slice, e) ||
        !vec_int(want, "max_q", 0, INT64_MAX, &max_q, e) || !vec_int(want, "max_k", 0, INT64_MAX, &max_k, e) ||
        !prefix_split(a, c->cu.v, (int64_t)c->cu.n, c->cp, rank, &got, e))
        return false;
    case_compare(o, "cu_q", got.cu_q, got.sequences + 1, &q);
    case_compare(o, "cu_k", got.cu_k, got.sequences + 1, &k);
    case_compare(o, "k_slice", (int64_t[]){got.k_start, got.k_end}, 2, &slice);
    case_number(o, "max_q", got.max_q, max_q);
    case_number(o, "max_k", got.max_k, max_k);
    return true;
}

static bool run_one(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    return case_ranks(one, "cu_seqlens", o, a, run_rank, e);
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return case_each(root, "", file, t, run_one, e);
}

const struct vector_form vec_prefix_split = {
    .name = "prefix_split", .what = "queries and key prefixes of an even cut (llama-3 style)", .sniff = sniff, .run = run};
