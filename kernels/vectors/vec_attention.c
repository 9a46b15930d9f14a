/* vec_attention.c - packed causal attention in one call, and step by step around a ring of zigzag shards: every step alone,
 * and what the merged steps and the summed gradients give. */
#include "kernels/layout/attn_plan.h"
#include "kernels/layout/schedule.h"
#include "kernels/vectors/layout_case.h"

#include <math.h>
#include <string.h>

struct attn_case {
    int64_t T, H, Hk, d, e, cp;
    int64_t *cu;
    int nseg;
    struct attn_inputs in; /* dense, without pieces */
    float *d_o;
    float *o, *lse, *dq, *dk, *dv; /* ours */
    double *want[5];               /* out lse dq dk dv */
    size_t size[5];
};

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"q", "k", "v", "lse", "d_out", "ring", NULL};
    return vec_has(jtree_at(vec_cases(root), 0), keys);
}

static bool read_sizes(const struct jtree *one, struct attn_case *c, double *scale, struct arena *a, struct err *e)
{
    c->cu = vec_cu(one, "cu_seqlens", &c->nseg, a, e);
    if (!c->cu || !vec_int(one, "H", 1, 256, &c->H, e) || !vec_int(one, "Hk", 1, c->H, &c->Hk, e) ||
        !vec_int(one, "d", 1, ATTENTION_DIM_MAX, &c->d, e) || !vec_int(one, "e", 1, ATTENTION_DIM_MAX, &c->e, e) ||
        !vec_int(one, "cp", 1, CASE_CP_MAX, &c->cp, e))
        return false;
    if (c->H % c->Hk)
        return fail(e, ERR_FAIL, "H: not a multiple of Hk");
    c->T = c->cu[c->nseg];
    return jtree_real(jtree_get(one, "scale"), scale) || fail(e, ERR_FAIL, "scale: not a number");
}

static bool read_case(const struct jtree *one, struct attn_case *c, struct arena *a, struct err *e)
{
    static const char *const names[] = {"out", "lse", "dq", "dk", "dv"};
    double scale;
    if (!read_sizes(one, c, &scale, a, e))
        return false;
    const int64_t n[] = {c->T * c->H * c->e, c->T * c->H, c->T * c->H * c->d, c->T * c->Hk * c->d, c->T * c->Hk * c->e};
    float **ours[] = {&c->o, &c->lse, &c->dq, &c->dk, &c->dv};
    for (int i = 0; i < 5; i++) {
        c->size[i] = (size_t)n[i];
        c->want[i] = vec_f64(one, names[i], c->size[i], a, e);
        *ours[i] = arena_array(a, float, c->size[i]);
    }
    c->d_o = vec_f32(one, "d_out", c->size[0], a, e);
    c->in = (struct attn_inputs){.q = vec_f32(one, "q", c->size[2], a, e),
                                 .k = vec_f32(one, "k", c->size[3], a, e),
                                 .v = vec_f32(one, "v", c->size[4], a, e),
                                 .ldq = c->H * c->d,
                                 .ldk = c->Hk * c->d,
                                 .ldv = c->Hk * c->e,
                                 .heads = (int32_t)c->H,
                                 .kv_heads = (int32_t)c->Hk,
                                 .d = (int32_t)c->d,
                                 .e = (int32_t)c->e,
                                 .scale = (float)scale};
    return e->kind == ERR_NONE;
}

static struct attn_inputs with_call(struct attn_inputs in, const struct attn_plan *plan, int call)
{
    in.pieces = plan->pieces + plan->calls[call].first;
    in.npieces = plan->calls[call].n;
    return in;
}

static void backward(const struct attn_case *c, struct attn_inputs in, const float *o, const float *lse, const float *d_o, float *dq, float *dk,
                     float *dv)
{
    attention_bwd_cpu(&(struct attention_bwd_args){.in = in,
                                                   .o = o,
                                                   .lse = lse,
                                                   .d_o = d_o,
                                                   .dq = dq,
                                                   .dk = dk,
                                                   .dv = dv,
                                                   .ldo = c->H * c->e,
                                                   .lddo = c->H * c->e,
                                                   .lddq = c->H * c->d,
                                                   .lddk = c->Hk * c->d,
                                                   .lddv = c->Hk * c->e});
}

