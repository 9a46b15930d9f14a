/* gdn_case.c - reading and comparing runs of the delta rule. */
#include "kernels/vectors/gdn_case.h"

static bool read_sizes(const struct jtree *one, int chunk, struct arena *a, struct gdn_inputs *in, struct err *e)
{
    int64_t HK, HV, dk, dv;
    double scale;
    int64_t *cu = vec_cu(one, "cu_seqlens", &in->nseg, a, e);
    if (!cu || !vec_int(one, "HK", 1, 64, &HK, e) || !vec_int(one, "HV", 1, 64, &HV, e) || !vec_int(one, "dk", 1, 512, &dk, e) ||
        !vec_int(one, "dv", 1, 512, &dv, e))
        return false;
    if (HV % HK)
        return fail(e, ERR_FAIL, "HV: not a multiple of HK");
    if (!jtree_real(jtree_get(one, "scale"), &scale))
        return fail(e, ERR_FAIL, "scale: not a number");
    in->cu = cu, in->T = (int32_t)cu[in->nseg], in->scale = (float)scale;
    in->HK = (int32_t)HK, in->HV = (int32_t)HV, in->dk = (int32_t)dk, in->dv = (int32_t)dv, in->C = chunk;
    in->ldqk = HK * dk, in->ldv = HV * dv;
    return true;
}

bool gdn_case_read(const struct jtree *one, int chunk, struct arena *a, struct gdn_case *c, struct err *e)
{
    struct gdn_inputs *in = &c->in;
    if (!read_sizes(one, chunk, a, in, e))
        return false;
    size_t T = (size_t)in->T, HV = (size_t)in->HV;
    c->nqk = T * (size_t)in->ldqk, c->nv = T * (size_t)in->ldv, c->ng = T * HV, c->state = HV * (size_t)in->dk * (size_t)in->dv;
    const struct {
        const char *key;
        const float **into;
        size_t n;
    } inputs[] = {{"q", &in->q, c->nqk}, {"k", &in->k, c->nqk}, {"v", &in->v, c->nv}, {"g", &in->g, c->ng}, {"beta", &in->beta, c->ng}};
    const struct {
        const char *key;
        double **into;
        float **got;
        size_t n;
    } wanted[] = {{"out", &c->out, &c->got_out, c->nv},   {"dq", &c->dq, &c->got_dq, c->nqk}, {"dk_grad", &c->dk, &c->got_dk, c->nqk},
                  {"dv_grad", &c->dv, &c->got_dv, c->nv}, {"dg", &c->dg, &c->got_dg, c->ng},  {"dbeta", &c->dbeta, &c->got_dbeta, c->ng}};
    c->d_o = vec_f32(one, "d_out", c->nv, a, e);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        *inputs[i].into = vec_f32(one, inputs[i].key, inputs[i].n, a, e);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].into = vec_f64(one, wanted[i].key, wanted[i].n, a, e);
        *wanted[i].got = arena_array(a, float, wanted[i].n + 1);
    }
    in->tm = arena_array(a, float, T *HV *(size_t)chunk + 1);
    return !e->kind;
}

void gdn_case_compare(const struct vec_out *o, const struct gdn_case *c, const char *suffix)
{
    const struct {
        const char *key;
        const float *got;
        const double *want;
        size_t n;
    } rows[] = {{"out", c->got_out, c->out, c->nv},   {"dq", c->got_dq, c->dq, c->nqk}, {"dk_grad", c->got_dk, c->dk, c->nqk},
                {"dv_grad", c->got_dv, c->dv, c->nv}, {"dg", c->got_dg, c->dg, c->ng},  {"dbeta", c->got_dbeta, c->dbeta, c->ng}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        vec_compare_f32(o, table_text(o->t, "%s%s", rows[i].key, suffix), rows[i].got, rows[i].want, rows[i].n);
}

void *gdn_case_work(struct arena *a, size_t bytes)
{
    uintptr_t p = (uintptr_t)arena_alloc(a, bytes + 64);
    return (void *)((p + 63) / 64 * 64);
}
