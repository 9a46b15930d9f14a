/* render_markdown.c - tables to paste into a pull request (GitHub flavour). Names are text there too: what markdown, html
 * or a forge would act on (tags, emphasis, pipes, @mentions, #references) is written as a character reference. */
#include "reports/layout.h"
#include "reports/render.h"
#include "reports/glyph.h"

#include <string.h>

enum { NAME_MOST = 200 };

static bool word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* An underscore inside a word is only itself; a colon makes a link only before a slash. */
static bool acts(const char *line, const char *p)
{
    if (*p == '_')
        return p == line || !word(p[-1]) || !word(p[1]);
    if (*p == ':')
        return p[1] == '/';
    return strchr("&<>|*`~[]\\@#$", *p);
}

static void put_text(const char *s, FILE *out)
{
    char line[4 * NAME_MOST + 16];
    glyph_line(s, NAME_MOST, line, sizeof line);
    for (const char *p = line; *p; p++)
        if (acts(line, p))
            fprintf(out, "&#%d;", *p);
        else
            putc(*p, out);
}

static void put_note(const char *line, void *out)
{
    fputs("\n- ", out);
    put_text(line, out);
}

static void heading(const struct table *t, const struct layout *l, FILE *out)
{
    fprintf(out, "**%s**", t->title ? t->title : t->name);
    if (l->source) {
        fputs(" (", out);
        put_text(l->source, out);
        putc(')', out);
    }
    fputs("\n\n|", out);
    for (size_t i = 0; i < l->n; i++) {
        char head[2 * HUMAN_SIZE];
        fprintf(out, " %s |", human_heading(t, l->columns[i].column, head));
    }
    fputs("\n|", out);
    for (size_t i = 0; i < l->n; i++)
        fputs(l->columns[i].human.right ? " ---: |" : " --- |", out);
    putc('\n', out);
}

static void one(const struct table *t, FILE *out)
{
    struct arena a = {0};
    struct layout l = layout_of(t, &a);
    heading(t, &l, out);
    for (size_t r = 0; r < t->nrows; r++) {
        putc('|', out);
        for (size_t i = 0; i < l.n; i++) {
            char buf[HUMAN_SIZE];
            putc(' ', out);
            put_text(layout_cell(t, &l, r, i, buf), out);
            fputs(" |", out);
        }
        putc('\n', out);
    }
    layout_notes(t, &l, put_note, out);
    putc('\n', out);
    arena_free(&a);
}

static bool render(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e)
{
    (void)o, (void)e;
    for (size_t i = 0; i < n; i++) {
        if (i)
            putc('\n', out);
        one(tables[i], out);
    }
    return true;
}

const struct renderer render_markdown = {"markdown", "pipe tables to paste into a pull request", render};