static void compare(const struct vec_out *o, struct attn_case *c, const char *suffix)
{
    static const char *const names[] = {"out", "lse", "dq", "dk", "dv"};
    float *ours[] = {c->o, c->lse, c->dq, c->dk, c->dv};
    for (int i = 0; i < 5; i++) {
        vec_compare_f32(o, table_text(o->t, "%s%s", names[i], suffix), ours[i], c->want[i], c->size[i]);
        memset(ours[i], 0, c->size[i] * sizeof(float));
    }
}

static bool whole(const struct vec_out *o, struct attn_case *c, struct arena *a, struct err *e)
{
    struct attn_plan plan;
    if (!attn_plan_make(a, c->cu, c->nseg + 1, &(struct attn_place){.split = SPLIT_WHOLE, .cp = 1}, &plan, e))
        return false;
    struct attn_inputs in = with_call(c->in, &plan, 0);
    attention_fwd_cpu(&(struct attention_fwd_args){in, c->o, c->lse, c->H * c->e});
    backward(c, in, c->o, c->lse, c->d_o, c->dq, c->dk, c->dv);
    compare(o, c, "");
    return true;
}

/* ---- the ring ---- */

struct ring_rank { /* one rank's rows, gathered; gradients of the keys go to the whole */
    struct attn_case *c;
    int rank;
    int64_t rows;
    const int64_t *row; /* global */
    struct attn_plan plan;
    float *q, *d_o, *o, *lse, *dq, *o_step, *lse_step;
};

static float *pick(struct arena *a, const float *whole, const int64_t *row, int64_t n, int64_t width)
{
    float *v = arena_array(a, float, n *width);
    for (int64_t i = 0; i < n; i++)
        memcpy(v + i * width, whole + row[i] * width, (size_t)width * sizeof *v);
    return v;
}

static void put_back(float *whole, const float *v, const int64_t *row, int64_t n, int64_t width)
{
    for (int64_t i = 0; i < n * width; i++)
        whole[row[i / width] * width + i % width] += v[i];
}

static struct attn_inputs step_inputs(const struct ring_rank *r, struct arena *a, int owner, const int64_t **row)
{
    struct attn_case *c = r->c;
    struct packing p = {c->cu, c->nseg, c->T};
    struct attn_inputs in = with_call(c->in, &r->plan, owner);
    *row = layout_rows(a, &p, (int)c->cp, owner, LAYOUT_ZIGZAG);
    in.q = r->q;
    in.k = pick(a, c->in.k, *row, r->rows, c->Hk * c->d);
    in.v = pick(a, c->in.v, *row, r->rows, c->Hk * c->e);
    return in;
}

static const char *kind_of(const struct attn_plan *p, int owner)
{
    const struct attn_piece *x = &p->pieces[p->calls[owner].first];
    return x->causal ? "diagonal" : x->klen < x->qlen ? "lower" : "upper";
}

/* Where the reference says -1e30, the row sees no key: ours is -inf. The others are compared as numbers. */
static void compare_lse(const struct vec_out *o, const char *what, float *got, double *want, int64_t n)
{
    int64_t kept = 0;
    bool same = true;
    for (int64_t i = 0; i < n; i++) {
        same &= (want[i] == -1e30) == (got[i] == -INFINITY);
        if (want[i] != -1e30) {
            got[kept] = got[i];
            want[kept++] = want[i];
        }
    }
    vec_compare_f32(o, table_text(o->t, "%s lse", what), got, want, (size_t)kept);
    vec_check(o, table_text(o->t, "%s rows without a key", what), same);
}

static bool ring_step(struct ring_rank *r, const struct vec_out *o, const struct jtree *want, int k, struct arena *a, struct err *e)
{
    struct attn_case *c = r->c;
    int owner = ring_owner((int)c->cp, (int)c->cp, r->rank, k);
    int64_t pairs, want_owner, n = r->rows * c->H;
    const int64_t *row;
    if (!vec_int(want, "step", k, k, &(int64_t){0}, e))
        return false;
    const char *kind = jtree_text(jtree_get(want, "kind")), *what = table_text(o->t, "step %d", k);
    double *lse = vec_f64(want, "lse", (size_t)n, a, e);
    if (!lse || !kind || !vec_int(want, "unmasked_pairs", 0, INT64_MAX, &pairs, e) || !vec_int(want, "kv_owner", 0, c->cp - 1, &want_owner, e))
        return kind || fail(e, ERR_FAIL, "kind: missing");
    struct attn_inputs in = step_inputs(r, a, owner, &row);
    for (int64_t i = 0; i < n; i++)
        r->lse_step[i] = -INFINITY;
    attention_fwd_cpu(&(struct attention_fwd_args){in, r->o_step, r->lse_step, c->H * c->e});
    attention_merge_cpu(&(struct attention_merge_args){r->o, r->lse, r->o_step, r->lse_step, r->rows, (int32_t)c->H, (int32_t)c->e});
    case_number(o, table_text(o->t, "%s kv_owner", what), owner, want_owner);
    case_number(o, table_text(o->t, "%s unmasked_pairs", what), r->plan.calls[owner].pairs, pairs);
    vec_check(o, table_text(o->t, "%s kind", what), !strncmp(kind, kind_of(&r->plan, owner), strcspn(kind, ":")));
    compare_lse(o, what, r->lse_step, lse, n);
    return true;
}

