/* vec_gdn_cp.c - the delta rule on shards: every rank in turn, with the summaries that it would receive.
 *
 *   forward   all: [S | M] -> each: merge -> H_in -> scan
 *   backward  all: [dS | M^T] -> each: merge -> dH_out -> scan back
 */
#include "kernels/layout/recurrent.h"
#include "kernels/vectors/gdn_case.h"

#include <string.h>

enum { CHUNK = 4, RANKS_MAX = 64 }; /* short chunks: shards of several even in small files */

struct shard {
    struct gdn_inputs in;
    struct recurrent r;
    const float *d_o;
    size_t qk, v, g; /* its first element in the whole tensors */
};

struct world {
    struct gdn_case c;
    struct arena *a;
    struct shard *shard;
    int64_t cp;
    size_t block;    /* floats of [S | M] */
    float *sm, *dsm; /* [cp][block] */
};

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"q", "k", "v", "g", "beta", "scale", "cp", "ranks", "d_out", NULL};
    return vec_has(jtree_at(vec_cases(root), 0), keys);
}

static bool cut(struct world *w, int rank, struct err *e)
{
    struct shard *s = &w->shard[rank];
    struct gdn_inputs *in = &s->in;
    struct err why = {0};
    *in = w->c.in;
    if (!recurrent_context(w->a, in->cu, in->nseg + 1, (int)w->cp, rank, 0, &s->r, &why))
        return fail(e, ERR_FAIL, "%s", why.msg);
    size_t from = (size_t)rank * (size_t)s->r.rows;
    s->qk = from * (size_t)in->ldqk, s->v = from * (size_t)in->ldv, s->g = from * (size_t)in->HV;
    in->q += s->qk, in->k += s->qk, in->v += s->v, in->g += s->g, in->beta += s->g, in->tm += s->g * (size_t)in->C;
    in->T = (int32_t)s->r.rows, in->nseg = (int32_t)s->r.segments, in->cu = s->r.local_cu;
    s->d_o = w->c.d_o + s->v;
    return true;
}

/* What all ranks put into the two all-gathers. */
static void summarise(struct world *w)
{
    for (int r = 0; r < w->cp; r++) {
        const struct shard *s = &w->shard[r];
        const struct gdn_inputs *in = &s->in;
        float *sm = w->sm + (size_t)r * w->block;
        gdn_scan_prepare_cpu(&(struct gdn_scan_prepare_args){*in, gdn_case_work(w->a, gdn_scan_prepare_work(in))});
        if (!s->r.is_last)
            gdn_summary_fwd_cpu(&(struct gdn_summary_fwd_args){.in = *in, .sm = sm, .work = gdn_case_work(w->a, gdn_summary_fwd_work(in))});
        if (!s->r.is_first)
            gdn_summary_bwd_cpu(&(struct gdn_summary_bwd_args){*in, s->d_o, sm, w->dsm + (size_t)r * w->block,
                                                               gdn_case_work(w->a, gdn_summary_bwd_work(in)), in->ldv});
    }
}

static float *merge(struct world *w, const float *all, int first, int count, int step)
{
    struct gdn_summary_merge_args m = {.all = all, .x = arena_array(w->a, float, w->c.state), .first = first, .count = count, .step = step};
    m.HV = w->c.in.HV, m.dk = w->c.in.dk, m.dv = w->c.in.dv;
    m.work = gdn_case_work(w->a, gdn_summary_merge_work(&m));
    gdn_summary_merge_cpu(&m);
    return m.x;
}

