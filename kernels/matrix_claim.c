/* matrix_claim.c - see matrix_claim.h. */
#include "kernels/matrix_claim.h"
#include "kernels/matrix_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct operand { /* a number where `measure` is NULL, a run's figure, or the largest of a table */
    const char *text;
    double value, factor; /* the value has the factor in it */
    const char *measure;
    const struct matrix_run *run;
    const struct matrix_table *table;
    bool size; /* the largest in size */
    bool seed; /* not the run's figure but the seed's */
};

static bool below(double x, double y)
{
    return x < y;
}

static bool at_most(double x, double y)
{
    return x <= y;
}

static bool equal(double x, double y)
{
    return x == y;
}

static bool at_least(double x, double y)
{
    return x >= y;
}

static bool above(double x, double y)
{
    return x > y;
}

static const struct relation {
    const char *name;
    bool (*holds)(double x, double y);
} relations[] = {{"<", below}, {"<=", at_most}, {"==", equal}, {">=", at_least}, {">", above}, {0}};

static const struct relation *relation_of(const char *name)
{
    for (const struct relation *o = relations; o->name; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}

/* ---- reading ---- */

static const struct matrix_table *table_of(const struct matrix *m, const char *name)
{
    for (size_t i = 0; i < m->ntables; i++)
        if (!strcmp(m->tables[i].name, name))
            return &m->tables[i];
    return NULL;
}

/* `name` is cut up. */
static bool name_operand(const struct matrix *m, char *name, struct operand *o)
{
    char *slash = strchr(name, '/'), *cut = slash ? slash : strrchr(name, '.');
    if (!cut || !matrix_measure_find(cut + 1))
        return false;
    *cut = '\0';
    o->measure = cut + 1;
    o->table = slash ? table_of(m, name) : NULL;
    o->run = slash ? NULL : matrix_find(m, name);
    return o->table || (o->run && (!o->seed || !isnan(matrix_seed(o->run, o->measure))));
}

static bool read_operand(const struct matrix *m, const char *word, struct operand *o, struct arena *a)
{
    char *end, *name;
    *o = (struct operand){.text = word, .value = strtod(word, &end), .factor = 1};
    if (end != word && !*end)
        return true;
    if (end != word && *end == '*') {
        o->factor = o->value;
        word = end + 1;
    }
    name = arena_strdup(a, word);
    size_t n = strlen(name);
    if (n > 2 && name[0] == '|' && name[n - 1] == '|') {
        o->size = true;
        name[n - 1] = '\0';
        name++;
    }
    o->seed = !strncmp(name, "seed:", 5);
    return name_operand(m, name + (o->seed ? 5 : 0), o);
}

struct comparison {
    struct operand left, right;
    const struct relation *op;
};

/* The next of the claim, which *rest moves past; *more: there was one. */
static bool next(const struct matrix *m, const struct matrix_claim *c, char **rest, struct comparison *out, bool *more, struct arena *a,
                 struct err *e)
{
    char *words[3], *word;
    int n = 0;
    while (n < 3 && (word = strsep(rest, " ")) != NULL)
        if (*word && (n || strcmp(word, "and") != 0))
            words[n++] = word;
    *more = n > 0;
    if (!n)
        return true;
    if (n < 3)
        return fail(e, ERR_USAGE, "%s:%d: holds: %s: want comparisons, joined by and", m->from, c->line, words[0]);
    out->op = relation_of(words[1]);
    if (!out->op)
        return fail(e, ERR_USAGE, "%s:%d: holds: %s: want one of < <= == >= >", m->from, c->line, words[1]);
    for (int i = 0; i < 3; i += 2)
        if (!read_operand(m, words[i], i ? &out->right : &out->left, a))
            return fail(e, ERR_USAGE, "%s:%d: holds: %s: want a number, RUN.MEASURE, seed:RUN.MEASURE or TABLE/MEASURE of this file", m->from,
                        c->line, words[i]);
    return true;
}

bool claim_check(const struct matrix *m, const struct matrix_claim *c, struct err *e)
{
    struct arena a = {0};
    struct comparison x;
    char *rest = arena_strdup(&a, c->holds);
    bool more, ok = c->title && next(m, c, &rest, &x, &more, &a, e) && more;
    if (!ok && !e->kind)
        fail(e, ERR_USAGE, "%s:%d: claim %s: wants title and holds", m->from, c->line, c->name);
    while (ok && more)
        ok = next(m, c, &rest, &x, &more, &a, e);
    arena_free(&a);
    return ok;
}

/* ---- judging ---- */

static double size_of(const struct operand *o, double v)
{
    return o->size ? fabs(v) : v;
}

/* The run of the table with the largest figure, and that in o->value; NULL when none has it. */
static const struct matrix_run *largest(const struct matrix_result *r, struct operand *o)
{
    const struct matrix_run *most = NULL;
    o->value = NAN;
    for (size_t i = 0; i < r->m->nruns; i++) {
        const struct matrix_run *run = &r->m->runs[i];
        bool base = o->table->base && !strcmp(o->table->base, run->name);
        double v = base || !figure_shown(o->table, run) ? NAN : matrix_measure(r->m, run, o->measure, r->job, 0);
        if (isnan(v) || (most && size_of(o, v) <= size_of(o, o->value)))
            continue;
        most = run;
        o->value = v;
    }
    o->value *= o->factor;
    return most;
}

/* The run that an operand is about, NULL for a number or when none has the figure; its value in o->value. */
static const struct matrix_run *evaluate(const struct matrix_result *r, struct operand *o)
{
    if (!o->measure)
        return NULL;
    if (o->table)
        return largest(r, o);
    o->value = o->factor * (o->seed ? matrix_seed(o->run, o->measure) : matrix_measure(r->m, o->run, o->measure, r->job, 0));
    return o->run;
}

/* "loss max rel 3.6e-06 (p2p)", without the label when it was just said; or the number as it was written. */
static char *operand_text(const struct operand *o, const struct matrix_run *run, const char *said, struct arena *a)
{
    char label[96] = "", text[32];
    if (!o->measure)
        return arena_strdup(a, o->text);
    if (!said || strcmp(said, o->measure) != 0)
        figure_label(o->measure, label, sizeof label);
    figure_number(matrix_measure_find(o->measure), o->value / o->factor, text, sizeof text);
    const char *whose = o->seed ? "the seed's" : run ? run->name : "no run has it";
    char *factor = o->factor == 1 ? "" : arena_printf(a, "%g * ", o->factor);
    return arena_printf(a, "%s%s%s%s (%s)", factor, label, *label ? " " : "", text, whose);
}

struct verdict claim_judge(const struct matrix_result *r, const struct matrix_claim *c, struct arena *a)
{
    struct err e = {0};
    struct comparison x;
    char *rest = arena_strdup(a, c->holds), *said = NULL;
    const char *before = NULL; /* the measure that was named last */
    bool more, holds = true;
    while (next(r->m, c, &rest, &x, &more, a, &e) && more) {
        const struct matrix_run *one = evaluate(r, &x.left), *other = evaluate(r, &x.right);
        char *left = operand_text(&x.left, one, before, a), *right = operand_text(&x.right, other, x.left.measure, a);
        bool ok = x.op->holds(size_of(&x.left, x.left.value), size_of(&x.right, x.right.value));
        said =
            arena_printf(a, "%s%s%s %s %s", said ? said : "", said ? "; " : "", left, ok ? x.op->name : arena_printf(a, "NOT %s", x.op->name), right);
        before = x.right.measure ? x.right.measure : x.left.measure;
        holds &= ok;
    }
    return (struct verdict){arena_printf(a, "%s: %s", holds ? "Holds" : "DOES NOT HOLD", c->title), said, !holds};
}
