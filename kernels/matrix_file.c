/* matrix_file.c - reading an experiment file: a table of the keys of each kind of section. */
#include "kernels/matrix_claim.h"
#include "kernels/device/machine.h"
#include "schemas/keyvalue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct matrix *m;
    struct arena *a;
    char section[128]; /* the one that keys now belong to */
    enum { IN_HEAD, IN_DEFAULTS, IN_TABLE, IN_RUN, IN_CLAIM } in;
};

struct key {
    const char *name;
    size_t offset;
};

static bool find_table(const struct matrix *m, const char *name)
{
    for (size_t i = 0; i < m->ntables; i++)
        if (!strcmp(m->tables[i].name, name))
            return true;
    return false;
}

static const struct key head_keys[] = {{"title", offsetof(struct matrix, title)},
                                       {"intro", offsetof(struct matrix, intro)},
                                       {"machine", offsetof(struct matrix, machine)},
                                       {"fit", offsetof(struct matrix, fit)},
                                       {"cells", offsetof(struct matrix, cells)},
                                       {"left_out_of", offsetof(struct matrix, left_out_of)},
                                       {0}};
static const struct key default_keys[] = {{"args", offsetof(struct matrix, defaults)}, {0}};
static const struct key table_keys[] = {{"title", offsetof(struct matrix_table, title)},
                                        {"measures", offsetof(struct matrix_table, measures)},
                                        {"base", offsetof(struct matrix_table, base)},
                                        {"note", offsetof(struct matrix_table, note)},
                                        {"curve", offsetof(struct matrix_table, curve)},
                                        {"also", offsetof(struct matrix_table, also)},
                                        {0}};
static const struct key claim_keys[] = {{"title", offsetof(struct matrix_claim, title)}, {"holds", offsetof(struct matrix_claim, holds)}, {0}};
static const struct key run_keys[] = {{"title", offsetof(struct matrix_run, title)},     {"table", offsetof(struct matrix_run, table)},
                                      {"args", offsetof(struct matrix_run, args)},       {"command", offsetof(struct matrix_run, command)},
                                      {"refuses", offsetof(struct matrix_run, refuses)}, {0}};

static bool set_text(const struct reader *r, const struct key *keys, void *into, const struct keyvalue *kv, struct err *e)
{
    while (keys->name && strcmp(keys->name, kv->key) != 0)
        keys++;
    if (!keys->name)
        return fail(e, ERR_USAGE, "%s:%d: %s: no key of this section", kv->from, kv->line, kv->key);
    const char **at = (const char **)((char *)into + keys->offset);
    if (*at)
        return fail(e, ERR_USAGE, "%s:%d: %s: given twice", kv->from, kv->line, kv->key);
    *at = arena_strdup(r->a, kv->value);
    return true;
}

static bool set_role(struct matrix_run *run, const struct keyvalue *kv, struct err *e)
{
    static const char *const roles[] = {[ROLE_MEASURED] = "measured", [ROLE_FITTED] = "fitted", [ROLE_PREDICTED] = "predicted"};
    for (int i = 0; i <= ROLE_PREDICTED; i++)
        if (!strcmp(roles[i], kv->value)) {
            run->role = (enum matrix_role)i;
            return true;
        }
    return fail(e, ERR_USAGE, "%s:%d: role = %s: want measured, fitted or predicted", kv->from, kv->line, kv->value);
}

static bool number(const struct keyvalue *kv, double *v, struct err *e)
{
    char *end;
    *v = strtod(kv->value, &end);
    return (end != kv->value && !*end && isfinite(*v)) || fail(e, ERR_USAGE, "%s:%d: %s = %s: want a number", kv->from, kv->line, kv->key, kv->value);
}

static bool set_head(const struct reader *r, const struct keyvalue *kv, struct err *e)
{
    if (!strcmp(kv->key, "cells"))
        r->m->cells_line = kv->line;
    if (strcmp(kv->key, "limit") != 0)
        return set_text(r, head_keys, r->m, kv, e);
    return number(kv, &r->m->limit, e) && (r->m->limit > 0 || fail(e, ERR_USAGE, "%s:%d: limit = %s: want percent", kv->from, kv->line, kv->value));
}

/* A number of a measure: name.MEASURE = X. */
static bool set_value(const struct reader *r, struct matrix_values *into, const struct keyvalue *kv, struct err *e)
{
    const char *name = strchr(kv->key, '.') + 1;
    double v;
    if (!matrix_measure_find(name))
        return fail(e, ERR_USAGE, "%s:%d: %s: no measure", kv->from, kv->line, name);
    if (!number(kv, &v, e))
        return false;
    for (size_t i = 0; i < into->n; i++)
        if (!strcmp(into->v[i].measure, name))
            return fail(e, ERR_USAGE, "%s:%d: %s: given twice", kv->from, kv->line, kv->key);
    struct matrix_value value = {arena_strdup(r->a, name), v};
    ARRAY_PUSH(into->v, into->n, into->cap, value);
    return true;
}