/* Both scans of one rank; results go to their place in the whole tensors. Gives dH_in, zero when nothing enters. */
static float *scan(struct world *w, const struct shard *s, const float *h_in, const float *dh_out)
{
    const struct gdn_inputs *in = &s->in;
    const struct gdn_case *c = &w->c;
    float *dh_in = arena_array(w->a, float, c->state);
    gdn_scan_fwd_cpu(&(struct gdn_scan_fwd_args){
        .in = *in, .h_in = h_in, .o = c->got_out + s->v, .ldo = in->ldv, .work = gdn_case_work(w->a, gdn_scan_fwd_work(in))});
    gdn_scan_bwd_cpu(&(struct gdn_scan_bwd_args){.in = *in,
                                                 .h_in = h_in,
                                                 .d_o = s->d_o,
                                                 .dh_out = dh_out,
                                                 .dq = c->got_dq + s->qk,
                                                 .dk = c->got_dk + s->qk,
                                                 .dv = c->got_dv + s->v,
                                                 .dg = c->got_dg + s->g,
                                                 .dbeta = c->got_dbeta + s->g,
                                                 .dh_in = s->r.is_first ? NULL : dh_in,
                                                 .lddo = in->ldv,
                                                 .lddqk = in->ldqk,
                                                 .lddv = in->ldv,
                                                 .work = gdn_case_work(w->a, gdn_scan_bwd_work(in))});
    return dh_in;
}

/* Columns from .. from + cols - 1 of the [dk][dv+dk] of every head. */
static float *columns(struct world *w, const float *sm, int from, int cols)
{
    int E = w->c.in.dv + w->c.in.dk, rows = w->c.in.HV * w->c.in.dk;
    float *out = arena_array(w->a, float, rows *cols);
    for (int i = 0; i < rows; i++)
        memcpy(out + (size_t)i * (size_t)cols, sm + (size_t)i * (size_t)E + from, sizeof(float) * (size_t)cols);
    return out;
}

static bool check_rank(struct world *w, const struct jtree *want, const struct vec_out *o, int rank, struct err *e)
{
    const struct shard *s = &w->shard[rank];
    const struct gdn_inputs *in = &w->c.in;
    const float *sm = w->sm + (size_t)rank * w->block, *dsm = w->dsm + (size_t)rank * w->block;
    float *h_in = merge(w, w->sm, rank - s->r.pre_ranks, s->r.pre_ranks, 1);
    float *dh_out = merge(w, w->dsm, rank + s->r.post_ranks, s->r.post_ranks, -1);
    float *dh_in = scan(w, s, h_in, dh_out);
    size_t square = (size_t)in->HV * (size_t)in->dk * (size_t)in->dk;
    const struct {
        const char *key;
        const float *got;
        size_t n;
    } rows[] = {{"S", columns(w, sm, 0, in->dv), w->c.state},
                {"M", columns(w, sm, in->dv, in->dk), square},
                {"H_in", h_in, w->c.state},
                {"dS_ext", columns(w, dsm, 0, in->dv), w->c.state},
                {"dH_out", dh_out, w->c.state},
                {"dH_in", dh_in, w->c.state}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double *wanted = vec_f64(want, rows[i].key, rows[i].n, w->a, e);
        if (wanted)
            vec_compare_f32(o, table_text(o->t, "%s rank %d", rows[i].key, rank), rows[i].got, wanted, rows[i].n);
    }
    return !e->kind;
}

static bool run_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct world w = {.a = a};
    const struct jtree *ranks = jtree_get(one, "ranks");
    if (!gdn_case_read(one, CHUNK, a, &w.c, e) || !vec_int(one, "cp", 1, RANKS_MAX, &w.cp, e))
        return false;
    if (jtree_len(ranks) != (size_t)w.cp)
        return fail(e, ERR_FAIL, "ranks: not a list of %d", (int)w.cp);
    w.shard = arena_array(a, struct shard, w.cp);
    w.block = (size_t)w.c.in.HV * (size_t)w.c.in.dk * (size_t)(w.c.in.dv + w.c.in.dk);
    w.sm = arena_array(a, float, (size_t)w.cp *w.block);
    w.dsm = arena_array(a, float, (size_t)w.cp *w.block);
    for (int r = 0; r < w.cp; r++)
        if (!cut(&w, r, e))
            return false;
    summarise(&w);
    for (int r = 0; r < w.cp; r++)
        if (!check_rank(&w, jtree_at(ranks, (size_t)r), o, r, e))
            return false;
    gdn_case_compare(o, &w.c, "");
    return true;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return vec_each_case(root, file, t, run_case, e);
}

const struct vector_form vec_gdn_cp = {
    .name = "gdn_cp",
    .what = "the delta rule on shards: summaries and states",
    .sniff = sniff,
    .run = run,
};
