/* gate_noise.c - cpscope gate --aa: what runs of the same thing differ by, before anybody compares A with B. */
#include "analyzer/gate_parts.h"
#include "analyzer/noise.h"

#include <math.h>
#include <stdlib.h>

/* The figures, as rules whose limit nothing fails. */
static const char figures[] = "steps.duration_ns median >= 0\n"
                              "summary.span_ns max >= 0\n"
                              "summary.busy_pct min >= 0\n"
                              "summary.kernel_sum_ns sum >= 0\n"
                              "summary.comm_sum_ns sum >= 0\n"
                              "summary.compute_sum_ns sum >= 0\n"
                              "syncs.blocked_ns sum >= 0\n"
                              "syncs.count sum >= 0\n"
                              "op_syncs.count sum >= 0\n";

static void figure(struct judge *j, const struct measured *m)
{
    struct arena *a = &j->out->arena;
    double *v = arena_array(a, double, m->n);
    for (size_t i = 0; i < m->n; i++)
        v[i] = m->v[i].value;
    double median = median_of(v, m->n), far = fmax(fabs(v[0] - median), fabs(v[m->n - 1] - median));
    const char *share = median != 0 ? arena_printf(a, " (%.4g %% of the median)", 100 * far / fabs(median)) : "";
    struct cell *row = gate_verdict(j, gate_pass, &median, &far, arena_printf(a, "%zu runs: at most %.6g from the median%s", m->n, far, share));
    row[GATE_RULE] = cell_text(rule_subject(j->r, a));
}

bool gate_noise(const struct runset *runs, struct table *out, struct err *e)
{
    struct rules rules = {0};
    struct gate_result got = {0};
    struct gate_opts none = {0};
    table_init(out, "gate", "Noise of runs of the same thing: median, largest distance from it", gate_columns);
    struct judge j = {.o = &none, .rules = &rules, .runs = runs, .out = out, .got = &got};
    bool ok = runs->n >= 2 || fail(e, ERR_USAGE, "--aa: two or more runs of the same thing are needed, each holding the same ranks");
    ok = ok && rules_parse("noise", figures, &rules, e);
    for (size_t i = 0; ok && i < rules.n; i++) {
        struct measured m;
        j.r = &rules.rule[i];
        ok = runset_measure(j.r, runs, &out->arena, &m, e);
        if (ok && m.missing) {
            struct cell *row = gate_verdict(&j, gate_undecided, NULL, NULL, m.missing);
            row[GATE_RULE] = cell_text(rule_subject(j.r, &out->arena));
        } else if (ok)
            figure(&j, &m);
    }
    gate_own_texts(out);
    rules_free(&rules);
    return ok;
}
