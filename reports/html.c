/* html.c - see html.h. */
#include "reports/html.h"
#include "reports/layout.h"
#include "reports/glyph.h"
#include "schemas/utf8.h"

#include <inttypes.h>
#include <string.h>

static void put_char(uint32_t cp, FILE *out)
{
    char bytes[4];
    if (glyph_acts(cp))
        fprintf(out, "&lt;U+%04" PRIX32 "&gt;", cp);
    else if (cp < 128 && strchr("&<>\"'`=", (int)cp))
        fprintf(out, "&#%" PRIu32 ";", cp);
    else
        fwrite(bytes, 1, utf8_bytes(cp, bytes), out);
}

void html_text(const char *s, size_t most, FILE *out)
{
    for (size_t n = 0; *s; n++) {
        uint32_t cp;
        if (most && n == most) {
            fputs("\u2026", out);
            return;
        }
        s += glyph_next(s, &cp);
        put_char(cp, out);
    }
}

/* As html_text, with places to break a line after the separators of paths and C names. */
static void breakable(const char *s, size_t most, FILE *out)
{
    for (size_t n = 0; *s; n++) {
        uint32_t cp;
        if (n == most) {
            fputs("\u2026", out);
            return;
        }
        s += glyph_next(s, &cp);
        put_char(cp, out);
        if (*s && cp < 128 && cp && strchr("/:,;", (int)cp))
            fputs("<wbr>", out);
    }
}

static bool longer(const char *s, size_t most)
{
    for (size_t n = 0; *s; n++) {
        uint32_t cp;
        if (n == most)
            return true;
        s += glyph_next(s, &cp);
    }
    return false;
}

void html_name(const char *s, FILE *out)
{
    if (!longer(s, HTML_NAME_MOST)) {
        breakable(s, HTML_NAME_MOST, out);
        return;
    }
    fputs("<span class=\"cut\" title=\"", out);
    html_text(s, HTML_TITLE_MOST, out);
    fputs("\">", out);
    breakable(s, HTML_NAME_MOST, out);
    fputs("</span>", out);
}

/* The path and the line of "path:line function"; false: it is another kind of name. */
static bool place_of(const char *s, size_t *path, size_t *line)
{
    const char *space = strrchr(s, ' '), *colon = space;
    while (colon && colon > s && *colon != ':')
        colon--;
    if (!colon || colon == s)
        return false;
    *path = (size_t)(colon - s);
    *line = strspn(colon + 1, "0123456789");
    return *line > 0 && colon + 1 + *line == space;
}

static void put_link(const char *s, const char *source, FILE *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    size_t path, line;
    if (!place_of(s, &path, &line)) {
        html_name(s, out);
        return;
    }
    fputs("<a href=\"", out);
    html_text(source, 0, out);
    for (size_t i = 0; i < path; i++)
        fprintf(out, strchr(plain, s[i]) ? "%c" : "%%%02X", (unsigned char)s[i]);
    fprintf(out, "#L%.*s\">", (int)line, s + path + 1);
    html_name(s, out);
    fputs("</a>", out);
}

static void put_frame(const char *s, size_t n, FILE *out)
{
    char frame[HTML_TITLE_MOST];
    n = n < sizeof frame ? n : sizeof frame - 1;
    memcpy(frame, s, n);
    frame[n] = '\0';
    html_name(frame, out);
}

enum { FRAMES_MOST = 100 };

/* Past the outermost frames of a stack that has more than FRAMES_MOST; how many they are in *cut. */
static const char *innermost(const char *s, size_t *cut)
{
    size_t n = 1;
    for (const char *p = s; *p; p++)
        n += *p == ';';
    *cut = n > FRAMES_MOST ? n - FRAMES_MOST : 0;
    for (size_t i = 0; i < *cut; i++)
        s = strchr(s, ';') + 1;
    return s;
}

/* A stack: its two innermost frames (the last may be the API that waits), to be opened; inside all, outermost first. */
static void put_stack(const char *s, FILE *out)
{
    const char *last = strrchr(s, ';'), *caller = last;
    size_t cut;
    if (!last) {
        html_name(s, out);
        return;
    }
    while (caller > s && caller[-1] != ';')
        caller--;
    fputs("<details class=\"stack\"><summary>", out);
    put_frame(caller, (size_t)(last - caller), out);
    fputs(" &#8250; ", out);
    put_frame(last + 1, strlen(last + 1), out);
    fputs("</summary><ol>", out);
    s = innermost(s, &cut);
    if (cut)
        fprintf(out, "<li>%zu frames further out</li>", cut);
    while (*s) {
        size_t n = strcspn(s, ";");
        fputs("<li>", out);
        put_frame(s, n, out);
        fputs("</li>", out);
        s += n + (s[n] == ';');
    }
    fputs("</ol></details>", out);
}

