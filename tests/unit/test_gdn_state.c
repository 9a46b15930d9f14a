/* test_gdn_state.c - maps of states against plain loops: composition, the fold and its derivative, the log scan for any number
 * of ranks, the summary's derivative with its states kept and run again. */
#include "modes_run.h"

#include "kernels/ops/gates.h"
#include "kernels/ops/gdn_state.h"

enum { HV = 2, DK = 4, DV = 3, E = DV + DK, MAP = HV * DK * E, STATE = HV * DK * DV };

/* y = M x + S, head by head. */
static void apply(const float *map, const float *x, float *y)
{
    for (int h = 0; h < HV; h++)
        for (int i = 0; i < DK; i++)
            for (int j = 0; j < DV; j++) {
                const float *row = map + (h * DK + i) * E;
                double sum = row[j];
                for (int k = 0; k < DK; k++)
                    sum += (double)row[DV + k] * x[(h * DK + k) * DV + j];
                y[(h * DK + i) * DV + j] = (float)sum;
            }
}

static void random_map(float *map)
{
    for (int i = 0; i < MAP; i++)
        map[i] = (float)(0.4 * rnd_real());
}

static void compose(const float *later, const float *earlier, float *out)
{
    gdn_map_compose_cpu(&(struct gdn_map_compose_args){later, earlier, out, HV, DK, DV});
}

TEST(composition_is_one_after_the_other)
{
    PROP(20)
    {
        float later[MAP], earlier[MAP], both[MAP], x[STATE], one[STATE], two[STATE], got[STATE];
        random_map(later);
        random_map(earlier);
        for (int i = 0; i < STATE; i++)
            x[i] = (float)rnd_real();
        compose(later, earlier, both);
        apply(earlier, x, one);
        apply(later, one, two);
        apply(both, x, got);
        assert_true(rel_l2(got, two, STATE) < 1e-6);
    }
}

/* The example of the spec: S0 = (1, 2), S1 = (3, 4), M1 = diag(4, 5) give (7, 14). */
TEST(the_specs_example)
{
    float all[2][6] = {{1, 1, 0, 2, 0, 1}, {3, 4, 0, 4, 0, 5}}, x[2], work[2];
    gdn_summary_merge_cpu(
        &(struct gdn_summary_merge_args){.all = all[0], .x = x, .work = work, .HV = 1, .dk = 2, .dv = 1, .first = 0, .count = 2, .step = 1});
    assert_true(x[0] == 7 && x[1] == 14);
}

/* What every rank has received after all rounds, by the rule of mode_gdn_state_logscan.c, against the fold. */
static void log_scan(int c)
{
    struct arena a = {0};
    float *own = arena_array(&a, float, c *MAP), *running = arena_array(&a, float, c *MAP), *next = arena_array(&a, float, c *MAP);
    float *received = arena_array(&a, float, c *MAP), out[MAP], zero[STATE] = {0}, got[STATE], want[STATE], moved[STATE];
    bool *any = arena_array(&a, bool, c);
    for (int r = 0; r < c; r++)
        random_map(own + r * MAP);
    memcpy(running, own, sizeof(float) * (size_t)(c * MAP));
    for (int k = 1; k < c; k *= 2) {
        memcpy(next, running, sizeof(float) * (size_t)(c * MAP));
        for (int r = k; r < c; r++) {
            const float *x = running + (r - k) * MAP;
            compose(running + r * MAP, x, next + r * MAP);
            if (any[r])
                compose(received + r * MAP, x, out);
            memcpy(received + r * MAP, any[r] ? out : x, sizeof out);
            any[r] = true;
        }
        memcpy(running, next, sizeof(float) * (size_t)(c * MAP));
    }
    for (int r = 1; r < c; r++) {
        memset(want, 0, sizeof want);
        for (int j = 0; j < r; j++) {
            apply(own + j * MAP, want, moved);
            memcpy(want, moved, sizeof want);
        }
        apply(received + r * MAP, zero, got);
        if (!any[r] || !(rel_l2(got, want, STATE) < 1e-5))
            fail_msg("rank %d of %d: not the fold of the ranks before it", r, c);
    }
    arena_free(&a);
}

