/* svg.c - line by line, for gnuplot writes one element a line. A line of text content is left exactly as it is: it may hold
 * a name, which may look like anything. */
#include "reports/svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cleaner {
    FILE *out;
    const char *group; /* an opened group that has nothing in it yet */
    size_t ngroup;
    bool in_defs, in_head, in_page;
};

static bool has(const char *line, size_t n, const char *what)
{
    return memmem(line, n, what, strlen(what)) != NULL;
}

static const struct change {
    const char *from, *to;
} changes[] = {
    {" color=\"black\"", ""},   {"fill=\"black\"", "fill=\"currentColor\""},
    {" stroke='black'", ""},    {" fill = ", " fill="},
    {" points = ", " points="}, {" '/>", "'/>"},
    {"</title>", ""},
};

static const struct change *change_at(const char *p, size_t n)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        size_t k = strlen(changes[i].from);
        if (k <= n && memcmp(p, changes[i].from, k) == 0)
            return &changes[i];
    }
    return NULL;
}

static void put_changed(const char *p, size_t n, FILE *out)
{
    for (const char *end = p + n; p < end;) {
        const struct change *c = change_at(p, (size_t)(end - p));
        if (c) {
            fputs(c->to, out);
            p += strlen(c->from);
        } else {
            putc(*p++, out);
        }
    }
}

static void flush_group(struct cleaner *c)
{
    if (c->group)
        put_changed(c->group, c->ngroup, c->out);
    c->group = NULL;
}

/* The opening tag runs over several lines; of its attributes only the size is kept. */
static void head_line(struct cleaner *c, const char *line, size_t n)
{
    if (has(line, n, "<svg") && !c->in_page)
        fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" color=\"#1b1f24\"", c->out);
    else if (has(line, n, "<svg"))
        fputs("<svg aria-hidden=\"true\"", c->out);
    else if (has(line, n, "viewBox"))
        fwrite(line, 1, n - 1, c->out);
    else if (n == 2 && *line == '>') {
        fputs(">\n", c->out);
        c->in_head = false;
    }
}

/* Is this a line of what nobody sees? */
static bool useless(struct cleaner *c, const char *line, size_t n)
{
    if (has(line, n, "<defs>"))
        c->in_defs = true;
    bool skip = c->in_defs || has(line, n, "<title>Gnuplot") || has(line, n, "<desc>") || n == 1;
    if (has(line, n, "</defs>"))
        c->in_defs = false;
    return skip;
}

static void body_line(struct cleaner *c, const char *line, size_t n)
{
    bool content = has(line, n, "<text>");
    if (!content && useless(c, line, n))
        return;
    if (c->group && n == 5 && memcmp(line, "</g>", 4) == 0) {
        c->group = NULL; /* opened and closed with nothing between: both go */
        return;
    }
    flush_group(c);
    if (content)
        fwrite(line, 1, n, c->out);
    else if (has(line, n, "<g id="))
        fputs("<g>\n", c->out);
    else if (has(line, n, "<g fill=\"none\"") && line[n - 2] == '>')
        c->group = line, c->ngroup = n;
    else
        put_changed(line, n, c->out);
}

char *svg_clean(const char *svg, bool in_page, size_t *n)
{
    char *text = NULL;
    struct cleaner c = {open_memstream(&text, n), .in_head = true, .in_page = in_page};
    for (const char *line = svg; *line;) {
        const char *nl = strchr(line, '\n');
        size_t len = nl ? (size_t)(nl - line) + 1 : strlen(line);
        if (c.in_head)
            head_line(&c, line, len);
        else
            body_line(&c, line, len);
        line += len;
    }
    flush_group(&c);
    fclose(c.out);
    return text;
}
