/* vec_headwise_perms.c - columns cut by heads, section by section, and rows between rank-major and time order. */
#include "kernels/layout/attn_plan.h"
#include "kernels/ops/elementwise.h"
#include "kernels/vectors/case_list.h"

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"head_perm", "token_perm", NULL};
    return vec_has(root, keys);
}

/* One row that holds its column numbers, cut by the kernel that cuts projections: rank after rank, its part of each section. */
static void cut_columns(const struct int_list *sections, int64_t cp, float *row, float *cut)
{
    int64_t width = 0, at = 0, put = 0;
    for (size_t i = 0; i < sections->n; i++)
        width += sections->v[i];
    for (int64_t i = 0; i < width; i++)
        row[i] = (float)i;
    for (size_t i = 0; i < sections->n; at += sections->v[i++]) {
        int64_t own = sections->v[i] / cp;
        concat_blocks_cpu(&(struct concat_blocks_args){.src = row + at,
                                                       .dst = cut + put,
                                                       .ld_src = width,
                                                       .ld_dst = own,
                                                       .src_step = own,
                                                       .dst_step = width / cp,
                                                       .rows = 1,
                                                       .cols = own,
                                                       .nblocks = cp});
        put += own;
    }
}

static bool head_perm(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct int_list sections, want;
    int64_t cp, width = 0;
    if (!int_member(one, "sections", a, &sections, e) || !int_member(one, "perm", a, &want, e) || !vec_int(one, "cp", 1, CASE_CP_MAX, &cp, e))
        return false;
    for (size_t i = 0; i < sections.n; width += sections.v[i++])
        if (sections.v[i] < 1 || sections.v[i] > 1 << 16 || sections.v[i] % cp)
            return fail(e, ERR_FAIL, "sections: not widths that cp divides");
    float *row = arena_array(a, float, width), *cut = arena_array(a, float, width);
    int64_t *perm = arena_array(a, int64_t, width);
    cut_columns(&sections, cp, row, cut);
    for (int64_t i = 0; i < width; i++)
        perm[i] = (int64_t)cut[i];
    case_compare(o, "perm", perm, width, &want);
    return true;
}

static bool token_perm(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct int_list cu, gather, back;
    struct attn_plan plan;
    int64_t cp;
    if (!int_member(one, "cu_seqlens", a, &cu, e) || !case_size(&cu, e) || !vec_int(one, "cp", 1, CASE_CP_MAX, &cp, e) ||
        !int_member(one, "rank_major_to_sequence_gather", a, &gather, e) || !int_member(one, "sequence_to_rank_major_gather", a, &back, e) ||
        !attn_plan_make(a, cu.v, (int64_t)cu.n, &(struct attn_place){.split = SPLIT_REORDER2, .cp = (int)cp}, &plan, e))
        return false;
    int64_t *inverse = arena_array(a, int64_t, plan.indices + 1);
    for (int64_t i = 0; i < plan.indices; i++)
        inverse[plan.index[i]] = i;
    case_compare(o, "rank_major_to_sequence_gather", plan.index, plan.indices, &gather);
    case_compare(o, "sequence_to_rank_major_gather", inverse, plan.indices, &back);
    return true;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return case_each(jtree_get(root, "head_perm"), "heads ", file, t, head_perm, e) &&
           case_each(jtree_get(root, "token_perm"), "tokens ", file, t, token_perm, e);
}

const struct vector_form vec_headwise_perms = {
    .name = "headwise_perms", .what = "columns by heads, rows between rank-major and time order", .sniff = sniff, .run = run};