TEST(log_scan_of_2_to_16_ranks)
{
    PROP(1)
    {
        for (int c = 2; c <= 16; c++)
            log_scan(c);
    }
}

static double fold_loss(const float *all, int count, const float *dx)
{
    float x[STATE] = {0}, y[STATE];
    double loss = 0;
    for (int j = 0; j < count; j++) {
        apply(all + j * MAP, x, y);
        memcpy(x, y, sizeof x);
    }
    for (int i = 0; i < STATE; i++)
        loss += (double)x[i] * dx[i];
    return loss;
}

TEST(derivative_of_the_fold)
{
    PROP(8)
    {
        enum { RANKS = 4 };
        float all[RANKS * MAP], dall[RANKS * MAP], dx[STATE], work[(RANKS + 2) * DK * DV];
        int first = (int)rnd(2), count = 1 + (int)rnd(RANKS - 1);
        for (int j = 0; j < RANKS; j++)
            random_map(all + j * MAP);
        for (int i = 0; i < STATE; i++)
            dx[i] = (float)rnd_real();
        gdn_merge_grad_cpu(&(struct gdn_merge_grad_args){all, dx, dall, work, HV, DK, DV, first, count});
        for (int i = 0; i < count * MAP; i += 3) {
            float *v = all + first * MAP + i, was = *v, h = 1.0f / 64;
            *v = was + h;
            double up = fold_loss(all + first * MAP, count, dx);
            *v = was - h;
            double down = fold_loss(all + first * MAP, count, dx);
            *v = was;
            assert_true(fabs((up - down) / (2 * h) - dall[first * MAP + i]) < 1e-4);
        }
    }
}

/* ---- the summary ---- */

enum { TOKENS = 150, HK = 1, C = 64, LONGEST = 100 };

struct tensors {
    float k[TOKENS * HK * DK], v[TOKENS * HV * DV], g[TOKENS * HV], beta[TOKENS * HV];
};

struct shard {
    struct tensors t;
    float tm[HV * TOKENS * C];
    int64_t cu[3];
};

static struct gdn_inputs inputs_of(struct shard *s)
{
    return (struct gdn_inputs){.q = s->t.k,
                               .k = s->t.k,
                               .v = s->t.v,
                               .g = s->t.g,
                               .beta = s->t.beta,
                               .tm = s->tm,
                               .cu = s->cu,
                               .ldqk = HK * DK,
                               .ldv = HV * DV,
                               .T = TOKENS,
                               .HK = HK,
                               .HV = HV,
                               .dk = DK,
                               .dv = DV,
                               .C = C,
                               .nseg = 2,
                               .scale = 0.5f};
}

static void random_shard(struct shard *s)
{
    for (int i = 0; i < TOKENS * HK * DK; i++)
        s->t.k[i] = (float)(0.5 * rnd_real());
    for (int i = 0; i < TOKENS * HV * DV; i++)
        s->t.v[i] = (float)rnd_real();
    for (int i = 0; i < TOKENS * HV; i++) {
        s->t.g[i] = (float)(0.01 * rnd_real() - 0.011);
        s->t.beta[i] = (float)(0.5 + 0.4 * rnd_real());
    }
    s->cu[1] = TOKENS - LONGEST;
    s->cu[2] = TOKENS;
}

