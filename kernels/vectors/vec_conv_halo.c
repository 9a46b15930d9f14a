/* vec_conv_halo.c - the convolution on shards: what a rank sees of its neighbour, and what it owes it in backward.
 *
 *   rank r-1 [ . . . a b c ]   rank r [ d e f ... ]      halo of r: a b c, of which the newest `valid` belong to d's sequence
 *            dx  += d_halo of r, onto its last W-1 rows
 */
#include "kernels/layout/recurrent.h"
#include "kernels/ops/conv1d.h"
#include "kernels/vectors/vectors.h"

#include <string.h>

struct conv {
    struct arena *a;
    int64_t *cu, cp, W;
    int nseg;
    size_t T, D;
    float *x, *w, *dy;
    double *y, *dx, *dw; /* wanted */
    float *got_y, *got_dx, *got_dw;
};

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"width", "x", "w", "dy", "y", "dx", "dw", "ranks", NULL};
    return vec_has(jtree_at(vec_cases(root), 0), keys);
}

static bool read_case(const struct jtree *one, struct conv *c, struct err *e)
{
    c->cu = vec_cu(one, "cu_seqlens", &c->nseg, c->a, e);
    if (!c->cu || !vec_int(one, "width", 1, CONV1D_WIDTH_MAX, &c->W, e) || !vec_int(one, "cp", 1, 64, &c->cp, e))
        return false;
    c->T = (size_t)c->cu[c->nseg];
    c->D = jtree_len(jtree_get(one, "w"));
    if (c->D == 0 || c->D > 1 << 16)
        return fail(e, ERR_FAIL, "w: not a list of channels");
    if (jtree_len(jtree_get(one, "ranks")) != (size_t)c->cp)
        return fail(e, ERR_FAIL, "ranks: not a list of %d", (int)c->cp);
    size_t n = c->T * c->D, taps = c->D * (size_t)c->W;
    c->x = vec_f32(one, "x", n, c->a, e), c->dy = vec_f32(one, "dy", n, c->a, e), c->w = vec_f32(one, "w", taps, c->a, e);
    c->y = vec_f64(one, "y", n, c->a, e), c->dx = vec_f64(one, "dx", n, c->a, e), c->dw = vec_f64(one, "dw", taps, c->a, e);
    c->got_y = arena_array(c->a, float, n), c->got_dx = arena_array(c->a, float, n), c->got_dw = arena_array(c->a, float, taps);
    return !e->kind;
}

static void compare_whole(const struct vec_out *o, const struct conv *c, const char *suffix)
{
    vec_compare_f32(o, table_text(o->t, "y%s", suffix), c->got_y, c->y, c->T * c->D);
    vec_compare_f32(o, table_text(o->t, "dx%s", suffix), c->got_dx, c->dx, c->T * c->D);
    vec_compare_f32(o, table_text(o->t, "dw%s", suffix), c->got_dw, c->dw, c->D * (size_t)c->W);
}

/* Rows `from` on, `rows` of them, as one shard. */
static void shard(const struct conv *c, size_t from, size_t rows, const int64_t *cu, int nseg, const float *halo, int valid, float *d_halo)
{
    int64_t ld = (int64_t)c->D;
    size_t at = from * c->D;
    conv1d_fwd_cpu(&(struct conv1d_fwd_args){c->x + at, c->w, halo, c->got_y + at, cu, ld, ld, (int)rows, (int)c->D, (int)c->W, nseg, valid});
    conv1d_bwd_cpu(&(struct conv1d_bwd_args){c->x + at, c->w, halo, c->dy + at, c->got_dx + at, c->got_dw, d_halo, cu, ld, ld, ld, (int)rows,
                                             (int)c->D, (int)c->W, nseg, valid});
}

static bool check_rank(const struct conv *c, const struct jtree *want, const struct recurrent *r, int rank, const struct vec_out *o, struct err *e)
{
    size_t reach = (size_t)c->W - 1, rows = (size_t)r->rows, from = (size_t)rank * rows, n = reach * c->D;
    float *masked = arena_array(c->a, float, n + 1), *d_halo = arena_array(c->a, float, n + 1);
    const float *halo = rank ? c->x + (from - reach) * c->D : NULL; /* as the neighbour sends it, not masked */
    int64_t valid = r->pre_conv_tokens < (int64_t)reach ? r->pre_conv_tokens : (int64_t)reach, wanted_valid;
    double *wanted = vec_f64(want, "halo", n, c->a, e), *wanted_d = vec_f64(want, "d_halo", n, c->a, e);
    if (!wanted || !wanted_d || !vec_int(want, "halo_valid", 0, CONV1D_WIDTH_MAX, &wanted_valid, e))
        return false;
    if (valid)
        memcpy(masked + (reach - (size_t)valid) * c->D, halo + (reach - (size_t)valid) * c->D, sizeof(float) * (size_t)valid * c->D);
    shard(c, from, rows, r->local_cu, (int)r->segments, halo, (int)valid, d_halo);
    vec_compare_i64(o, table_text(o->t, "halo_valid rank %d", rank), &valid, 1, &wanted_valid, 1);
    vec_compare_f32(o, table_text(o->t, "halo rank %d", rank), masked, wanted, n);
    vec_compare_f32(o, table_text(o->t, "d_halo rank %d", rank), d_halo, wanted_d, n);
    for (size_t i = 0; rank && i < n; i++)
        c->got_dx[(from - reach) * c->D + i] += d_halo[i];
    return true;
}

/* Must this case be refused, by the file? */
static bool reads_two_ranks(const struct jtree *ranks)
{
    int64_t spans;
    for (size_t i = 0; i < jtree_len(ranks); i++)
        if (jtree_int(jtree_get(jtree_at(ranks, i), "ranks_the_halo_spans"), &spans) && spans > 1)
            return true;
    return false;
}

static bool run_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct conv c = {.a = a};
    const struct jtree *ranks = jtree_get(one, "ranks");
    struct recurrent r[64];
    int refused = 0;
    if (!read_case(one, &c, e))
        return false;
    shard(&c, 0, c.T, c.cu, c.nseg, NULL, 0, NULL);
    compare_whole(o, &c, " (one rank)");
    for (int i = 0; i < c.cp; i++) {
        struct err why = {0};
        refused += !recurrent_context(a, c.cu, c.nseg + 1, (int)c.cp, i, (int)c.W, &r[i], &why);
    }
    bool refuse = reads_two_ranks(ranks);
    vec_check(o, refuse ? "refused: a halo over two ranks" : "accepted", refused == (refuse ? c.cp : 0));
    if (refuse || refused)
        return true;
    memset(c.got_dw, 0, sizeof(float) * c.D * (size_t)c.W);
    for (int i = 0; i < c.cp; i++) /* ascending: the owner's dx is there before d_halo is added to it */
        if (!check_rank(&c, jtree_at(ranks, (size_t)i), &r[i], i, o, e))
            return false;
    compare_whole(o, &c, "");
    return true;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return vec_each_case(root, file, t, run_case, e);
}

const struct vector_form vec_conv_halo = {
    .name = "conv_halo",
    .what = "the convolution on shards: halo rows",
    .sniff = sniff,
    .run = run,
};
