/* gate.c - judging rules. */
#include "analyzer/gate.h"

#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
    {"rule", UNIT_TEXT, .what = "the rule as written"},
    {"verdict", UNIT_TEXT, .what = "pass, fail, undecided"},
    {"measured", UNIT_REAL, .what = "what the trace shows, in the column's unit; counts are totals over ranks"},
    {"limit", UNIT_REAL, .what = "what would still pass; of a rate: the count that the baseline's most lenient rate allows"},
    {"why", UNIT_TEXT, .what = "the site or value, and the rule's comment"},
    {0},
};
enum { C_RULE, C_VERDICT, C_MEASURED, C_LIMIT, C_WHY };

static const char pass[] = "pass", failed[] = "fail", undecided[] = "undecided";

struct judge {
    const struct rule *r;
    struct units units;
    const struct baseline *b;
    struct rules *rules;
    struct table *out;
    struct gate_result *got;
};

static void verdict(struct judge *j, const char *v, const double *measured, const double *limit, const char *why)
{
    struct cell *row = table_row(j->out);
    row[C_RULE] = cell_text(j->r->text);
    row[C_VERDICT] = cell_text(v);
    row[C_MEASURED] = measured ? cell_real(*measured) : (struct cell){0};
    row[C_LIMIT] = limit ? cell_real(*limit) : (struct cell){0};
    const char *comment = v == undecided ? "" : j->r->why; /* the rule's reason does not say why it could not be judged */
    row[C_WHY] = cell_text(table_text(j->out, "%s%s%s", why, *why && *comment ? "; " : "", comment));
    j->got->pass += v == pass;
    j->got->fail += v == failed;
    j->got->undecided += v == undecided;
}

/* The limit for a key whose baseline value is `base`, as a value of this trace. */
static double limit_of(const struct judge *j, double measured, double base)
{
    const struct rule *r = j->r;
    if (!r->baseline)
        return r->add;
    if (!rule_counts(r))
        return base * r->mul + r->add;
    double best = 0;
    bool found = false;
    for (int u = 0; u < NUNITS; u++) {
        double mine = (double)j->units.n[u], theirs = (double)j->b->units.n[u];
        if (mine == 0 || theirs == 0)
            continue;
        double limit = base * r->mul * mine / theirs + r->add;
        if (!found || (r->op->holds(measured, limit) && !r->op->holds(measured, best)) || (!r->op->holds(measured, best) && limit > best))
            best = limit;
        found = true;
    }
    return best;
}

static double base_value(const struct measured *base, const char *key, bool *there)
{
    for (size_t i = 0; i < base->n; i++)
        if (strcmp(base->v[i].key, key) == 0) {
            *there = true;
            return base->v[i].value;
        }
    *there = false;
    return 0;
}

static bool allowed(struct judge *j, const char *key)
{
    bool any = false;
    for (size_t i = 0; i < j->rules->nallow; i++)
        if (regexec(&j->rules->allow[i].re, key, 0, NULL, 0) == 0)
            any = j->rules->allow[i].used = true;
    return any;
}

/* One key that fails, in words: what it is, how often, what it cost. */
static const char *key_text(struct judge *j, const struct measured_key *k, bool there, double limit)
{
    const char *what = !j->r->baseline ? "" : there ? "more often than the baseline: " : "new: ";
    const char *cost = k->ns >= 0 ? table_text(j->out, ", %.3f ms", (double)k->ns / 1e6) : "";
    return table_text(j->out, "%s%s: %.17g times%s (%.17g would pass)", what, k->key, k->value, cost, limit);
}

struct tally {
    double measured, limit;
    size_t keys, failing, allowed;
};

static void judge_key(struct judge *j, const struct measured *base, const struct measured_key *k, struct tally *sum)
{
    bool there = false;
    double limit = limit_of(j, k->value, base ? base_value(base, k->key, &there) : 0);
    sum->keys++;
    sum->measured += k->value;
    sum->limit += limit;
    if (j->r->op->holds(k->value, limit))
        return;
    if (allowed(j, k->key)) {
        sum->allowed++;
        return;
    }
    sum->failing++;
    verdict(j, failed, &k->value, &limit, key_text(j, k, there, limit));
}

static void judge_per(struct judge *j, const struct measured *m, const struct measured *base)
{
    struct tally sum = {0};
    for (size_t i = 0; i < m->n; i++)
        judge_key(j, base, &m->v[i], &sum);
    for (size_t i = 0; base && i < base->n; i++) { /* a key that is gone is 0 here */
        bool there;
        base_value(m, base->v[i].key, &there);
        struct measured_key gone = {base->v[i].key, 0, -1};
        if (!there)
            judge_key(j, base, &gone, &sum);
    }
    const char *also = sum.allowed ? table_text(j->out, ", %zu allowed", sum.allowed) : "";
    if (!sum.failing)
        verdict(j, pass, &sum.measured, &sum.limit, table_text(j->out, "checked: %zu by %s%s", sum.keys, j->r->table->columns[j->r->key].name, also));
}