/* [S | M] token by token, in double: sum(sm * dsm). */
static double summary_loss(const struct shard *s, const float *dsm, bool reset)
{
    double loss = 0;
    for (int h = 0; h < HV; h++) {
        double x[DK][E] = {{0}};
        for (int i = 0; i < DK && !reset; i++)
            x[i][DV + i] = 1;
        for (int64_t t = s->cu[1]; t < TOKENS; t++) {
            const float *k = s->t.k + t * HK * DK;
            for (int j = 0; j < E; j++) {
                double r = 0, a = exp((double)s->t.g[t * HV + h]);
                for (int i = 0; i < DK; i++)
                    r += (x[i][j] *= a) * k[i];
                double u = s->t.beta[t * HV + h] * ((j < DV ? (double)s->t.v[(t * HV + h) * DV + j] : 0) - r);
                for (int i = 0; i < DK; i++)
                    x[i][j] += k[i] * u;
            }
        }
        for (int i = 0; i < DK; i++)
            for (int j = 0; j < E; j++)
                loss += x[i][j] * dsm[(h * DK + i) * E + j];
    }
    return loss;
}

/* Gradients as the op adds them to zeros, with states kept or not. */
static struct tensors *gradient(struct shard *s, const float *dsm, bool keep, bool reset, struct arena *a)
{
    struct gdn_inputs in = inputs_of(s);
    struct tensors *d = arena_array(a, struct tensors, 1);
    float *states = arena_array(a, float, 2 * MAP), *sm = arena_array(a, float, MAP);
    gdn_scan_prepare_cpu(&(struct gdn_scan_prepare_args){in, arena_alloc(a, gdn_scan_prepare_work(&in))});
    gdn_summary_fwd_cpu(&(struct gdn_summary_fwd_args){
        .in = in, .sm = sm, .states = keep ? states : NULL, .work = arena_alloc(a, gdn_summary_fwd_work(&in)), .reset = reset});
    struct gdn_summary_grad_args args = {.in = in,
                                         .dsm = dsm,
                                         .states = keep ? states : NULL,
                                         .dk = d->k,
                                         .dv = d->v,
                                         .dg = d->g,
                                         .dbeta = d->beta,
                                         .lddqk = HK * DK,
                                         .lddv = HV * DV,
                                         .reset = reset};
    args.work = arena_alloc(a, gdn_summary_grad_work(&args));
    gdn_summary_grad_cpu(&args);
    return d;
}

/* Some elements of one tensor by central differences. */
static void check(struct shard *s, const float *dsm, bool reset, float *v, const float *d, int64_t n, const char *what)
{
    for (int64_t i = (int64_t)rnd(7); i < n; i += 13) {
        float was = v[i], h = 1.0f / 512;
        v[i] = was + h;
        double up = summary_loss(s, dsm, reset);
        v[i] = was - h;
        double down = summary_loss(s, dsm, reset), want = (up - down) / (2 * (double)h);
        v[i] = was;
        if (!(fabs(d[i] - want) <= 2e-4 * (1 + fabs(want))))
            fail_msg("%s[%lld]: %.7g, want %.7g", what, (long long)i, d[i], want);
    }
}

TEST(derivative_of_the_summary)
{
    PROP(4)
    {
        struct arena a = {0};
        struct shard *s = arena_array(&a, struct shard, 1);
        float dsm[MAP];
        bool reset = prop_ % 2;
        random_shard(s);
        random_map(dsm);
        struct tensors *kept = gradient(s, dsm, true, reset, &a), *again = gradient(s, dsm, false, reset, &a);
        assert_memory_equal(kept, again, sizeof *kept); /* checkpointed = plain */
        check(s, dsm, reset, s->t.k, kept->k, TOKENS * HK * DK, "k");
        check(s, dsm, reset, s->t.v, kept->v, TOKENS * HV * DV, "v");
        check(s, dsm, reset, s->t.g, kept->g, TOKENS * HV, "g");
        check(s, dsm, reset, s->t.beta, kept->beta, TOKENS * HV, "beta");
        arena_free(&a);
    }
}

UNIT_MAIN(UNIT(composition_is_one_after_the_other), UNIT(the_specs_example), UNIT(log_scan_of_2_to_16_ranks), UNIT(derivative_of_the_fold),
          UNIT(derivative_of_the_summary))
