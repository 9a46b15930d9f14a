/* case_list.c - see case_list.h. */
#include "kernels/vectors/case_list.h"

bool case_each(const struct jtree *list, const char *prefix, const char *file, struct table *t, vec_case_fn *run, struct err *e)
{
    for (size_t i = 0; i < jtree_len(list); i++) {
        struct arena a = {0};
        struct vec_out o = {t, file, table_text(t, "%s%zu", prefix, i)};
        struct err why = {0};
        bool ok = run(jtree_at(list, i), &o, &a, &why);
        arena_free(&a);
        if (!ok)
            return fail(e, ERR_FAIL, "%s: case %s: %s", file, o.name, why.msg);
    }
    return true;
}

bool case_ranks(const struct jtree *one, const char *key, const struct vec_out *o, struct arena *a, ranks_fn *run, struct err *e)
{
    struct ranks_case c;
    int64_t cp;
    const struct jtree *ranks = jtree_get(one, "ranks");
    if (!int_member(one, key, a, &c.cu, e) || !case_size(&c.cu, e) || !vec_int(one, "cp", 1, CASE_CP_MAX, &cp, e))
        return false;
    c.cp = (int)cp;
    if (jtree_len(ranks) != (size_t)cp)
        return fail(e, ERR_FAIL, "ranks: %zu of them, cp is %d", jtree_len(ranks), c.cp);
    for (int r = 0; r < c.cp; r++) {
        struct vec_out mine = case_rank(o, r);
        int64_t rank;
        if (!vec_int(jtree_at(ranks, (size_t)r), "rank", r, r, &rank, e) || !run(&c, r, jtree_at(ranks, (size_t)r), &mine, a, e))
            return false;
    }
    return true;
}
