/* csvlog.c - csv, field by field: a quoted field may hold commas, doubled quotes and line ends. */
#include "analyzer/csvlog.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 256 << 20 };

struct reader {
    const char *path;
    char *p, *end;
    size_t line;
};

enum field_end { END_FIELD, END_ROW, END_BAD };

static bool at(const struct reader *r, char c)
{
    return r->p < r->end && *r->p == c;
}

/* Up to the closing quote, which is passed; a doubled one is one. False: the text ends first. */
static bool quoted(struct reader *r, char **to)
{
    for (r->p++; r->p < r->end; r->p++) {
        if (*r->p == '"' && !(r->p + 1 < r->end && r->p[1] == '"')) {
            r->p++;
            return true;
        }
        r->p += *r->p == '"';
        *(*to)++ = *r->p;
    }
    return false;
}

static void plain(struct reader *r, char **to)
{
    while (r->p < r->end && !strchr(",\r\n", *r->p))
        *(*to)++ = *r->p++;
}

/* The next field, NUL-terminated in place; *s points at it. */
static enum field_end field(struct reader *r, char **s)
{
    char *to = *s = r->p;
    bool whole = true;
    if (at(r, '"'))
        whole = quoted(r, &to);
    else
        plain(r, &to);
    bool comma = at(r, ',');
    r->p += at(r, '\r');
    whole &= comma || r->p >= r->end || *r->p == '\n';
    r->p += r->p < r->end;
    *to = 0; /* the buffer has room for one more */
    return !whole ? END_BAD : comma ? END_FIELD : END_ROW;
}

static double value(const char *s)
{
    char *end;
    double y = strtod(s, &end);
    return *s && !*end ? y : NAN;
}

static bool header(struct reader *r, struct arena *a, struct csvlog *out, struct err *e)
{
    char *s;
    enum field_end end = END_FIELD;
    const char **names = NULL;
    size_t cap = 0;
    r->line = 1;
    while (end == END_FIELD) {
        end = field(r, &s);
        ARRAY_PUSH(names, out->ncolumns, cap, arena_strdup(a, s));
    }
    out->names = arena_array(a, const char *, out->ncolumns);
    memcpy(out->names, names, out->ncolumns * sizeof *names);
    free(names);
    return end == END_ROW || fail(e, ERR_FAIL, "%s: line 1: a field is not csv: mind the quotes", r->path);
}

static bool one_row(struct reader *r, struct csvlog *out, double *row, struct err *e)
{
    char *s;
    size_t n = 0;
    enum field_end end = END_FIELD;
    r->line++;
    while (end == END_FIELD) {
        end = field(r, &s);
        if (n < out->ncolumns)
            row[n] = value(s);
        n++;
    }
    if (end == END_BAD)
        return fail(e, ERR_FAIL, "%s: line %zu: a field is not csv: mind the quotes", r->path, r->line);
    if (n != out->ncolumns)
        return fail(e, ERR_FAIL, "%s: line %zu: %zu fields, the header has %zu", r->path, r->line, n, out->ncolumns);
    return true;
}

static bool rows(struct reader *r, struct arena *a, struct csvlog *out, struct err *e)
{
    size_t lines = 0;
    for (const char *p = r->p; p < r->end; p++)
        lines += *p == '\n';
    out->v = arena_array(a, double, (lines + 1) * out->ncolumns);
    for (bool ok = true; ok && r->p < r->end; out->nrows++) {
        ok = one_row(r, out, out->v + out->nrows * out->ncolumns, e);
        if (!ok)
            return false;
    }
    return true;
}

static char *whole_file(const char *path, size_t *n, struct err *e)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    size_t cap = 0, got = 1;
    *n = 0;
    if (!in) {
        fail(e, ERR_FAIL, "%s: %s", path, strerror(errno));
        return NULL;
    }
    while (got && *n < FILE_MOST) {
        if (*n + 65537 > cap)
            text = array_grow(text, &cap, *n + 65537, 1);
        got = fread(text + *n, 1, 65536, in);
        *n += got;
    }
    bool bad = ferror(in) || got;
    fclose(in);
    if (bad || !*n || memchr(text, 0, *n)) {
        fail(e, ERR_FAIL, "%s: %s", path, bad ? "cannot be read as a log" : *n ? "not a csv file" : "empty: no header");
        free(text);
        return NULL;
    }
    return text;
}

bool csvlog_read(const char *path, struct arena *a, struct csvlog *out, struct err *e)
{
    size_t n;
    *out = (struct csvlog){0};
    char *text = whole_file(path, &n, e);
    struct reader r = {path, text, text + n, 0};
    bool ok = text && header(&r, a, out, e) && rows(&r, a, out, e);
    free(text);
    return ok;
}

int csvlog_column(const struct csvlog *c, const char *name)
{
    for (size_t i = 0; i < c->ncolumns; i++)
        if (strcmp(c->names[i], name) == 0)
            return (int)i;
    return -1;
}