static void ring_back(struct ring_rank *r, struct arena *a)
{
    struct attn_case *c = r->c;
    for (int owner = 0; owner < c->cp; owner++) {
        const int64_t *row;
        struct attn_inputs in = step_inputs(r, a, owner, &row);
        float *dk = arena_array(a, float, r->rows * c->Hk * c->d), *dv = arena_array(a, float, r->rows * c->Hk * c->e);
        backward(c, in, r->o, r->lse, r->d_o, r->dq, dk, dv);
        put_back(c->dk, dk, row, r->rows, c->Hk * c->d);
        put_back(c->dv, dv, row, r->rows, c->Hk * c->e);
    }
    put_back(c->o, r->o, r->row, r->rows, c->H * c->e);
    put_back(c->lse, r->lse, r->row, r->rows, c->H);
    put_back(c->dq, r->dq, r->row, r->rows, c->H * c->d);
}

static bool ring_rank(struct attn_case *c, const struct vec_out *o, const struct jtree *want, int rank, struct arena *a, struct err *e)
{
    struct ring_rank r = {.c = c, .rank = rank, .rows = c->T / c->cp};
    struct int_list rows;
    const struct jtree *steps = jtree_get(want, "steps");
    if (!vec_int(want, "rank", rank, rank, &(int64_t){0}, e))
        return false;
    if (!attn_plan_make(a, c->cu, c->nseg + 1, &(struct attn_place){.split = SPLIT_RING_ZIGZAG, .cp = (int)c->cp, .rank = rank}, &r.plan, e) ||
        !int_member(want, "rows", a, &rows, e))
        return false;
    struct packing p = {c->cu, c->nseg, c->T};
    r.row = layout_rows(a, &p, (int)c->cp, rank, LAYOUT_ZIGZAG);
    case_compare(o, "rows", r.row, r.rows, &rows);
    if ((int64_t)jtree_len(steps) != c->cp)
        return fail(e, ERR_FAIL, "steps: not one for every rank");
    r.q = pick(a, c->in.q, r.row, r.rows, c->H * c->d);
    r.d_o = pick(a, c->d_o, r.row, r.rows, c->H * c->e);
    r.o = arena_array(a, float, r.rows * c->H * c->e);
    r.o_step = arena_array(a, float, r.rows * c->H * c->e);
    r.lse = arena_array(a, float, r.rows * c->H);
    r.lse_step = arena_array(a, float, r.rows * c->H);
    r.dq = arena_array(a, float, r.rows * c->H * c->d);
    for (int64_t i = 0; i < r.rows * c->H; i++)
        r.lse[i] = -INFINITY;
    for (int k = 0; k < (int)c->cp; k++)
        if (!ring_step(&r, o, jtree_at(steps, (size_t)k), k, a, e))
            return false;
    ring_back(&r, a);
    return true;
}

static bool run_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct attn_case c = {0};
    const struct jtree *ring = jtree_get(one, "ring");
    if (!read_case(one, &c, a, e) || !whole(o, &c, a, e))
        return false;
    if ((int64_t)jtree_len(ring) != c.cp)
        return fail(e, ERR_FAIL, "ring: not one entry for every rank");
    for (int rank = 0; rank < (int)c.cp; rank++) {
        struct vec_out mine = case_rank(o, rank);
        if (!ring_rank(&c, &mine, jtree_at(ring, (size_t)rank), rank, a, e))
            return false;
    }
    compare(o, &c, " (ring)");
    return true;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return vec_each_case(root, file, t, run_case, e);
}

const struct vector_form vec_attention = {
    .name = "attention", .what = "packed causal attention, whole and around a ring, with gradients", .sniff = sniff, .run = run};
