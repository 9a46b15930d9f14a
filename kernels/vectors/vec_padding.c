/* vec_padding.c - documents padded to the divisor of a zigzag split: boundaries, valid rows of every chunk. */
#include "kernels/layout/padding.h"
#include "kernels/vectors/case_list.h"

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"real", "cp", "divisor", "cu_padded", NULL};
    return vec_has(jtree_at(vec_cases(root), 0), keys);
}

static bool compare_boundaries(const struct jtree *one, const struct vec_out *o, const struct padding *p, int64_t n, struct arena *a, struct err *e)
{
    struct int_list cu, padded;
    int64_t divisor;
    if (!int_member(one, "cu", a, &cu, e) || !int_member(one, "cu_padded", a, &padded, e) || !vec_int(one, "divisor", 1, INT64_MAX, &divisor, e))
        return false;
    case_compare(o, "cu", p->cu, n + 1, &cu);
    case_compare(o, "cu_padded", p->cu_padded, n + 1, &padded);
    case_number(o, "divisor", p->divisor, divisor);
    case_number(o, "padding", p->padding, padded.v[padded.n - 1] - cu.v[cu.n - 1]);
    return true;
}

/* The uniform value is in the file to show that it is wrong: it is computed and compared like the others. */
static bool run_rank(const struct ranks_case *c, int rank, const struct jtree *want, const struct vec_out *o, struct arena *a, struct err *e)
{
    static const char *const names[] = {"valid_first_chunk", "valid_second_chunk", "valid", "floor_len_over_cp"};
    int64_t n = (int64_t)c->cu.n, *got[4];
    struct padding p;
    if (!padding_make(a, c->cu.v, n, c->cp, &p, e))
        return false;
    for (int i = 0; i < 4; i++)
        got[i] = arena_array(a, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++) {
        got[0][i] = padding_valid(&p, i, rank);
        got[1][i] = padding_valid(&p, i, 2 * c->cp - 1 - rank);
        got[2][i] = got[0][i] + got[1][i];
        got[3][i] = (p.cu[i + 1] - p.cu[i]) / c->cp;
    }
    for (int i = 0; i < 4; i++) {
        struct int_list list;
        if (!int_member(want, names[i], a, &list, e))
            return false;
        case_compare(o, names[i], got[i], n, &list);
    }
    return true;
}

static bool run_one(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct int_list real;
    struct padding p;
    int64_t cp;
    return int_member(one, "real", a, &real, e) && vec_int(one, "cp", 1, CASE_CP_MAX, &cp, e) &&
           padding_make(a, real.v, (int64_t)real.n, (int)cp, &p, e) && compare_boundaries(one, o, &p, (int64_t)real.n, a, e) &&
           case_ranks(one, "real", o, a, run_rank, e);
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return case_each(vec_cases(root), "", file, t, run_one, e);
}

const struct vector_form vec_padding = {.name = "padding", .what = "valid rows of padded documents by rank and chunk", .sniff = sniff, .run = run};
