/* layout_case.c - see layout_case.h. */
#include "kernels/vectors/layout_case.h"

#include <inttypes.h>

bool int_list(const struct jtree *v, const char *what, struct arena *a, struct int_list *out, struct err *e)
{
    int64_t n = jtree_is_array(v) ? jtree_count(v) : -1;
    if (n < 0)
        return fail(e, ERR_FAIL, "%s: not a list of numbers", what);
    *out = (struct int_list){arena_array(a, int64_t, n + 1), (size_t)n};
    return jtree_ints(v, out->v) || fail(e, ERR_FAIL, "%s: holds something else than whole numbers", what);
}

bool int_member(const struct jtree *object, const char *key, struct arena *a, struct int_list *out, struct err *e)
{
    return int_list(jtree_get(object, key), key, a, out, e);
}

bool case_size(const struct int_list *cu, struct err *e)
{
    for (size_t i = 0; i < cu->n; i++)
        if (cu->v[i] > CASE_TOKENS_MAX)
            return fail(e, ERR_FAIL, "cu_seqlens: %" PRId64 " tokens are more than the %" PRId64 " that are looked at", cu->v[i], CASE_TOKENS_MAX);
    return true;
}

struct vec_out case_rank(const struct vec_out *o, int rank)
{
    return (struct vec_out){o->t, o->file, table_text(o->t, "%s rank %d", o->name, rank)};
}

void case_compare(const struct vec_out *o, const char *quantity, const int64_t *got, int64_t n, const struct int_list *want)
{
    vec_compare_i64(o, quantity, got, (size_t)n, want->v, want->n);
}

void case_number(const struct vec_out *o, const char *quantity, int64_t got, int64_t want)
{
    vec_compare_i64(o, quantity, &got, 1, &want, 1);
}
