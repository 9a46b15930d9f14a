/* opt.c - option rows made into argp. */
#include "schemas/opt.h"
#include "schemas/arena.h"
#include "schemas/nearest.h"
#include "schemas/opt_help.h"
#include "schemas/version.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 128 };

struct parse {
    const struct opt_group *groups;
    struct arena *arena;
    struct err *e;
    const char *command;
    size_t narg; /* positionals taken so far */
};

bool opt_int(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || errno || isspace((unsigned char)*text))
        return false;
    *value = v;
    return true;
}

/* Digits "123.45" as whole + part / scale; where they end, or NULL when there are none. */
static const char *decimal(const char *p, __int128 *whole, __int128 *part, __int128 *scale)
{
    const char *start = p;
    *whole = *part = 0;
    *scale = 1;
    for (; isdigit((unsigned char)*p) && *whole < INT64_MAX; p++)
        *whole = *whole * 10 + (*p - '0');
    if (*p == '.')
        for (p++; isdigit((unsigned char)*p) && *scale < 1000000000000000; p++) {
            *part = *part * 10 + (*p - '0');
            *scale *= 10;
        }
    return p == start ? NULL : p;
}

bool opt_size(const char *text, int64_t *bytes)
{
    static const char units[] = "kMG";
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    const char *unit = end > text && *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (end == text || errno || n < 0 || n > INT64_MAX >> shift || (unit ? end[1] : *end))
        return false;
    *bytes = n << shift;
    return true;
}

bool opt_span(const char *text, int64_t *from, int64_t *to)
{
    const char *colon = strchr(text, ':');
    char first[24];
    if (colon && (size_t)snprintf(first, sizeof first, "%.*s", (int)(colon - text), text) >= sizeof first)
        return false;
    int64_t a, b;
    if (!opt_int(colon ? first : text, &a) || a < 0 || !opt_int(colon ? colon + 1 : text, &b) || b < a)
        return false;
    *from = a;
    *to = b;
    return true;
}

bool opt_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
    __int128 whole, part, scale;
    const char *p = decimal(text + (*text == '-'), &whole, &part, &scale);
    if (strcmp(text, "0") == 0) { /* no unit is needed to say none */
        *ns = 0;
        return true;
    }
    for (size_t i = 0; p && i < sizeof units / sizeof *units; i++) {
        if (strcmp(p, units[i].name) != 0)
            continue;
        __int128 v = whole * units[i].ns + part * units[i].ns / scale;
        if (v > INT64_MAX)
            return false;
        *ns = *text == '-' ? (int64_t)-v : (int64_t)v;
        return true;
    }
    return false;
}

/* The i-th option row over all groups (positionals left out), its group's struct in *into. */
static const struct opt *row_at(const struct opt_group *g, size_t i, void **into)
{
    for (; g->rows; g++)
        for (const struct opt *o = g->rows; o->type; o++)
            if (!opt_positional(o->type) && i-- == 0) {
                *into = g->into;
                return o;
            }
    return NULL;
}

/* Room for twice as many at every power of two. */
void opt_list_add(struct opt_list *l, struct arena *a, const char *s)
{
    if ((l->n & (l->n - 1)) == 0) {
        const char **v = arena_array(a, const char *, l->n ? 2 * l->n : 1);
        for (size_t i = 0; i < l->n; i++)
            v[i] = l->v[i];
        l->v = v;
    }
    l->v[l->n++] = s;
}

static error_t store(struct parse *p, const struct opt *o, void *into, char *value)
{
    void *at = (char *)into + o->offset;
    bool ok = true;
    char *end;
    switch (o->type) {
    case OPT_TEXT:
    case OPT_ARG:
    case OPT_ARG_OPTIONAL:
        *(const char **)at = value;
        break;
    case OPT_INT:
        ok = opt_int(value, at);
        break;
    case OPT_COUNT:
        ok = opt_int(value, at) && *(int64_t *)at >= 0;
        break;
    case OPT_REAL:
        *(double *)at = strtod(value, &end);
        ok = end != value && !*end;
        break;
    case OPT_FLAG:
        *(bool *)at = true;
        break;
    case OPT_TIME:
        ok = opt_time(value, at);
        break;
    default:
        opt_list_add(at, p->arena, value);
    }
    if (!ok)
        fail(p->e, ERR_USAGE, "--%s %s: not %s", o->name, value,
             o->type == OPT_TIME    ? "a time with a unit (ns us ms s m h), such as 12.5ms"
             : o->type == OPT_COUNT ? "a number of 0 or more"
                                    : "a number");
    return ok ? 0 : EINVAL;
}

