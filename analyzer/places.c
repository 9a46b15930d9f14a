/* places.c - from sites to source lines, and the comments that excuse them. */
#include "analyzer/places.h"
#include "analyzer/syncs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int by_place(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    int c = strcmp(a->site, b->site);
    c = c ? c : strcmp(a->file, b->file);
    return c ? c : (a->line > b->line) - (a->line < b->line);
}

/* "FILE:LINE FUNCTION" taken apart; false: the site is a range or an API, which have no line. */
static bool parse(const char *text, struct place *p, struct arena *a)
{
    const char *space = strrchr(text, ' '), *colon = space;
    while (colon && colon > text && *colon != ':')
        colon--;
    if (!colon || colon == text || colon + 1 == space)
        return false;
    for (const char *c = colon + 1; c < space; c++)
        if (!isdigit((unsigned char)*c))
            return false;
    p->file = arena_strndup(a, text, (size_t)(colon - text));
    p->line = strtoll(colon + 1, NULL, 10);
    p->site = arena_printf(a, "%s:%s", p->file, space + 1);
    return true;
}

struct places places_of(const struct trace *t, const char *ledger, struct arena *a)
{
    struct syncs_args args = {.ledger = ledger, .by = "line"};
    struct places p = {0};
    struct table out = {0};
    struct err e = {0};
    const struct table_desc *d = table_find("syncs");
    if (table_build(d, t, &args, &out, &e)) {
        int site = table_column(&out, "site");
        p.v = arena_array(a, struct place, out.nrows + 1);
        for (size_t i = 0; i < out.nrows; i++) {
            struct cell c = table_at(&out, i)[site];
            p.n += c.kind == CELL_TEXT && parse(c.s, &p.v[p.n], a);
        }
        qsort(p.v, p.n, sizeof *p.v, by_place);
        size_t kept = 0;
        for (size_t i = 0; i < p.n; i++)
            if (!kept || by_place(&p.v[kept - 1], &p.v[i]) != 0)
                p.v[kept++] = p.v[i];
        p.n = kept;
    }
    table_free(&out);
    return p;
}

const struct place *places_find(const struct places *p, const char *site, size_t *n)
{
    size_t i = 0;
    while (i < p->n && strcmp(p->v[i].site, site) != 0)
        i++;
    for (*n = 0; i + *n < p->n && strcmp(p->v[i + *n].site, site) == 0;)
        ++*n;
    return *n ? &p->v[i] : NULL;
}

/* The source is looked at below this folder only, and only files: the path is a trace's word. */
static FILE *source_of(const char *path)
{
    struct stat s;
    bool below = *path != '/' && !strstr(path, "..") && stat(path, &s) == 0 && S_ISREG(s.st_mode);
    return below ? fopen(path, "r") : NULL;
}

static bool excused_line(const struct place *p, const char **reason, struct arena *a)
{
    static const char word[] = "gpu-sync-ok:";
    FILE *f = source_of(p->file);
    char *line = NULL, *at = NULL;
    size_t cap = 0;
    ssize_t n = 0;
    if (!f)
        return false;
    for (int64_t i = 0; i < p->line && n >= 0; i++)
        n = getline(&line, &cap, f);
    if (n > 0 && (at = strstr(line, word))) {
        at += sizeof word - 1;
        at += strspn(at, " \t");
        *reason = arena_strndup(a, at, strcspn(at, "\r\n"));
    }
    bool found = at && **reason;
    free(line);
    fclose(f);
    return found;
}

bool place_excused(const struct place *v, size_t n, const char **reason, struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        if (!excused_line(&v[i], reason, a))
            return false;
    return n > 0;
}
