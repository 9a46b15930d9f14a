/* baseline_file.c - writing and reading the text form of a baseline. */
#include "analyzer/baseline_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char head[] = "cpscope baseline ", version[] = "1";

static void write_key(const char *s, FILE *out)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        bool edge = (i == 0 || i + 1 == n) && c == ' ';
        if (c < 0x20 || c == 0x7f || c == '%' || edge)
            fprintf(out, "%%%02X", c);
        else
            putc(c, out);
    }
}

/* In place; a '%' without two hex digits stays as it is. */
static void read_key(char *s)
{
    char *to = s;
    for (; *s; s++) {
        char hex[3] = {s[0] == '%' ? s[1] : 0, s[0] == '%' && s[1] ? s[2] : 0, 0};
        if (isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1])) {
            *to++ = (char)strtol(hex, NULL, 16);
            s += 2;
        } else
            *to++ = *s;
    }
    *to = '\0';
}

static void write_rule(const struct baseline_rule *r, FILE *out)
{
    fprintf(out, "rule %s\n", r->subject);
    if (r->m.missing)
        fprintf(out, "    missing %s\n", r->m.missing);
    for (size_t i = 0; i < r->m.n; i++) {
        fprintf(out, "    %.17g", r->m.v[i].value);
        if (r->m.v[i].largest)
            fprintf(out, "/%lld", (long long)r->m.v[i].largest);
        fputs(*r->m.v[i].key ? " " : "", out);
        write_key(r->m.v[i].key, out);
        putc('\n', out);
    }
}

void baseline_write(const struct baseline *b, FILE *out)
{
    fprintf(out, "%s%s\n# Written by cpscope gate --update-baseline. Counts are totals over ranks; they are compared per unit.\n", head, version);
    for (size_t i = 0; i < b->facts.n; i++) {
        fprintf(out, "fact %s ", b->facts.v[i].key);
        write_key(b->facts.v[i].value, out);
        putc('\n', out);
    }
    fprintf(out, "units");
    for (int u = 0; u < NUNITS; u++)
        if (b->units.n[u])
            fprintf(out, " %s=%lld", unit_names[u], (long long)b->units.n[u]);
    if (b->units.tokens)
        fprintf(out, " tokens=%lld", (long long)b->units.tokens);
    if (b->units.ranks)
        fprintf(out, " ranks=%lld", (long long)b->units.ranks);
    fprintf(out, "%s\n", b->units.whole ? " whole=1" : "");
    for (size_t i = 0; i < b->n; i++)
        write_rule(&b->rule[i], out);
}

bool baseline_is(const char *path)
{
    char line[sizeof head + 1] = {0};
    struct stat st;
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "r") : NULL; /* what is read from a pipe here would be missing later */
    if (!f)
        return false;
    size_t n = fread(line, 1, sizeof head - 1, f);
    fclose(f);
    return n == sizeof head - 1 && memcmp(line, head, n) == 0;
}

struct reading {
    struct baseline *b;
    const char *path;
    int line;
    struct err *e;
    size_t cap; /* of the current rule's values */
};

static bool damaged(struct reading *r, const char *what)
{
    return fail(r->e, ERR_FAIL, "%s:%d: %s; write it again with --update-baseline", r->path, r->line, what);
}

static bool read_units(struct reading *r, const char *text)
{
    struct units *u = &r->b->units;
    for (int i = 0; i < NUNITS; i++) {
        int64_t v = mark_value(text, unit_names[i]);
        u->n[i] = v > 0 ? v : 0;
    }
    int64_t tokens = mark_value(text, "tokens"), ranks = mark_value(text, "ranks");
    u->tokens = tokens > 0 ? tokens : 0;
    u->ranks = ranks > 0 ? ranks : 0;
    u->whole = mark_value(text, "whole") == 1;
    return u->n[UNIT_STEPS] > 0 || damaged(r, "units without steps");
}

static void add_key(struct reading *r, struct measured *m, struct measured_key k)
{
    if (m->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 16;
        struct measured_key *more = arena_array(&r->b->arena, struct measured_key, r->cap);
        if (m->n)
            memcpy(more, m->v, m->n * sizeof *more);
        m->v = more;
    }
    m->v[m->n++] = k;
}

static bool read_value(struct reading *r, char *text)
{
    if (!r->b->n)
        return damaged(r, "a value without a rule");
    struct measured *m = &r->b->rule[r->b->n - 1].m;
    if (strncmp(text, "missing ", 8) == 0) {
        m->missing = arena_strdup(&r->b->arena, text + 8);
        return true;
    }
    char *end;
    struct measured_key k = {.value = strtod(text, &end), .ns = -1};
    if (!isfinite(k.value))
        return damaged(r, "not a number");
    if (end != text && *end == '/')
        k.largest = strtoll(end + 1, &end, 10);
    if (end == text || (*end && *end != ' ') || k.largest < 0)
        return damaged(r, "not a number");
    char *key = arena_strdup(&r->b->arena, *end ? end + 1 : end);
    read_key(key);
    k.key = key;
    add_key(r, m, k);
    return true;
}

static bool read_fact(struct reading *r, char *text)
{
    char *space = strchr(text, ' ');
    if (!space)
        return damaged(r, "a fact without a value");
    *space = '\0';
    read_key(space + 1);
    facts_set(&r->b->facts, arena_strdup(&r->b->arena, text), arena_strdup(&r->b->arena, space + 1));
    return true;
}

static bool read_line(struct reading *r, char *s)
{
    if (!*s || *s == '#')
        return true;
    if (strncmp(s, "    ", 4) == 0)
        return read_value(r, s + 4);
    if (strncmp(s, "fact ", 5) == 0)
        return read_fact(r, s + 5);
    if (strncmp(s, "units", 5) == 0)
        return read_units(r, s);
    if (strncmp(s, "rule ", 5) != 0)
        return damaged(r, "not a line of a baseline");
    struct baseline_rule rule = {.subject = arena_strdup(&r->b->arena, s + 5)};
    r->cap = 0;
    ARRAY_PUSH(r->b->rule, r->b->n, r->b->cap, rule);
    return true;
}

bool baseline_read(const char *path, struct baseline *b, struct err *e)
{
    struct reading r = {.b = b, .path = path, .line = 1, .e = e};
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    if (!f)
        return fail(e, ERR_FAIL, "%s: cannot open: %s", path, strerror(errno));
    bool ok = getline(&line, &cap, f) > 0 || damaged(&r, "empty"); /* the head, which baseline_is() has seen */
    if (ok) {
        line[strcspn(line, "\r\n")] = '\0';
        ok = strcmp(line + sizeof head - 1, version) == 0 || damaged(&r, "another version than this cpscope reads");
    }
    while (ok && getline(&line, &cap, f) > 0) {
        line[strcspn(line, "\r\n")] = '\0'; /* a checkout may have put \r before \n */
        r.line++;
        ok = read_line(&r, line);
    }
    if (ok && !b->units.n[UNIT_STEPS])
        ok = damaged(&r, "no units");
    free(line);
    fclose(f);
    return ok;
}