static const struct opt *row_named(const struct opt_group *groups, const char *name, void **into)
{
    const struct opt *o;
    size_t i = 0;
    while ((o = row_at(groups, i, into)) && strcmp(o->name, name) != 0)
        i++;
    return o;
}

bool opt_set(const struct opt_group *groups, const char *name, const char *value, bool *known, struct err *e)
{
    struct parse p = {.groups = groups, .e = e};
    void *into;
    const struct opt *o = row_named(groups, name, &into);
    if (known)
        *known = o != NULL;
    if (!o)
        return fail(e, ERR_USAGE, "%s: no such option", name);
    if (o->type == OPT_LIST)
        return fail(e, ERR_USAGE, "%s: only on the command line, where it may be given again", name);
    if (o->type != OPT_FLAG)
        return store(&p, o, into, (char *)value) == 0;
    *(bool *)((char *)into + o->offset) = !strcmp(value, "yes");
    return !strcmp(value, "yes") || !strcmp(value, "no") || fail(e, ERR_USAGE, "%s = %s: want yes or no", name, value);
}

/* The row for positional number n: each OPT_ARG takes one, OPT_ARGS and OPT_REST the rest. */
static const struct opt *positional(const struct opt_group *g, size_t n, void **into)
{
    for (; g->rows; g++)
        for (const struct opt *o = g->rows; o->type; o++) {
            if (!opt_positional(o->type))
                continue;
            *into = g->into;
            if (o->type == OPT_ARGS || o->type == OPT_REST || n-- == 0)
                return o;
        }
    return NULL;
}

static error_t on_arg(struct parse *p, char *arg, struct argp_state *state)
{
    void *into;
    const struct opt *o = positional(p->groups, p->narg, &into);
    if (!o)
        return fail(p->e, ERR_USAGE, "%s: one argument too many", arg), EINVAL;
    if (o->type == OPT_REST) {
        store(p, o, into, arg);
        while (state->next < state->argc)
            store(p, o, into, state->argv[state->next++]);
    } else
        store(p, o, into, arg);
    p->narg++;
    return 0;
}

static error_t on_end(struct parse *p)
{
    void *into;
    const struct opt *o = positional(p->groups, p->narg, &into);
    bool met = !o || o->type == OPT_ARG_OPTIONAL || (o->type != OPT_ARG && ((struct opt_list *)((char *)into + o->offset))->n);
    return met ? 0 : (fail(p->e, ERR_USAGE, "%s is missing; see %s --help", o->name, p->command), EINVAL);
}

/* What was asked for instead of a run: a full disk is not a success here either. */
static void tell(int key, const struct parse *p, struct argp_state *state)
{
    if (key == KEY_VERSION)
        printf("%.*s %s\n", (int)strcspn(p->command, " "), p->command, CPSCOPE_VERSION);
    state->flags &= ~(unsigned)ARGP_NO_ERRS; /* with it, help would print nothing */
    if (key != KEY_VERSION)
        argp_state_help(state, stdout, key == KEY_USAGE ? ARGP_HELP_USAGE : ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC);
    if (!fflush(stdout) && !ferror(stdout))
        exit(STATUS_OK);
    fprintf(stderr, "%s: cannot write standard output\n", p->command);
    exit(STATUS_FAIL);
}

/* The row that argp knows by `key`: its letter, or FIRST_KEY and its number. */
static const struct opt *row_of(const struct parse *p, int key, void **into)
{
    if (key >= FIRST_KEY)
        return row_at(p->groups, (size_t)(key - FIRST_KEY), into);
    const struct opt *o = NULL;
    for (size_t i = 0; key > 0 && key < 256 && (o = row_at(p->groups, i, into)) && o->letter != key; i++)
        ;
    return o;
}

/* ---- what is wrong with an option that argp refuses ---- */

/* All long names; those that begin with the n bytes at `word` in *v, how many there are is returned. */
static size_t names_of(const struct parse *p, const char *word, size_t n, const char **all, const char **v)
{
    static const char *const every[] = {"help", "usage", "version"};
    size_t nall = 0, found = 0;
    const struct opt *o;
    void *into;
    for (; nall < sizeof every / sizeof *every; nall++)
        all[nall] = every[nall];
    for (size_t i = 0; nall < NAMES_MOST - 1 && (o = row_at(p->groups, i, &into)); i++)
        all[nall++] = o->name;
    all[nall] = NULL;
    for (size_t i = 0; i < nall; i++)
        if (strncmp(all[i], word, n) == 0)
            v[found++] = all[i];
    return found;
}

