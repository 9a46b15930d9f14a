/* rules.c - one rule a line, read word by word; every word that may stand somewhere is in a table. */
#include "analyzer/rules.h"
#include "analyzer/re.h"
#include "analyzer/rules_scan.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool op_le(double a, double b)
{
    return a <= b;
}
static bool op_ge(double a, double b)
{
    return a >= b;
}
static bool op_eq(double a, double b)
{
    return a == b;
}
static bool op_lt(double a, double b)
{
    return a < b;
}
static bool op_gt(double a, double b)
{
    return a > b;
}

/* The operators; to add one, add its row. */
static const struct rule_op ops[] = {{"<=", op_le}, {">=", op_ge}, {"==", op_eq}, {"<", op_lt}, {">", op_gt}, {0}};

static const struct {
    const char *name;
    enum rule_agg agg;
} aggs[] = {{"min", AGG_MIN}, {"max", AGG_MAX}, {"sum", AGG_SUM}, {"median", AGG_MEDIAN}, {"per", AGG_PER}};

/* Units by what they measure; a value without unit is in the column's own. */
static const struct {
    const char *name;
    enum unit unit;
    double scale;
} scales[] = {{"ns", UNIT_NS, 1},   {"us", UNIT_NS, 1e3},    {"ms", UNIT_NS, 1e6},    {"s", UNIT_NS, 1e9},    {"%", UNIT_PERCENT, 1},
              {"B", UNIT_BYTES, 1}, {"KB", UNIT_BYTES, 1e3}, {"MB", UNIT_BYTES, 1e6}, {"GB", UNIT_BYTES, 1e9}};

/* Names by which rules know a table that is another table's variant. */
static const struct {
    const char *name, *table;
} aliases[] = {{"op_syncs", "syncs"}};

enum { NAMES_MAX = 256 };

static const struct table_desc *table_named(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].name, name) == 0)
            name = aliases[i].table;
    for (size_t i = 0; table_descs[i]; i++)
        if (strcmp(table_descs[i]->name, name) == 0)
            return table_descs[i];
    return NULL;
}

static bool unknown_table(struct scan *s)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (size_t i = 0; table_descs[i] && n < NAMES_MAX - 3; i++)
        names[n++] = table_descs[i]->name;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        names[n++] = aliases[i].name;
    names[n] = NULL;
    return scan_unknown(s, "table", names);
}

/* The word taken last as a column of the rule's table. */
static bool column_of(struct scan *s, const struct table_desc *t, int *column)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (; t->columns[n].name && n < NAMES_MAX - 1; n++) {
        names[n] = t->columns[n].name;
        if (scan_is(s, names[n])) {
            *column = (int)n;
            return true;
        }
    }
    names[n] = NULL;
    return scan_unknown(s, "column", names);
}

static bool take_regex(struct scan *s, regex_t *re)
{
    scan_take(s);
    if (!scan_is(s, "~"))
        return scan_bad(s, "~ is wanted here");
    if (!scan_string(s))
        return false;
    char buf[RE_WHY];
    const char *why = re_compile(re, s->word, buf);
    return !why || fail(s->e, ERR_USAGE, "%s:%d: pattern \"%s\": %s", s->file, s->line, s->word, why);
}

/* TABLE.COLUMN: one word, cut at its last dot. */
static bool take_subject(struct scan *s, struct rule *r)
{
    scan_take(s);
    char *dot = strrchr(s->word, '.');
    if (!dot)
        return fail(s->e, ERR_USAGE, "%s:%d: %s: TABLE.COLUMN is wanted here", s->file, s->line, *s->word ? s->word : "(nothing)");
    char column[WORD_MAX];
    memcpy(column, dot + 1, strlen(dot + 1) + 1);
    *dot = '\0';
    r->table = table_named(s->word);
    r->table_name = arena_strdup(s->arena, s->word);
    if (!r->table)
        return unknown_table(s);
    memcpy(s->word, column, strlen(column) + 1);
    if (!column_of(s, r->table, &r->column))
        return false;
    return r->table->columns[r->column].unit != UNIT_TEXT ||
           fail(s->e, ERR_USAGE, "%s:%d: %s: a column of text, there is nothing to measure", s->file, s->line, s->word);
}

