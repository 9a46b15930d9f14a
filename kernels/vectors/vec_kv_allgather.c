/* vec_kv_allgather.c - which gathered rows a rank's queries meet: rank-major index and lengths, and the plain even split. */
#include "kernels/layout/attn_plan.h"
#include "kernels/vectors/case_list.h"

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"load_balanced", "contiguous_baseline", NULL};
    return vec_has(root, keys);
}

/* Cumulative lengths without the leading 0. */
static void compare_ends(const struct vec_out *o, const struct attn_plan *p, const struct int_list *q, const struct int_list *kv, struct arena *a)
{
    int64_t *q_ends = arena_array(a, int64_t, p->npieces + 1), *kv_ends = arena_array(a, int64_t, p->npieces + 1), at = 0, kv_at = 0;
    for (int64_t i = 0; i < p->npieces; i++) {
        q_ends[i] = at += p->pieces[i].qlen;
        kv_ends[i] = kv_at += p->pieces[i].klen;
    }
    case_compare(o, "q_ends", q_ends, p->npieces, q);
    case_compare(o, "kv_ends", kv_ends, p->npieces, kv);
}

/* What both splits have. */
static bool compare(const struct vec_out *o, const struct attn_plan *p, const struct jtree *want, struct arena *a, struct err *e)
{
    struct int_list q, kv;
    int64_t work, pairs;
    if (!int_member(want, "q_ends", a, &q, e) || !int_member(want, "kv_ends", a, &kv, e) ||
        !vec_int(want, "workload_qlen_times_kvlen", 0, INT64_MAX, &work, e) || !vec_int(want, "causal_pairs", 0, INT64_MAX, &pairs, e))
        return false;
    compare_ends(o, p, &q, &kv, a);
    case_number(o, "workload_qlen_times_kvlen", attn_plan_work(p), work);
    case_number(o, "causal_pairs", attn_plan_pairs(p), pairs);
    return true;
}

static bool plan_of(const struct ranks_case *c, int rank, enum attn_split split, struct arena *a, struct attn_plan *plan, struct err *e)
{
    struct packing p;
    return attn_endpoints(a, c->cu.v, (int64_t)c->cu.n, c->cp, &p, e) &&
           attn_plan_make(a, p.cu, p.sequences + 1, &(struct attn_place){.split = split, .cp = c->cp, .rank = rank}, plan, e);
}

static bool balanced_rank(const struct ranks_case *c, int rank, const struct jtree *want, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct attn_plan plan;
    struct int_list index;
    int64_t local, full;
    if (!plan_of(c, rank, SPLIT_DIRECT1, a, &plan, e) || !int_member(want, "kv_index", a, &index, e) ||
        !vec_int(want, "local_tokens", 0, INT64_MAX, &local, e) || !vec_int(want, "full_tokens", 0, INT64_MAX, &full, e))
        return false;
    case_compare(o, "kv_index", plan.index, plan.indices, &index);
    case_number(o, "local_tokens", plan.tokens / c->cp, local);
    case_number(o, "full_tokens", plan.tokens, full);
    return compare(o, &plan, want, a, e);
}

static bool even_rank(const struct ranks_case *c, int rank, const struct jtree *want, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct attn_plan plan;
    struct int_list range;
    if (!plan_of(c, rank, SPLIT_CONTIGUOUS, a, &plan, e) || !int_member(want, "kv_range", a, &range, e))
        return false;
    const struct attn_piece *last = &plan.pieces[plan.npieces - 1];
    case_compare(o, "kv_range", (int64_t[]){plan.pieces[0].k, last->k + last->klen}, 2, &range);
    return compare(o, &plan, want, a, e);
}

static bool balanced(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    return case_ranks(one, "endpoints", o, a, balanced_rank, e);
}

static bool even(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    return case_ranks(one, "endpoints", o, a, even_rank, e);
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return case_each(jtree_get(root, "load_balanced"), "balanced ", file, t, balanced, e) &&
           case_each(jtree_get(root, "contiguous_baseline"), "contiguous ", file, t, even, e);
}

const struct vector_form vec_kv_allgather = {
    .name = "kv_allgather", .what = "index, lengths and work of attention over gathered keys and values", .sniff = sniff, .run = run};
