/* outname.c - see outname.h. */
#include "schemas/outname.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text { /* a bounded string that is built up */
    char *at;
    size_t left;
    bool full;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->at, t->left, fmt, ap);
    va_end(ap);
    t->full |= n < 0 || (size_t)n >= t->left;
    if (!t->full) {
        t->at += n;
        t->left -= (size_t)n;
    }
}

/* Ordinary characters; those that glob takes for its own get a backslash when `glob`. */
static void add_plain(struct text *t, char c, bool glob)
{
    if (glob && strchr("*?[]\\", c))
        add(t, "\\");
    add(t, "%c", c);
}

static void add_host(struct text *t)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    add(t, "%s", host);
}

/* %q{VAR} from `p` at the brace; the place behind it, NULL when it does not end. */
static const char *add_variable(struct text *t, const char *p, bool glob)
{
    char name[256];
    const char *end = *p == '{' ? strchr(p, '}') : NULL;
    if (!end || (size_t)(end - p) > sizeof name)
        return NULL;
    memcpy(name, p + 1, (size_t)(end - p - 1));
    name[end - p - 1] = '\0';
    const char *v = getenv(name);
    for (const char *c = glob ? "" : v ? v : ""; *c; c++)
        add(t, "%c", *c == '/' ? '_' : *c); /* a value must not choose another folder */
    if (glob)
        add(t, "*");
    return end + 1;
}

/* One % directive, `p` behind the percent sign; the place behind it or NULL. */
static const char *add_directive(struct text *t, const char *p, bool glob)
{
    struct launch l = launch_env();
    switch (*p) {
    case '%':
        add(t, "%%");
        return p + 1;
    case 'h':
        add_host(t);
        return p + 1;
    case 'q':
        return add_variable(t, p + 1, glob);
    case 'p':
    case 'r':
        if (glob)
            add(t, "*");
        else
            add(t, "%d", *p == 'p' ? (int)getpid() : l.rank < 0 ? 0 : (int)l.rank);
        return p + 1;
    }
    return NULL;
}

static bool fill(const char *pattern, bool glob, char *out, size_t size, struct err *e)
{
    struct text t = {out, size, false};
    for (const char *p = pattern; *p;) {
        if (*p != '%') {
            add_plain(&t, *p++, glob);
            continue;
        }
        const char *next = add_directive(&t, p + 1, glob);
        if (!next)
            return fail(e, ERR_USAGE, "%s: %.3s is not one of %%p %%h %%r %%q{VAR} %%%%", pattern, p);
        p = next;
    }
    return !t.full || fail(e, ERR_USAGE, "%s: the file name is too long", pattern);
}

bool outname_expand(const char *pattern, char *out, size_t size, struct err *e)
{
    return fill(pattern, false, out, size, e);
}

bool outname_varies(const char *pattern)
{
    for (const char *p = strchr(pattern, '%'); p; p = p[1] ? strchr(p + 2, '%') : NULL)
        if (strchr("prq", p[1]) && p[1])
            return true;
    return false;
}

size_t outname_suffix(const char *name)
{
    const char *base = basename(name), *dot = strrchr(base, '.');
    return dot && dot > base ? (size_t)(dot - name) : strlen(name);
}

bool outname_glob(const char *pattern, bool later, char *out, size_t size, struct err *e)
{
    if (!fill(pattern, true, out, size, e))
        return false;
    size_t at = outname_suffix(out), n = strlen(out);
    if (later && n + 3 > size)
        return fail(e, ERR_USAGE, "%s: the file name is too long", pattern);
    if (later) {
        memmove(out + at + 2, out + at, n - at + 1);
        memcpy(out + at, ".*", 2);
    }
    return true;
}

bool outname_try(const char *name, int attempt, struct launch l, char *out, size_t size)
{
    size_t at = outname_suffix(name);
    struct text t = {out, size, false};
    add(&t, "%.*s", (int)at, name);
    if (attempt > 0 && l.rank >= 0)
        add(&t, ".r%d", (int)l.rank);
    if (attempt > 0 && (l.rank < 0 || attempt > 1))
        add(&t, ".%d", (int)getpid());
    if (attempt > 2)
        add(&t, ".%d", attempt - 1);
    add(&t, "%s", name + at);
    return !t.full;
}