static bool take_where(struct scan *s, struct rule *r)
{
    if (scan_is(s, "where")) {
        scan_take(s);
        if (!column_of(s, r->table, &r->where_column))
            return false;
        if (!take_regex(s, &r->where)) {
            r->where_column = -1;
            return false;
        }
        scan_take(s);
    }
    if (scan_is(s, "in")) {
        scan_take(s);
        regex_t check;
        if (!scan_is(s, "range"))
            return scan_bad(s, "\"in\" is followed by: range ~ \"PATTERN\"");
        if (!take_regex(s, &check))
            return false;
        regfree(&check);
        r->in_range = arena_strdup(s->arena, s->word);
        scan_take(s);
    }
    return true;
}

static bool take_agg(struct scan *s, struct rule *r)
{
    static const char *const names[] = {"min", "max", "sum", "median", "per", "where", "in", NULL};
    size_t i = 0;
    while (i < sizeof aggs / sizeof *aggs && !scan_is(s, aggs[i].name))
        i++;
    if (i == sizeof aggs / sizeof *aggs)
        return scan_unknown(s, "aggregate (min max sum median per)", names);
    r->agg = aggs[i].agg;
    if (r->agg != AGG_PER)
        return true;
    scan_take(s);
    return column_of(s, r->table, &r->key);
}

static bool number(struct scan *s, double *v)
{
    char *end;
    *v = strtod(s->word, &end);
    bool ok = end != s->word && !*end && isdigit((unsigned char)s->word[0]) && isfinite(*v);
    return ok || fail(s->e, ERR_USAGE, "%s:%d: %s: a number is wanted here", s->file, s->line, *s->word ? s->word : "(nothing)");
}

/* The unit in s->word, when it is one: scales *v, and the word after it is there. One that stands at its number must be one. */
static bool take_unit(struct scan *s, const struct rule *r, bool glued, double *v)
{
    const struct column *c = &r->table->columns[r->column];
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (!scan_is(s, scales[i].name))
            continue;
        if (scales[i].unit != c->unit)
            return fail(s->e, ERR_USAGE, "%s:%d: %s is not a unit of %s", s->file, s->line, s->word, c->name);
        *v *= scales[i].scale;
        scan_take(s);
        return true;
    }
    return !glued || fail(s->e, ERR_USAGE, "%s:%d: %s: no such unit; there are ns us ms s, %%, B KB MB GB", s->file, s->line, s->word);
}

/* [-] NUMBER [UNIT], its first word in s->word; leaves the word after it there. */
static bool take_value(struct scan *s, const struct rule *r, double *v)
{
    bool negative = scan_is(s, "-") && scan_take(s);
    char unit[WORD_MAX]; /* "3ms" comes as one word */
    size_t digits = strspn(s->word, "0123456789.");
    memcpy(unit, s->word + digits, strlen(s->word + digits) + 1);
    if (digits)
        s->word[digits] = '\0';
    if (!number(s, v))
        return false;
    *v = negative ? -*v : *v;
    if (!*unit)
        scan_take(s);
    else
        memcpy(s->word, unit, strlen(unit) + 1);
    return take_unit(s, r, *unit, v);
}

static bool take_limit(struct scan *s, struct rule *r)
{
    scan_take(s);
    const struct rule_op *op = ops;
    while (op->name && !scan_is(s, op->name))
        op++;
    if (!op->name)
        return fail(s->e, ERR_USAGE, "%s:%d: %s: one of <= >= == < > is wanted here", s->file, s->line, *s->word ? s->word : "(nothing)");
    r->op = op;
    r->mul = 1;
    scan_take(s);
    if (!scan_is(s, "baseline"))
        return take_value(s, r, &r->add);
    r->baseline = true;
    scan_take(s);
    if (scan_is(s, "+")) {
        scan_take(s);
        if (!take_value(s, r, &r->add))
            return false;
    }
    if (scan_is(s, "*")) {
        scan_take(s);
        if (!number(s, &r->mul))
            return false;
        scan_take(s);
    }
    return true;
}

