/* vec_layouts.c - which rank holds which row, by the runs on the host and by thd_rank_indices on a device. */
#include "kernels/layout/route_naive.h"
#include "kernels/vectors/layout_case.h"

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"cu_seqlens", "cp", "zigzag", "contiguous", "zigzag_segments", NULL};
    const struct jtree *cases = vec_cases(root);
    return cases && vec_has(jtree_at(cases, 0), keys);
}

struct work {
    const struct jtree *one;
    const struct vec_out *o;
    struct arena *a;
    struct int_list cu;
    int cp;
    struct packing p;
    struct stream *s;
    const struct boundaries *b;
};

/* The rank's list under the key of the layout's name. */
static bool wanted(const struct work *w, const char *key, int rank, struct int_list *out, struct err *e)
{
    return int_list(jtree_at(jtree_get(w->one, key), (size_t)rank), key, w->a, out, e);
}

static bool rows_on_device(const struct work *w, int rank, enum layout l, const struct vec_out *o, const struct int_list *want, struct err *e)
{
    struct rank_rows rows;
    if (!thd_rank_indices(w->s, w->b, w->cp, rank, l, &rows, e))
        return false;
    int64_t *got = arena_array(w->a, int64_t, rows.n + 1);
    if (rows.n > 0)
        dev_download(w->s, got, rows.v, (size_t)rows.n * sizeof *got, SITE_HERE);
    dev_free(stream_device(w->s), rows.memory);
    case_compare(o, l == LAYOUT_ZIGZAG ? "zigzag_on_device" : "contiguous_on_device", got, rows.n, want);
    return true;
}

static bool one_rank(const struct work *w, int rank, struct err *e)
{
    struct vec_out o = case_rank(w->o, rank);
    struct int_list want;
    for (int l = 0; l < LAYOUT_COUNT; l++) {
        const char *name = layout_name((enum layout)l);
        if (!wanted(w, name, rank, &want, e))
            return false;
        case_compare(&o, name, layout_rows(w->a, &w->p, w->cp, rank, (enum layout)l), w->p.total / w->cp, &want);
        if (!rows_on_device(w, rank, (enum layout)l, &o, &want, e))
            return false;
    }
    struct segments x = layout_segments(w->a, &w->p, w->cp, rank, LAYOUT_ZIGZAG);
    int64_t *flat = arena_array(w->a, int64_t, 3 * x.n + 1);
    for (int64_t i = 0; i < x.n; i++) {
        flat[3 * i] = x.v[i].global;
        flat[3 * i + 1] = x.v[i].length;
        flat[3 * i + 2] = x.v[i].local;
    }
    if (!wanted(w, "zigzag_segments", rank, &want, e))
        return false;
    case_compare(&o, "zigzag_segments", flat, 3 * x.n, &want);
    return true;
}

static bool all_ranks(struct work *w, struct err *e)
{
    struct device *d = device_open("cpu", 0, 0, e);
    bool ok = d;
    if (ok) {
        w->s = device_stream(d);
        struct boundaries *b = boundaries_create(w->s, w->cu.v, (int64_t)w->cu.n);
        w->b = b;
        for (int rank = 0; ok && rank < w->cp; rank++)
            ok = one_rank(w, rank, e);
        boundaries_close(b);
    }
    device_close(d);
    return ok;
}

static bool run_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct work w = {.one = one, .o = o, .a = a};
    int64_t cp, total;
    if (!vec_int(one, "cp", 1, CASE_CP_MAX, &cp, e) || !vec_int(one, "total", 0, INT64_MAX, &total, e) ||
        !int_member(one, "cu_seqlens", a, &w.cu, e) || !case_size(&w.cu, e) ||
        !packing_check(a, w.cu.v, (int64_t)w.cu.n, (int)cp, 0, LAYOUT_ZIGZAG, &w.p, e))
        return false;
    w.cp = (int)cp;
    case_number(o, "total", w.p.total, total);
    return all_ranks(&w, e);
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return vec_each_case(root, file, t, run_case, e);
}

const struct vector_form vec_layouts = {
    .name = "layouts", .what = "global rows of every rank, zigzag and contiguous, and the zigzag runs", .sniff = sniff, .run = run};
