/* gate_value.c - rules about one value a run: counts as they are, times by the noise of the runs. */
#include "analyzer/gate_parts.h"
#include "analyzer/noise.h"

#include <math.h>
#include <string.h>

static double *samples_of(const struct measured *m, struct arena *a)
{
    double *v = arena_array(a, double, (m ? m->n : 0) + 1);
    for (size_t i = 0; m && i < m->n; i++)
        v[i] = m->v[i].value;
    return v;
}

/* Counts are exact: the run that holds least decides. */
static void judge_count(struct judge *j, const double *v, size_t n, const double *base, size_t nb)
{
    double worst = v[0], limit = 0;
    bool holds = true;
    for (size_t i = 0; i < n && holds; i++) {
        worst = v[i];
        limit = gate_limit(j, v[i], nb ? base[0] : 0);
        holds = j->r->op->holds(v[i], limit);
    }
    gate_verdict(j, holds ? gate_pass : gate_fail, &worst, &limit, "");
}

/* Few runs: what holds passes; what does not is a failure only against a fixed limit. */
static void judge_few(struct judge *j, double value, double limit, size_t n, size_t nb)
{
    bool holds = j->r->op->holds(value, limit);
    if (holds)
        gate_verdict(j, gate_pass, &value, &limit, "");
    else if (!j->r->baseline && n == 1)
        gate_verdict(j, gate_fail, &value, &limit, "");
    else
        gate_verdict(j, gate_undecided, &value, &limit,
                     table_text(j->out, "%zu run(s) against %zu cannot tell a change from noise: %d a side are needed", n, nb, NOISE_RUNS));
}

/* How far runs of the same thing lie apart: what a change must stand out from. */
static const char *floor_text(struct judge *j, const double *base, size_t nb)
{
    double *v = arena_array(&j->out->arena, double, nb + 1);
    memcpy(v, base, nb * sizeof *v);
    double median = nb ? median_of(v, nb) : 0, far = nb ? fmax(fabs(v[0] - median), fabs(v[nb - 1] - median)) : 0;
    return median == 0 ? "" : table_text(j->out, "; the baseline's runs lie up to %.3g %% from their median", 100 * far / fabs(median));
}

static void judge_many(struct judge *j, double value, double limit, struct noise d, size_t n, const double *base, size_t nb)
{
    bool less = *j->r->op->name == '<', more = *j->r->op->name == '>';
    bool above = d.low > 0, below = d.high < 0;
    const char *v = (less && below) || (more && above) ? gate_pass : (less && above) || (more && below) ? gate_fail : gate_undecided;
    gate_verdict(j, v, &value, &limit,
                 table_text(j->out, "%zu runs against %zu: 95 %% interval of the difference from the limit %.6g to %.6g%s%s", n, nb, d.low, d.high,
                            v == gate_undecided ? ", which holds 0" : "", floor_text(j, base, nb)));
}

void gate_judge_value(struct judge *j, const struct measured *m, const struct measured *base)
{
    struct arena *a = &j->out->arena;
    double *v = samples_of(m, a), *b = samples_of(base, a);
    size_t nb = base ? base->n : 0;
    if (j->r->table->columns[j->r->column].unit == UNIT_COUNT) {
        judge_count(j, v, m->n, b, nb);
        return;
    }
    bool enough = m->n >= NOISE_RUNS && (nb >= NOISE_RUNS || !j->r->baseline);
    struct noise d = enough ? noise_of(v, m->n, b, nb, j->r->mul, j->r->add, a) : (struct noise){0};
    double value = median_of(v, m->n), limit = gate_limit(j, value, nb ? median_of(b, nb) : 0);
    if (enough)
        judge_many(j, value, limit, d, m->n, b, nb);
    else
        judge_few(j, value, limit, m->n, nb);
}