static bool parse_rule(struct scan *s, struct rule *r)
{
    if (!take_subject(s, r))
        return false;
    scan_take(s);
    if (!take_where(s, r) || !take_agg(s, r) || !take_limit(s, r))
        return false;
    return !*s->word || fail(s->e, ERR_USAGE, "%s:%d: %s: the rule should have ended here", s->file, s->line, s->word);
}

/* Cuts the comment off: the first '#' outside quotes. The line gets a '\0' there; returns the comment's text. */
static char *cut_comment(char *line)
{
    bool quoted = false;
    char *p = line;
    for (; *p && (quoted || *p != '#'); p++) {
        if (quoted && *p == '\\' && p[1])
            p++;
        else if (*p == '"')
            quoted = !quoted;
    }
    if (!*p)
        return p;
    *p++ = '\0';
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

static void trim_end(char *s)
{
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1]))
        s[--n] = '\0';
}

static bool parse_allow(struct scan *s, const char *why, struct rules *r)
{
    struct allow a = {.why = why, .file = s->file, .line = s->line};
    scan_space(s);
    if (!*s->p)
        return scan_bad(s, "allow is followed by a pattern");
    a.pattern = arena_strdup(&r->arena, s->p);
    char buf[RE_WHY];
    const char *wrong = re_compile(&a.re, a.pattern, buf);
    if (wrong)
        return fail(s->e, ERR_USAGE, "%s:%d: pattern %s: %s", s->file, s->line, a.pattern, wrong);
    ARRAY_PUSH(r->allow, r->nallow, r->allow_cap, a);
    return true;
}

static bool parse_version(struct scan *s)
{
    scan_take(s);
    return scan_is(s, "1") || fail(s->e, ERR_USAGE, "%s:%d: rules %s: this cpscope reads version 1", s->file, s->line, s->word);
}

static bool parse_line(struct scan *s, char *line, struct rules *r)
{
    char *why = cut_comment(line);
    trim_end(why);
    trim_end(line);
    s->p = line;
    scan_space(s);
    const char *text = s->p;
    if (!*s->p)
        return true;
    const char *start = scan_take(s);
    if (scan_is(s, "rules"))
        return parse_version(s);
    if (scan_is(s, "allow"))
        return parse_allow(s, why, r);
    s->p = start;
    struct rule rule = {.text = text, .why = why, .file = s->file, .line = s->line, .where_column = -1};
    if (!parse_rule(s, &rule)) {
        if (rule.where_column >= 0)
            regfree(&rule.where);
        return false;
    }
    ARRAY_PUSH(r->rule, r->n, r->cap, rule);
    return true;
}

bool rules_parse(const char *name, const char *text, struct rules *r, struct err *e)
{
    struct scan s = {.file = arena_strdup(&r->arena, name), .arena = &r->arena, .e = e};
    bool ok = true;
    while (ok && *text) {
        size_t n = strcspn(text, "\n");
        s.line++;
        ok = parse_line(&s, arena_strndup(&r->arena, text, n), r);
        text += n + (text[n] == '\n');
    }
    if (ok && !r->n)
        return fail(e, ERR_USAGE, "%s:%d: no rule in this file; write one such as: syncs.count per site <= baseline", name, s.line ? s.line : 1);
    return ok;
}

bool rules_read(const char *path, struct rules *r, struct err *e)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return fail(e, ERR_FAIL, "%s: cannot open: %s", path, strerror(errno));
    char *text = NULL;
    size_t cap = 0;
    errno = 0;
    ssize_t n = getdelim(&text, &cap, '\0', f);
    bool ok = !ferror(f) || fail(e, ERR_FAIL, "%s: cannot read: %s", path, strerror(errno));
    fclose(f);
    if (ok && n > 0 && strlen(text) != (size_t)n) /* the delimiter itself was met: what stands behind it is not read */
        ok = fail(e, ERR_USAGE, "%s: a NUL byte in the text: not a rules file", path);
    ok = ok && rules_parse(basename(path), n > 0 ? text : "", r, e);
    free(text);
    return ok;
}

void rules_free(struct rules *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->rule[i].where_column >= 0)
            regfree(&r->rule[i].where);
    for (size_t i = 0; i < r->nallow; i++)
        regfree(&r->allow[i].re);
    free(r->rule);
    free(r->allow);
    arena_free(&r->arena);
    *r = (struct rules){0};
}