static bool set_run(const struct reader *r, const struct keyvalue *kv, struct err *e)
{
    struct matrix_run *run = &r->m->runs[r->m->nruns - 1];
    if (!strncmp(kv->key, "seed.", 5))
        return set_value(r, &run->seed, kv, e);
    if (!strncmp(kv->key, "left_out.", 9))
        return set_value(r, &run->left_out, kv, e);
    if (!strcmp(kv->key, "role"))
        return set_role(run, kv, e);
    if (strcmp(kv->key, "record") != 0)
        return set_text(r, run_keys, run, kv, e);
    run->record = !strcmp(kv->value, "yes");
    return run->record || !strcmp(kv->value, "no") || fail(e, ERR_USAGE, "%s:%d: record = %s: want yes or no", kv->from, kv->line, kv->value);
}

/* Names of runs and tables are parts of file names. */
static bool check_name(const struct keyvalue *kv, const char *name, bool taken, struct err *e)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:+-";
    if (!*name || *name == '.' || strspn(name, allowed) != strlen(name))
        return fail(e, ERR_USAGE, "%s:%d: [%s]: want a name of letters, digits and _.:+- that does not begin with a dot", kv->from, kv->line,
                    kv->section);
    return !taken || fail(e, ERR_USAGE, "%s:%d: [%s]: there is one of that name", kv->from, kv->line, kv->section);
}

static bool begin(struct reader *r, const struct keyvalue *kv, struct err *e)
{
    struct matrix *m = r->m;
    const char *space = strchr(kv->section, ' '), *name = space ? arena_strdup(r->a, space + 1) : "";
    if (!strcmp(kv->section, "defaults")) {
        r->in = IN_DEFAULTS;
    } else if (!strncmp(kv->section, "table ", 6)) {
        r->in = IN_TABLE;
        if (!check_name(kv, name, find_table(m, name), e))
            return false;
        struct matrix_table t = {.name = name, .line = kv->line};
        ARRAY_PUSH(m->tables, m->ntables, m->tables_cap, t);
    } else if (!strncmp(kv->section, "run ", 4)) {
        r->in = IN_RUN;
        if (!check_name(kv, name, matrix_find(m, name), e))
            return false;
        struct matrix_run run = {.name = name, .line = kv->line};
        ARRAY_PUSH(m->runs, m->nruns, m->runs_cap, run);
    } else if (!strncmp(kv->section, "claim ", 6)) {
        r->in = IN_CLAIM;
        struct matrix_claim claim = {.name = name, .line = kv->line};
        ARRAY_PUSH(m->claims, m->nclaims, m->claims_cap, claim);
    } else
        return fail(e, ERR_USAGE, "%s:%d: [%s]: want [defaults], [table NAME], [run NAME] or [claim NAME]", kv->from, kv->line, kv->section);
    return true;
}

static bool take(void *ctx, const struct keyvalue *kv, struct err *e)
{
    struct reader *r = ctx;
    if (!kv->key)
        return begin(r, kv, e);
    switch (r->in) {
    case IN_HEAD:
        return set_head(r, kv, e);
    case IN_DEFAULTS:
        return set_text(r, default_keys, r->m, kv, e);
    case IN_TABLE:
        return set_text(r, table_keys, &r->m->tables[r->m->ntables - 1], kv, e);
    case IN_RUN:
        return set_run(r, kv, e);
    case IN_CLAIM:
        return set_text(r, claim_keys, &r->m->claims[r->m->nclaims - 1], kv, e);
    }
    return false;
}

/* ---- what must fit together ---- */

/* Every word of a list must be known. */
static bool check_words(const struct matrix *m, const char *list, bool (*known)(const struct matrix *m, const char *word), const char *key, int line,
                        struct err *e)
{
    struct arena a = {0};
    bool ok = true;
    char *rest = list ? arena_strdup(&a, list) : NULL;
    for (char *word; ok && (word = strsep(&rest, " ")) != NULL;)
        ok = !*word || known(m, word) || fail(e, ERR_USAGE, "%s:%d: %s: %s: there is none", m->from, line, key, word);
    arena_free(&a);
    return ok;
}

static bool known_measure(const struct matrix *m, const char *word)
{
    (void)m;
    return matrix_measure_find(word) != NULL;
}

static bool known_axis(const struct matrix *m, const char *word)
{
    (void)m;
    return !strcmp(word, "linear") || !strcmp(word, "log");
}

static bool known_run(const struct matrix *m, const char *word)
{
    return matrix_find(m, word) != NULL;
}