static void put_name(const char *s, const struct html_table_opts *o, FILE *out)
{
    if (o->stacks)
        put_stack(s, out);
    else if (o->source)
        put_link(s, o->source, out);
    else
        html_name(s, out);
}

/* The column that names a row: the first text, else the first. */
static size_t naming(const struct layout *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (!l->columns[i].human.right)
            return i;
    return 0;
}

/* Which run a column is of, for its colour: the same mark as in the plots. */
static const char *side(const char *column)
{
    return strstr(column, "before") ? " before" : strstr(column, "after") ? " after" : "";
}

/* n: a number; s: a word or two; t: a text that may be long. */
static const char *class_of(const struct human *h)
{
    return h->right ? "n" : h->brief ? "s" : "t";
}

static void head(const struct table *t, const struct layout *l, FILE *out)
{
    fputs("<thead><tr>", out);
    for (size_t i = 0; i < l->n; i++) {
        char text[2 * HUMAN_SIZE];
        const struct column *c = &t->columns[l->columns[i].column];
        fprintf(out, "<th scope=\"col\" class=\"%s%s\"", class_of(&l->columns[i].human), side(c->name));
        if (c->what) {
            fputs(" title=\"", out);
            html_text(c->what, 0, out);
            putc('"', out);
        }
        putc('>', out);
        html_text(human_heading(t, l->columns[i].column, text), 0, out);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n", out);
}

static void row(const struct table *t, const struct layout *l, size_t r, size_t name, const struct html_table_opts *o, FILE *out)
{
    fputs("<tr>", out);
    for (size_t i = 0; i < l->n; i++) {
        char buf[HUMAN_SIZE];
        fprintf(out, i == name ? "<th scope=\"row\" class=\"%s\">" : "<td class=\"%s\">", class_of(&l->columns[i].human));
        const char *text = layout_cell(t, l, r, i, buf);
        if (i == name && !l->columns[i].human.right)
            put_name(text, o, out);
        else if (*class_of(&l->columns[i].human) == 't' && o->whole)
            breakable(text, HTML_TITLE_MOST, out);
        else if (*class_of(&l->columns[i].human) == 't')
            html_name(text, out);
        else
            html_text(text, 0, out);
        fputs(i == name ? "</th>" : "</td>", out);
    }
    fputs("</tr>\n", out);
}

static void put_note(const char *line, void *ctx)
{
    FILE *out = ctx;
    fputs("<li>", out);
    html_text(line, HTML_TITLE_MOST, out);
    fputs("</li>\n", out);
}

static void put_notes(const struct table *t, const struct layout *l, size_t shown, const char *more, FILE *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], line[256];
    fputs("<ul class=\"notes\">\n", out);
    if (shown < t->nrows) {
        snprintf(line, sizeof line, "%s of %s rows%s%.120s", human_count((int64_t)shown, a), human_count((int64_t)t->nrows, b),
                 more ? "; all of them: " : "", more ? more : "");
        put_note(line, out);
    }
    if (l->source)
        put_note(l->source, out);
    layout_notes(t, l, put_note, out);
    fputs("</ul>\n", out);
}

void html_table(const struct table *t, const struct html_table_opts *o, FILE *out)
{
    struct arena a = {0};
    struct layout l = layout_of(t, &a);
    size_t shown = o->most && o->most < t->nrows ? o->most : t->nrows, name = naming(&l);
    const char *caption = o->caption ? o->caption : t->title ? t->title : t->name;
    fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
    html_text(caption, HTML_NAME_MOST, out);
    fputs("\"><table><caption>", out);
    html_text(caption, HTML_NAME_MOST, out);
    fputs("</caption>\n", out);
    head(t, &l, out);
    fputs("<tbody>\n", out);
    for (size_t r = 0; r < shown; r++)
        row(t, &l, r, name, o, out);
    if (!t->nrows)
        fprintf(out, "<tr><td colspan=\"%zu\">none</td></tr>\n", l.n ? l.n : 1);
    fputs("</tbody></table></div>\n", out);
    put_notes(t, &l, shown, o->more, out);
    arena_free(&a);
}
