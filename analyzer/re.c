/* re.c - how large a pattern becomes, and compiling it.
 *
 *   a(bc+)+d     b 1, c+ 2: the group 3, repeated 6; with a and d 8 atoms: what the library writes out or goes through
 */
#include "analyzer/re.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 128, MOST_ATOMS = 2000 };

struct group {
    long before, last; /* atoms before the last one, of the last one */
};

struct sizing {
    struct group open[DEEPEST];
    int depth;
};

static void atom(struct group *g, long size)
{
    g->before += g->last;
    g->last = size;
}

/* Behind a bracket expression that begins at p. */
static const char *behind_bracket(const char *p)
{
    p += p[1] == '^' ? 2 : 1;
    p += *p == ']';
    while (*p && *p != ']') {
        const char *end = *p == '[' && p[1] && strchr(".:=", p[1]) ? strchr(p + 2, ']') : NULL;
        p = end ? end + 1 : p + 1;
    }
    return *p ? p + 1 : p;
}

/* How often {m,n} writes its atom out; *p moves behind it. */
static long times(const char **p)
{
    char *end;
    long m = strtol(*p + 1, &end, 10), n = m;
    if (*end == ',')
        n = strtol(end + 1, &end, 10);
    *p = *end == '}' ? end + 1 : *p + 1;
    long most = m > n ? m : n;
    return most < 0 ? 1 : most > MOST_ATOMS ? MOST_ATOMS + 1 : most + 1;
}

static void close_group(struct sizing *s)
{
    if (s->depth == 0) { /* a plain character */
        atom(&s->open[0], 1);
        return;
    }
    struct group inner = s->open[s->depth--];
    atom(&s->open[s->depth], inner.before + inner.last + 1);
}

static bool open_group(struct sizing *s)
{
    if (s->depth + 1 == DEEPEST)
        return false;
    s->open[++s->depth] = (struct group){0};
    return true;
}

/* What a repetition repeats is written out `times`: also an anchor or an operator that stands where nothing can be repeated. */
static void repeat(struct group *g, long times)
{
    g->last = (g->last > 0 ? g->last : 1) * times;
}

/* One element of the pattern; false: too deep. */
static bool element(struct sizing *s, const char **p)
{
    struct group *g = &s->open[s->depth];
    char c = *(*p)++;
    switch (c) {
    case '(':
        return open_group(s);
    case ')':
        close_group(s);
        return true;
    case '[':
        *p = behind_bracket(*p - 1);
        break;
    case '+': /* written out twice; of what may be empty, each repetition doubles the library's ways through it */
    case '*':
    case '?':
        repeat(g, 2);
        return true;
    case '{':
        --*p;
        repeat(g, times(p));
        return true;
    case '\\':
        *p += **p != '\0';
        break;
    default:
        break;
    }
    atom(g, 1);
    return true;
}

static bool is_small(const char *text)
{
    struct sizing s = {0};
    for (const char *p = text; *p;) {
        if (!element(&s, &p))
            return false;
        struct group g = s.open[s.depth];
        if (g.last > MOST_ATOMS || g.before + g.last > MOST_ATOMS)
            return false;
    }
    return true;
}

const char *re_compile(regex_t *re, const char *text, char why[RE_WHY])
{
    if (!is_small(text)) {
        snprintf(why, RE_WHY, "it repeats too much or nests too deeply");
        return why;
    }
    int rc = regcomp(re, text, REG_EXTENDED | REG_NOSUB);
    if (!rc)
        return NULL;
    regerror(rc, re, why, RE_WHY);
    return why;
}
