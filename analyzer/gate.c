/* gate.c - judging rules: what stands in the way of a verdict, and which judge a rule goes to. */
#include "analyzer/gate.h"
#include "analyzer/gate_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct column gate_columns[] = {
    {"rule", UNIT_TEXT, .what = "the rule as written"},
    {"verdict", UNIT_TEXT, .what = "pass, fail, undecided"},
    {"measured", UNIT_REAL, .what = "what the runs show, in the column's unit: counts are totals over ranks, times the median over runs"},
    {"limit", UNIT_REAL, .what = "what would still pass; of a rate: the count that the baseline's most lenient rate allows"},
    {"why", UNIT_TEXT, .what = "the site or value, and the rule's comment"},
    {"file", UNIT_TEXT, .what = "where the site is in the source"},
    {"line", UNIT_ID, .what = "its first line there"},
    {0},
};
const char gate_pass[] = "pass", gate_fail[] = "fail", gate_undecided[] = "undecided";

struct cell *gate_verdict(struct judge *j, const char *v, const double *measured, const double *limit, const char *why)
{
    struct cell *row = table_row(j->out);
    if (v == gate_pass && j->lost && *j->r->op->name == '<' && j->r->table->columns[j->r->column].unit == UNIT_COUNT)
        v = gate_undecided, why = j->lost; /* what is missing might have failed */
    row[GATE_RULE] = cell_text(j->r->text);
    row[GATE_VERDICT] = cell_text(v);
    row[GATE_MEASURED] = measured ? cell_real(*measured) : (struct cell){0};
    row[GATE_LIMIT] = limit ? cell_real(*limit) : (struct cell){0};
    const char *comment = v == gate_undecided ? "" : j->r->why; /* the rule's reason does not say why it could not be judged */
    row[GATE_WHY] = cell_text(table_text(j->out, "%s%s%s", why, *why && *comment ? "; " : "", comment));
    j->got->pass += v == gate_pass;
    j->got->fail += v == gate_fail;
    j->got->undecided += v == gate_undecided;
    return row;
}

double gate_limit(const struct judge *j, double measured, double base)
{
    const struct rule *r = j->r;
    if (!r->baseline)
        return r->add;
    if (!rule_counts(r))
        return base * r->mul + r->add;
    double best = 0;
    bool found = false;
    for (int u = 0; u < NUNITS; u++) {
        double mine = (double)j->units.n[u], theirs = (double)j->o->baseline->units.n[u];
        if (mine == 0 || theirs == 0)
            continue;
        double limit = base * r->mul * mine / theirs + r->add;
        if (!found || (!r->op->holds(measured, best) && (r->op->holds(measured, limit) || limit > best)))
            best = limit;
        found = true;
    }
    return best;
}

/* Times of a run whose threads outnumber its cores are shown, never judged. */
static const char *no_time(const struct judge *j)
{
    enum unit u = j->r->table->columns[j->r->column].unit;
    bool time = u == UNIT_NS || u == UNIT_PERCENT || u == UNIT_REAL;
    return time && gate_oversubscribed(j->runs) ? "more threads than cores: times of this trace are not for judging" : NULL;
}

/* Why the two sides' units do not fit the rule. */
static const char *units_differ(const struct judge *j, struct arena *a)
{
    const struct units *b = &j->o->baseline->units, *t = &j->units;
    if (b->ranks && t->ranks && b->ranks != t->ranks) /* a site may be met on some ranks only */
        return arena_printf(a, "not comparable with the baseline: %" PRId64 " rank%s recorded against %" PRId64, t->ranks, t->ranks == 1 ? "" : "s",
                            b->ranks);
    if (rule_counts(j->r))
        return b->whole != t->whole ? "not comparable with the baseline: only one of the two has steps" : NULL;
    bool tokens = b->tokens && t->tokens && b->tokens * t->n[UNIT_STEPS] != t->tokens * b->n[UNIT_STEPS];
    return tokens ? "not comparable with the baseline: the tokens of a step differ" : NULL;
}

