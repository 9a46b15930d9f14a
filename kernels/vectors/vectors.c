/* vectors.c - reading tensors out of a file, comparing with them. */
#include "kernels/vectors/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- comparing ---- */

static void add_row(const struct vec_out *o, const char *quantity, struct cell max_abs, struct cell rel, double limit, bool ok)
{
    struct cell *row = table_row(o->t);
    row[0] = cell_text(table_text(o->t, "%s", o->file));
    row[1] = cell_text(table_text(o->t, "%s", o->name));
    row[2] = cell_text(table_text(o->t, "%s", quantity));
    row[3] = max_abs;
    row[4] = rel;
    row[5] = cell_real(limit);
    row[6] = cell_int(ok);
}

void vec_compare_f32(const struct vec_out *o, const char *quantity, const float *got, const double *want, size_t n)
{
    double most = 0, worst = 0, square = 0, error = 0;
    for (size_t i = 0; i < n; i++) {
        double diff = isfinite(got[i]) ? fabs(got[i] - want[i]) : INFINITY;
        most = fmax(most, fabs(want[i]));
        worst = fmax(worst, diff);
        square += want[i] * want[i];
        error += diff * diff;
    }
    double rel = sqrt(error / square); /* 0/0, absent: nothing to be relative to */
    bool ok = most > 0 ? worst <= VEC_LIMIT * most && rel <= VEC_LIMIT : worst <= VEC_LIMIT;
    add_row(o, quantity, cell_real(worst), cell_real(rel), VEC_LIMIT, ok);
}

void vec_compare_i64(const struct vec_out *o, const char *quantity, const int64_t *got, size_t ngot, const int64_t *want, size_t nwant)
{
    double worst = 0;
    for (size_t i = 0; i < ngot && i < nwant; i++)
        worst = fmax(worst, fabs((double)got[i] - (double)want[i]));
    add_row(o, quantity, cell_real(worst), (struct cell){0}, 0, ngot == nwant && worst == 0);
}

void vec_check(const struct vec_out *o, const char *quantity, bool ok)
{
    add_row(o, quantity, cell_real(ok ? 0 : 1), (struct cell){0}, 0, ok);
}

/* ---- reading ---- */

double *vec_f64(const struct jtree *object, const char *key, size_t n, struct arena *a, struct err *e)
{
    const struct jtree *v = jtree_get(object, key);
    int64_t count = jtree_count(v);
    if (!v || count < 0 || (size_t)count != n) {
        fail(e, ERR_FAIL, v ? "%s: not %zu numbers" : "%s: missing (%zu numbers)", key, n);
        return NULL;
    }
    double *out = arena_array(a, double, n + 1);
    if (jtree_reals(v, out))
        return out;
    fail(e, ERR_FAIL, "%s: a number is beyond the range of a double", key);
    return NULL;
}

float *vec_to_f32(const double *v, size_t n, struct arena *a)
{
    float *out = v ? arena_array(a, float, n + 1) : NULL;
    for (size_t i = 0; v && i < n; i++)
        out[i] = (float)v[i];
    return out;
}

float *vec_f32(const struct jtree *object, const char *key, size_t n, struct arena *a, struct err *e)
{
    return vec_to_f32(vec_f64(object, key, n, a, e), n, a);
}

int64_t *vec_i64(const struct jtree *object, const char *key, size_t *n, struct arena *a, struct err *e)
{
    const struct jtree *v = jtree_get(object, key);
    int64_t count = jtree_is_array(v) ? jtree_count(v) : -1;
    int64_t *out = count < 0 ? NULL : arena_array(a, int64_t, count + 1);
    if (!out || !jtree_ints(v, out)) {
        fail(e, ERR_FAIL, v ? "%s: not a list of whole numbers" : "%s: missing", key);
        return NULL;
    }
    *n = (size_t)count;
    return out;
}

bool vec_int(const struct jtree *object, const char *key, int64_t lo, int64_t hi, int64_t *value, struct err *e)
{
    if (jtree_int(jtree_get(object, key), value) && *value >= lo && *value <= hi)
        return true;
    return fail(e, ERR_FAIL, "%s: not a whole number from %lld to %lld", key, (long long)lo, (long long)hi);
}

int64_t *vec_cu(const struct jtree *object, const char *key, int *n, struct arena *a, struct err *e)
{
    size_t entries = 0;
    int64_t *cu = vec_i64(object, key, &entries, a, e);
    if (!cu)
        return NULL;
    bool ok = entries >= 2 && entries <= 1 << 20 && cu[0] == 0 && cu[entries - 1] > 0 && cu[entries - 1] <= 1 << 24;
    for (size_t i = 1; ok && i < entries; i++)
        ok = cu[i] >= cu[i - 1];
    if (!ok) {
        fail(e, ERR_FAIL, "%s: not cumulative lengths from 0", key);
        return NULL;
    }
    *n = (int)entries - 1;
    return cu;
}

bool vec_has(const struct jtree *object, const char *const *keys)
{
    for (; *keys; keys++)
        if (!jtree_get(object, *keys))
            return false;
    return true;
}

const struct jtree *vec_cases(const struct jtree *root)
{
    const struct jtree *cases = jtree_get(root, "cases");
    return jtree_len(cases) ? cases : NULL;
}

bool vec_each_case(const struct jtree *root, const char *file, struct table *t, vec_case_fn *run, struct err *e)
{
    const struct jtree *cases = vec_cases(root);
    for (size_t i = 0; i < jtree_len(cases); i++) {
        struct arena a = {0};
        struct err why = {0};
        const struct jtree *one = jtree_at(cases, i);
        struct vec_out o = {t, file, jtree_text(jtree_get(one, "name"))};
        if (!o.name)
            fail(&why, ERR_FAIL, "name: missing");
        bool ok = !why.kind && run(one, &o, &a, &why);
        arena_free(&a);
        if (!ok)
            return fail(e, ERR_FAIL, "%s: case %zu: %s", file, i, why.msg);
    }
    return true;
}
