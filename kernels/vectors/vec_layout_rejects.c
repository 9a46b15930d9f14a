/* vec_layout_rejects.c - invalid inputs: both route builders must refuse each one, for the reason that the file gives. */
#include "kernels/layout/route_naive.h"
#include "kernels/vectors/layout_case.h"

#include <string.h>

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"cu_seqlens", "cp", "reason", NULL};
    return jtree_is_array(root) && vec_has(jtree_at(root, 0), keys);
}

/* How each class of error shows in our messages. */
static const struct {
    const char *label, *words;
} reasons[] = {{"not_divisible_by_2cp", "not a multiple of 2 * cp"},
               {"does_not_start_at_zero", "cu_seqlens[0] is"},
               {"decreasing", "must not decrease"},
               {"empty", "cu_seqlens is empty"},
               {"bad_cp_size", "cp size"},
               {"bad_rank", "cp rank"},
               {"bad_layout", "layout"}};

static const char *words_of(const char *label)
{
    for (size_t i = 0; label && i < sizeof reasons / sizeof *reasons; i++)
        if (!strcmp(label, reasons[i].label))
            return reasons[i].words;
    return NULL;
}

static bool refused(bool taken, const struct err *why, const char *words)
{
    return !taken && why->kind == ERR_USAGE && strstr(why->msg, words);
}

/* One layout of an invalid input, on both builders. */
static void try_layout(struct stream *s, const struct boundaries *b, int cp, int rank, enum layout l, const struct vec_out *o, const char *words)
{
    enum layout other = l == LAYOUT_ZIGZAG ? LAYOUT_CONTIGUOUS : LAYOUT_ZIGZAG;
    struct err interval = {0}, naive = {0};
    struct rank_rows rows = {0};
    struct route *r = route_build(b, s, cp, rank, l, other, &interval);
    bool taken = thd_rank_indices(s, b, cp, rank, l, &rows, &naive);
    vec_check(o, table_text(o->t, "interval_refuses_%s", layout_name(l)), refused(r, &interval, words));
    vec_check(o, table_text(o->t, "naive_refuses_%s", layout_name(l)), refused(taken, &naive, words));
    route_release(r);
    if (taken)
        dev_free(stream_device(s), rows.memory);
}

static bool run_one(const struct jtree *one, const struct vec_out *o, struct stream *s, struct arena *a, struct err *e)
{
    struct int_list cu;
    struct err why = {0};
    const char *words = words_of(jtree_text(jtree_get(one, "reason"))), *layout = jtree_text(jtree_get(one, "layout"));
    int64_t cp, rank = 0;
    enum layout l;
    if (!words)
        return fail(e, ERR_FAIL, "reason: a class of error that is not known here");
    if (!int_member(one, "cu_seqlens", a, &cu, e) || !case_size(&cu, e) || !vec_int(one, "cp", INT32_MIN, INT32_MAX, &cp, e) ||
        (jtree_get(one, "rank") && !vec_int(one, "rank", INT32_MIN, INT32_MAX, &rank, e)))
        return false;
    if (layout && !layout_from_name(layout, &l, &why)) { /* both builders take a layout by this function only */
        vec_check(o, "refuses_layout_name", refused(false, &why, words));
        return true;
    }
    struct boundaries *b = boundaries_create(s, cu.v, (int64_t)cu.n);
    for (int i = 0; i < LAYOUT_COUNT; i++)
        if (!layout || (int)l == i)
            try_layout(s, b, (int)cp, (int)rank, (enum layout)i, o, words);
    boundaries_close(b);
    return true;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    struct device *d = device_open("cpu", 0, 0, e);
    bool ok = d;
    for (size_t i = 0; ok && i < jtree_len(root); i++) {
        const struct jtree *one = jtree_at(root, i);
        const char *reason = jtree_text(jtree_get(one, "reason"));
        struct arena a = {0};
        struct vec_out o = {t, file, table_text(t, "%zu %s", i, reason ? reason : "?")};
        struct err why = {0};
        ok = run_one(one, &o, device_stream(d), &a, &why) || fail(e, ERR_FAIL, "%s: case %zu: %s", file, i, why.msg);
        arena_free(&a);
    }
    device_close(d);
    return ok;
}

const struct vector_form vec_layout_rejects = {
    .name = "layout_rejects", .what = "invalid boundaries, ranks and layouts that both route builders refuse", .sniff = sniff, .run = run};
