/* gate_keys.c - rules per key: each site against its own rate, with the exceptions that people write. */
#include "analyzer/gate_parts.h"

#include <math.h>
#include <string.h>

static const struct measured_key *key_of(const struct measured *m, const char *key)
{
    for (size_t i = 0; m && i < m->n; i++)
        if (strcmp(m->v[i].key, key) == 0)
            return &m->v[i];
    return NULL;
}

/* A site whose count falls as the data does: no micro-batch met it more often than one of the baseline did. */
static bool within_largest(const struct judge *j, const struct measured_key *k, const struct measured_key *base)
{
    return base && base->largest > 0 && k->largest > 0 && j->r->op->holds((double)k->largest, (double)base->largest * j->r->mul + j->r->add);
}

/* Allowed by a line of the rules file; every line that matches counts as used. */
static bool allowed(struct judge *j, const char *key)
{
    bool any = false;
    for (size_t i = 0; i < j->rules->nallow; i++)
        if (regexec(&j->rules->allow[i].re, key, 0, NULL, 0) == 0)
            any = j->rules->allow[i].used = true;
    return any;
}

/* The lines of a site, when the rule is about the table syncs. */
static const struct place *places(struct judge *j, const char *key, size_t *n)
{
    int op = strcmp(j->r->table_name, "op_syncs") == 0;
    *n = 0;
    if (strcmp(j->r->table->name, "syncs") != 0)
        return NULL;
    if (!j->have_places[op])
        j->places[op] = places_of(&j->runs->v[0].t, op ? "op" : "wait", &j->out->arena);
    j->have_places[op] = true;
    return places_find(&j->places[op], key, n);
}

/* One key that fails, in words: what it is, how often, what it cost. */
static const char *key_text(struct judge *j, const struct measured_key *k, bool there, double limit)
{
    const char *what = !j->r->baseline ? "" : there ? "more often than the baseline: " : "new: ";
    const char *cost = k->ns >= 0 ? table_text(j->out, ", %.3f ms", (double)k->ns / 1e6) : "";
    return table_text(j->out, "%s%s: %.17g times%s (%.17g would pass)", what, k->key, k->value, cost, floor(limit));
}

static void fails(struct judge *j, const struct measured_key *k, const char *why, double limit, const struct place *p, size_t n)
{
    bool changed = false;
    for (size_t i = 0; i < n && j->o->changed; i++)
        changed |= gitlines_has(j->o->changed, p[i].file, p[i].line);
    struct cell *row = gate_verdict(j, gate_fail, &k->value, &limit, changed ? table_text(j->out, "%s, in a line changed since then", why) : why);
    if (p) {
        row[GATE_FILE] = cell_text(p->file);
        row[GATE_LINE] = cell_int(p->line);
    }
}

struct tally {
    double measured, limit;
    size_t keys, failing, allowed;
};

static void judge_key(struct judge *j, const struct measured *base, const struct measured_key *k, struct tally *sum)
{
    const struct measured_key *was = key_of(base, k->key);
    double limit = gate_limit(j, k->value, was ? was->value : 0);
    sum->keys++;
    sum->measured += k->value;
    sum->limit += limit;
    if (j->r->op->holds(k->value, limit) || within_largest(j, k, was))
        return;
    size_t n;
    const char *reason;
    const struct place *p = places(j, k->key, &n);
    if (allowed(j, k->key) || place_excused(p, n, &reason, &j->out->arena)) {
        sum->allowed++;
        return;
    }
    sum->failing++;
    fails(j, k, key_text(j, k, was, limit), limit, p, n);
}

void gate_judge_keys(struct judge *j, const struct measured *m, const struct measured *base)
{
    struct tally sum = {0};
    for (size_t i = 0; i < m->n; i++)
        judge_key(j, base, &m->v[i], &sum);
    for (size_t i = 0; base && i < base->n; i++) { /* a key that is gone is 0 here */
        struct measured_key gone = {base->v[i].key, 0, -1, 0};
        if (!key_of(m, base->v[i].key))
            judge_key(j, base, &gone, &sum);
    }
    const char *also = sum.allowed ? table_text(j->out, ", %zu allowed", sum.allowed) : "";
    if (!sum.failing)
        gate_verdict(j, gate_pass, &sum.measured, &sum.limit,
                     table_text(j->out, "checked: %zu by %s%s", sum.keys, j->r->table->columns[j->r->key].name, also));
}