/* Always false. */
static bool wants_value(const struct parse *p, const char *token, const struct opt *o)
{
    return fail(p->e, ERR_USAGE, "%s: %s is missing; %s", token, o->value ? o->value : "its value", o->what ? o->what : "");
}

/* The long name that `name` is, or is the beginning of; NULL after saying why there is none. */
static const char *full_name(const struct parse *p, const char *name)
{
    const char *all[NAMES_MOST], *v[NAMES_MOST];
    size_t found = names_of(p, name, strlen(name), all, v);
    for (size_t i = 0; i < found; i++)
        if (found == 1 || strcmp(v[i], name) == 0)
            return v[i];
    const char *near = nearest_name(name, all);
    if (found)
        fail(p->e, ERR_USAGE, "--%s: --%s or --%s? write more of it", name, v[0], v[1]);
    else if (near)
        fail(p->e, ERR_USAGE, "--%s: no such option, did you mean --%s? see %s --help", name, near, p->command);
    else
        fail(p->e, ERR_USAGE, "--%s: no such option; see %s --help", name, p->command);
    return NULL;
}

/* --name or --name=value, the name cut short as getopt allows. */
static bool long_is_good(const struct parse *p, const char *token, bool last)
{
    size_t n = strcspn(token, "=");
    const char *name = full_name(p, arena_strndup(p->arena, token + 2, n - 2));
    void *into;
    const struct opt *o = name ? row_named(p->groups, name, &into) : NULL;
    bool flag = !o || o->type == OPT_FLAG; /* --help and its like have no row */
    if (name && flag && token[n])
        return fail(p->e, ERR_USAGE, "%s: --%s takes no value", token, name);
    return name && (flag || token[n] || !last || wants_value(p, token, o));
}

/* -abc: letters, the last of which may take a value. */
static bool letters_are_good(const struct parse *p, const char *token, bool last)
{
    void *into;
    for (const char *c = token + 1; *c; c++) {
        const struct opt *o = row_of(p, *c, &into);
        if (!o && *c != KEY_HELP)
            return fail(p->e, ERR_USAGE, "-%c: no such option; see %s --help", isprint((unsigned char)*c) ? *c : '?', p->command);
        if (o && o->type != OPT_FLAG)
            return c[1] || !last || wants_value(p, token, o);
    }
    return true;
}

static bool token_is_good(const struct parse *p, const struct argp_state *state, int i)
{
    const char *token = i > 0 && i < state->argc ? state->argv[i] : "";
    bool last = i + 1 == state->argc;
    if (token[0] != '-' || !token[1])
        return true;
    return token[1] == '-' ? !token[2] || long_is_good(p, token, last) : letters_are_good(p, token, last);
}

/* argp stands behind the token that it refuses, or on it when it is in the middle of letters. */
static void on_error(const struct parse *p, const struct argp_state *state)
{
    if (p->e->kind == ERR_NONE && token_is_good(p, state, state->next - 1))
        token_is_good(p, state, state->next);
}

static error_t on_key(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    void *into;
    if (key == KEY_VERSION || key == KEY_USAGE || key == KEY_HELP)
        tell(key, p, state);
    if (key == ARGP_KEY_ERROR)
        on_error(p, state);
    if (key == ARGP_KEY_ARG)
        return on_arg(p, arg, state);
    if (key == ARGP_KEY_END)
        return on_end(p);
    const struct opt *o = key < ARGP_KEY_END ? row_of(p, key, &into) : NULL;
    return o ? store(p, o, into, arg) : ARGP_ERR_UNKNOWN;
}

static bool has_rest(const struct opt_group *g)
{
    for (; g->rows; g++)
        for (const struct opt *o = g->rows; o->type; o++)
            if (o->type == OPT_REST)
                return true;
    return false;
}

bool opt_parse(int argc, char **argv, const struct opt_group *groups, const char *doc, struct arena *a, struct err *e)
{
    struct parse p = {.groups = groups, .arena = a, .e = e, .command = argv[0]};
    struct argp argp = {opt_argp_rows(groups, a), on_key, opt_args_doc(groups, a), opt_doc(doc, a), NULL, NULL, NULL};
    unsigned flags = ARGP_NO_HELP | ARGP_NO_ERRS | (has_rest(groups) ? ARGP_IN_ORDER : 0);
    error_t rc = argp_parse(&argp, argc, argv, flags, NULL, &p);
    if (rc && e->kind == ERR_NONE)
        fail(e, ERR_USAGE, "%s: %s", argv[0], strerror(rc));
    return e->kind == ERR_NONE;
}
