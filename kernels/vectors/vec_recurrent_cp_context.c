/* vec_recurrent_cp_context.c - segments of every rank under an even cut, and how far state flows across the cuts. */
#include "kernels/layout/recurrent.h"
#include "kernels/vectors/layout_case.h"

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"cu_seqlens", "cp", "ranks", NULL};
    static const char *const rank_keys[] = {"rank", "local_cu", "pre_conv_tokens", "pre_ranks", "post_ranks", NULL};
    const struct jtree *first = jtree_is_array(root) ? jtree_at(root, 0) : NULL;
    return vec_has(first, keys) && vec_has(jtree_at(jtree_get(first, "ranks"), 0), rank_keys);
}

static bool flag(const struct jtree *object, const char *key, bool *value, struct err *e)
{
    return jtree_bool(jtree_get(object, key), value) || fail(e, ERR_FAIL, "%s: not true or false", key);
}

static bool run_rank(const struct jtree *want, const struct vec_out *o, const struct int_list *cu, int cp, struct arena *a, struct err *e)
{
    struct recurrent got;
    struct int_list local;
    int64_t rank, conv, pre, post;
    bool first, last;
    if (!vec_int(want, "rank", 0, cp - 1, &rank, e) || !int_member(want, "local_cu", a, &local, e) ||
        !vec_int(want, "pre_conv_tokens", 0, INT64_MAX, &conv, e) || !vec_int(want, "pre_ranks", 0, INT64_MAX, &pre, e) ||
        !vec_int(want, "post_ranks", 0, INT64_MAX, &post, e) || !flag(want, "is_first", &first, e) || !flag(want, "is_last", &last, e) ||
        !recurrent_context(a, cu->v, (int64_t)cu->n, cp, (int)rank, 0, &got, e))
        return false;
    struct vec_out mine = case_rank(o, (int)rank);
    case_compare(&mine, "local_cu", got.local_cu, got.segments + 1, &local);
    case_number(&mine, "pre_conv_tokens", got.pre_conv_tokens, conv);
    case_number(&mine, "pre_ranks", got.pre_ranks, pre);
    case_number(&mine, "post_ranks", got.post_ranks, post);
    vec_check(&mine, "is_first", got.is_first == first);
    vec_check(&mine, "is_last", got.is_last == last);
    return true;
}

static bool run_one(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct int_list cu;
    int64_t cp;
    const struct jtree *ranks = jtree_get(one, "ranks");
    if (!int_member(one, "cu_seqlens", a, &cu, e) || !case_size(&cu, e) || !vec_int(one, "cp", 1, INT32_MAX, &cp, e))
        return false;
    if (jtree_len(ranks) != (size_t)cp)
        return fail(e, ERR_FAIL, "ranks: %zu of them, cp is %d", jtree_len(ranks), (int)cp);
    for (size_t r = 0; r < jtree_len(ranks); r++)
        if (!run_rank(jtree_at(ranks, r), o, &cu, (int)cp, a, e))
            return false;
    return true;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    for (size_t i = 0; i < jtree_len(root); i++) {
        struct arena a = {0};
        struct vec_out o = {t, file, table_text(t, "%zu", i)};
        struct err why = {0};
        bool ok = run_one(jtree_at(root, i), &o, &a, &why);
        arena_free(&a);
        if (!ok)
            return fail(e, ERR_FAIL, "%s: case %zu: %s", file, i, why.msg);
    }
    return true;
}

const struct vector_form vec_recurrent_cp_context = {
    .name = "recurrent_cp_context", .what = "local segments, halo tokens and feeding ranks of an even cut", .sniff = sniff, .run = run};