static void judge_one(struct judge *j, const struct measured *m, const struct measured *base)
{
    double value = m->v[0].value, limit = limit_of(j, value, base && base->n ? base->v[0].value : 0);
    bool holds = j->r->op->holds(value, limit);
    bool noisy = j->r->baseline && j->r->table->columns[j->r->column].unit != UNIT_COUNT;
    if (holds)
        verdict(j, pass, &value, &limit, "");
    else if (noisy)
        verdict(j, undecided, &value, &limit, "one run on a side cannot tell a change from noise");
    else
        verdict(j, failed, &value, &limit, "");
}

static bool oversubscribed(const struct trace *t)
{
    for (size_t i = 0; i < t->nfiles; i++) {
        const char *said = tracedata_meta_get(&t->files[i].d, "oversubscribed");
        if (said && strcmp(said, "0") != 0)
            return true;
    }
    return false;
}

/* Times of a run whose threads outnumber its cores are shown, never judged. */
static const char *no_time(const struct judge *j, const struct trace *t)
{
    enum unit u = j->r->table->columns[j->r->column].unit;
    bool time = u == UNIT_NS || u == UNIT_PERCENT || u == UNIT_REAL;
    return time && oversubscribed(t) ? "more threads than cores: times of this trace are not for judging" : NULL;
}

/* Why a comparison with the baseline cannot be made; NULL when it can. */
static const char *obstacle(const struct judge *j, const struct facts *mine, const struct measured *base, struct arena *a)
{
    if (!j->r->baseline)
        return NULL;
    if (!j->b)
        return "compares with a baseline: give --baseline FILE";
    const char *differ = facts_differ(&j->b->facts, mine, a);
    if (differ)
        return differ;
    if (!base)
        return arena_printf(a, "the baseline does not hold \"%s\": write it again with these rules", rule_subject(j->r, a));
    if (base->missing)
        return arena_printf(a, "in the baseline: %s", base->missing);
    if (rule_counts(j->r) && j->b->units.whole != j->units.whole)
        return "not comparable with the baseline: only one of the two has steps";
    if (!rule_counts(j->r) && j->b->units.tokens && j->units.tokens) {
        int64_t b = j->b->units.tokens * j->units.n[UNIT_STEPS], t = j->units.tokens * j->b->units.n[UNIT_STEPS];
        if (b != t)
            return "not comparable with the baseline: the tokens of a step differ";
    }
    return NULL;
}

static bool judge_rule(struct judge *j, const struct trace *t, const char *const *paths, size_t n, const struct facts *mine, struct err *e)
{
    struct arena *a = &j->out->arena;
    struct measured m;
    if (!measure_rule(j->r, t, paths, n, a, &m, e))
        return false;
    const struct measured *base = j->b && j->r->baseline ? baseline_find(j->b, rule_subject(j->r, a)) : NULL;
    const char *why = m.missing ? m.missing : no_time(j, t);
    why = why ? why : obstacle(j, mine, base, a);
    if (why)
        verdict(j, undecided, m.n == 1 ? &m.v[0].value : NULL, NULL, why);
    else if (j->r->agg == AGG_PER)
        judge_per(j, &m, base);
    else
        judge_one(j, &m, base);
    return true;
}

bool gate_run(const struct trace *t, const char *const *paths, size_t n, struct rules *rules, const struct baseline *b, struct table *out,
              struct gate_result *got, struct err *e)
{
    table_init(out, "gate", "Gate", columns);
    *got = (struct gate_result){0};
    struct facts mine = facts_of(t, &out->arena);
    struct judge j = {.units = units_count(t), .b = b, .rules = rules, .out = out, .got = got};
    for (size_t i = 0; i < rules->n; i++) {
        j.r = &rules->rule[i];
        if (!judge_rule(&j, t, paths, n, &mine, e))
            return false;
    }
    for (size_t i = 0; i < rules->nallow; i++)
        if (!rules->allow[i].used)
            table_note(out, "%s:%d: allow %s matched nothing: stale", rules->allow[i].file, rules->allow[i].line, rules->allow[i].pattern);
    const char *verdict_text = got->fail ? "FAIL" : got->undecided ? "UNDECIDED" : "PASS";
    table_note(out, "%s: %zu rules; window: %s", verdict_text, rules->n, trace_window_text(t, &out->arena));
    return true;
}