static bool check_table(const struct matrix *m, const struct matrix_table *t, struct err *e)
{
    if (!t->title || !*t->title || !t->measures || !*t->measures)
        return fail(e, ERR_USAGE, "%s:%d: table %s: wants title and measures", m->from, t->line, t->name);
    if (t->base && !matrix_find(m, t->base))
        return fail(e, ERR_USAGE, "%s:%d: base = %s: no run of that name", m->from, t->line, t->base);
    return check_words(m, t->measures, known_measure, "measures", t->line, e) && check_words(m, t->curve, known_axis, "curve", t->line, e) &&
           check_words(m, t->also, known_run, "also", t->line, e);
}

static bool check_shown(const struct matrix *m, const struct matrix_table *t, struct err *e)
{
    bool shown = t->also != NULL;
    for (size_t i = 0; i < m->nruns; i++)
        shown |= m->runs[i].table && !strcmp(m->runs[i].table, t->name);
    return shown || fail(e, ERR_USAGE, "%s:%d: table %s: no run is in it", m->from, t->line, t->name);
}

static bool check_run(const struct matrix *m, const struct matrix_run *r, struct err *e)
{
    if (r->table && !find_table(m, r->table))
        return fail(e, ERR_USAGE, "%s:%d: table = %s: no table of that name", m->from, r->line, r->table);
    if (!r->title)
        return fail(e, ERR_USAGE, "%s:%d: run %s: wants a title", m->from, r->line, r->name);
    return r->command || r->args || m->defaults || fail(e, ERR_USAGE, "%s:%d: run %s: wants args or a command", m->from, r->line, r->name);
}

static bool check_head(const struct matrix *m, struct err *e)
{
    struct machine machine;
    if (!m->title || !m->nruns || !m->ntables)
        return fail(e, ERR_USAGE, "%s: an experiment has a title, tables and runs", m->from);
    return (!m->machine || machine_load(&machine, m->machine, e)) && check_words(m, m->cells, known_measure, "cells", m->cells_line, e);
}

static bool check(const struct matrix *m, struct err *e)
{
    bool ok = check_head(m, e);
    for (size_t i = 0; ok && i < m->ntables; i++)
        ok = check_table(m, &m->tables[i], e);
    for (size_t i = 0; ok && i < m->nruns; i++)
        ok = check_run(m, &m->runs[i], e);
    for (size_t i = 0; ok && i < m->ntables; i++)
        ok = check_shown(m, &m->tables[i], e);
    for (size_t i = 0; ok && i < m->nclaims; i++)
        ok = claim_check(m, &m->claims[i], e);
    return ok;
}

extern const struct keyvalue_text matrix_files[]; /* those of kernels/matrices */

bool matrix_load(struct matrix *m, const char *name_or_file, struct arena *a, struct err *e)
{
    *m = (struct matrix){.from = name_or_file};
    struct reader r = {.m = m, .a = a};
    char *text = keyvalue_load(name_or_file, matrix_files, "experiment", e);
    bool ok = text && keyvalue_each(text, name_or_file, take, &r, e) && check(m, e);
    free(text);
    return ok;
}

void matrix_free(struct matrix *m)
{
    for (size_t i = 0; i < m->nruns; i++)
        free(m->runs[i].seed.v), free(m->runs[i].left_out.v);
    free(m->runs);
    free(m->tables);
    free(m->claims);
    *m = (struct matrix){0};
}

const struct matrix_run *matrix_find(const struct matrix *m, const char *name)
{
    for (size_t i = 0; i < m->nruns; i++)
        if (!strcmp(m->runs[i].name, name))
            return &m->runs[i];
    return NULL;
}

static double value_of(const struct matrix_values *from, const char *measure)
{
    for (size_t i = 0; i < from->n; i++)
        if (!strcmp(from->v[i].measure, measure))
            return from->v[i].value;
    return NAN;
}

double matrix_seed(const struct matrix_run *r, const char *measure)
{
    return value_of(&r->seed, measure);
}

double matrix_left_out(const struct matrix_run *r, const char *measure)
{
    return value_of(&r->left_out, measure);
}

bool matrix_listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

bool matrix_fitted(const struct matrix *m, const struct matrix_run *r, const char *measure)
{
    const struct matrix_measure *is = matrix_measure_find(measure);
    const char *cells = m->cells ? m->cells : "step_s";
    return r->role == ROLE_FITTED && (matrix_listed(cells, measure) || (is->follows && matrix_listed(cells, is->follows)));
}

/* The last --device of what it runs. */
bool matrix_modelled(const struct matrix *m, const struct matrix_run *r)
{
    const char *const said[] = {r->command ? r->command : m->defaults, r->args};
    bool sim = false;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        for (const char *at = said[i]; at && (at = strstr(at, "--device")) != NULL; at += strlen("--device"))
            sim = !strncmp(at + strlen("--device") + strspn(at + strlen("--device"), " ="), "sim", 3);
    return sim;
}