/* Why a comparison with the baseline cannot be made; NULL when it can. */
static const char *obstacle(const struct judge *j, const struct facts *mine, const struct measured *base, struct arena *a)
{
    if (!j->r->baseline)
        return NULL;
    if (!j->o->baseline)
        return "compares with a baseline: give --baseline FILE";
    const char *differ = facts_differ(&j->o->baseline->facts, mine, a);
    if (differ)
        return differ;
    if (!base)
        return arena_printf(a, "the baseline does not hold \"%s\": write it again with these rules", rule_subject(j->r, a));
    if (base->missing)
        return arena_printf(a, "in the baseline: %s", base->missing);
    return units_differ(j, a);
}

/* Why the runs themselves do not answer the rule; NULL: they do. */
static const char *unfit(const struct judge *j, const struct measured *m, struct arena *a)
{
    const char *why = m->missing ? m->missing : no_time(j);
    for (size_t i = 0; i < j->runs->n && !why && strcmp(j->r->table->name, "syncs") == 0; i++)
        why = gate_stack_threshold(&j->runs->v[i].t, a);
    return why;
}

static bool judge_rule(struct judge *j, const struct facts *mine, struct err *e)
{
    struct arena *a = &j->out->arena;
    struct measured m;
    if (!runset_measure(j->r, j->runs, a, &m, e))
        return false;
    const struct measured *base = j->o->baseline && j->r->baseline ? baseline_find(j->o->baseline, rule_subject(j->r, a)) : NULL;
    const char *why = unfit(j, &m, a);
    j->unrecorded |= m.missing != NULL;
    why = why ? why : obstacle(j, mine, base, a);
    if (why)
        gate_verdict(j, gate_undecided, m.n == 1 && j->r->agg != AGG_PER ? &m.v[0].value : NULL, NULL, why);
    else if (j->r->agg == AGG_PER)
        gate_judge_keys(j, &m, base);
    else
        gate_judge_value(j, &m, base);
    return true;
}

void gate_own_texts(struct table *t)
{
    for (size_t r = 0; r < t->nrows; r++)
        for (size_t c = 0; c < t->ncolumns; c++) {
            struct cell *cell = &table_at(t, r)[c];
            if (cell->kind == CELL_TEXT)
                cell->s = arena_strdup(&t->arena, cell->s);
        }
}

static void notes(const struct judge *j)
{
    const struct gate_result *got = j->got;
    const struct runset *runs = j->runs;
    const struct rules *rules = j->rules;
    struct table *out = j->out;
    for (size_t i = 0; i < rules->nallow; i++)
        if (!rules->allow[i].used)
            table_note(out, "%s:%d: allow %s matched nothing: stale", rules->allow[i].file, rules->allow[i].line, rules->allow[i].pattern);
    const char *verdict_text = got->fail ? "FAIL" : got->undecided ? "UNDECIDED" : "PASS";
    table_note(out, "%s: %zu failing, %zu undecided, %zu passing; %zu run%s; window: %s", verdict_text, got->fail, got->undecided, got->pass, runs->n,
               runs->n == 1 ? "" : "s", trace_window_text(&runs->v[0].t, &out->arena));
    if (j->unrecorded && !got->fail)
        table_note(out, "a rules file without what this trace does not record decides: --rules FILE, see cpscope help rules");
    if (j->units.whole)
        table_note(out, "no steps were found: counts are of the whole window, so two windows must hold the same work");
}

bool gate_run(const struct runset *runs, struct rules *rules, const struct gate_opts *o, struct table *out, struct gate_result *got, struct err *e)
{
    table_init(out, "gate", "Gate", gate_columns);
    *got = (struct gate_result){0};
    struct facts mine = facts_of(&runs->v[0].t, &out->arena);
    struct judge j = {.units = units_count(&runs->v[0].t), .o = o, .rules = rules, .runs = runs, .out = out, .got = got};
    for (size_t i = 0; i < runs->n && !j.lost; i++)
        j.lost = gate_losses(&runs->v[i].t, &out->arena);
    for (size_t i = 0; i < rules->n; i++) {
        j.r = &rules->rule[i];
        if (!judge_rule(&j, &mine, e))
            return false;
    }
    gate_own_texts(out);
    notes(&j);
    return true;
}
