/* vec_gdn_core.c - the delta rule alone, at three chunk lengths: every token a chunk, short chunks, and the usual one. */
#include "kernels/vectors/gdn_case.h"

#include <string.h>

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"q", "k", "v", "g", "beta", "scale", "final_state", "d_out", NULL};
    return vec_has(jtree_at(vec_cases(root), 0), keys);
}

static void whole(struct gdn_case *c, struct arena *a)
{
    const struct gdn_inputs *in = &c->in;
    gdn_scan_prepare_cpu(&(struct gdn_scan_prepare_args){*in, gdn_case_work(a, gdn_scan_prepare_work(in))});
    gdn_scan_fwd_cpu(&(struct gdn_scan_fwd_args){.in = *in, .o = c->got_out, .ldo = in->ldv, .work = gdn_case_work(a, gdn_scan_fwd_work(in))});
    gdn_scan_bwd_cpu(&(struct gdn_scan_bwd_args){.in = *in,
                                                 .d_o = c->d_o,
                                                 .dq = c->got_dq,
                                                 .dk = c->got_dk,
                                                 .dv = c->got_dv,
                                                 .dg = c->got_dg,
                                                 .dbeta = c->got_dbeta,
                                                 .lddo = in->ldv,
                                                 .lddqk = in->ldqk,
                                                 .lddv = in->ldv,
                                                 .work = gdn_case_work(a, gdn_scan_bwd_work(in))});
}

/* The state after every slot: the scan of the slots up to it. Nothing leaves an empty slot. */
static void final_states(const struct gdn_case *c, struct arena *a, float *states)
{
    for (int i = 0; i < c->in.nseg; i++) {
        struct gdn_inputs in = c->in;
        in.nseg = i + 1;
        if (in.cu[i] == in.cu[i + 1])
            continue;
        gdn_scan_fwd_cpu(&(struct gdn_scan_fwd_args){.in = in,
                                                     .o = arena_array(a, float, c->nv),
                                                     .h_out = states + (size_t)i * c->state,
                                                     .ldo = in.ldv,
                                                     .work = gdn_case_work(a, gdn_scan_fwd_work(&in))});
    }
}

static bool run_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    static const struct {
        int length;
        const char *suffix;
    } chunks[] = {{64, ""}, {4, " (chunks of 4)"}, {1, " (chunks of 1)"}};
    struct gdn_case c = {0};
    if (!gdn_case_read(one, chunks[0].length, a, &c, e))
        return false;
    size_t nstates = (size_t)c.in.nseg * c.state;
    double *want = vec_f64(one, "final_state", nstates, a, e);
    for (size_t i = 0; want && i < sizeof chunks / sizeof *chunks; i++) {
        float *states = arena_array(a, float, nstates);
        c.in.C = chunks[i].length;
        whole(&c, a);
        final_states(&c, a, states);
        gdn_case_compare(o, &c, chunks[i].suffix);
        vec_compare_f32(o, table_text(o->t, "final_state%s", chunks[i].suffix), states, want, nstates);
    }
    return want != NULL;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return vec_each_case(root, file, t, run_case, e);
}

const struct vector_form vec_gdn_core = {
    .name = "gdn_core",
    .what = "the delta rule: outputs, states, gradients",
    .sniff = sniff,
    .run = run,
};
