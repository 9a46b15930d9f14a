/* opt_help.c - option rows as argp wants them, and texts as a terminal does. */
#include "schemas/opt_help.h"
#include "schemas/arena.h"

#include <argp.h>
#include <string.h>

enum { WIDTH = 78 };

struct argp_option *opt_argp_rows(const struct opt_group *groups, struct arena *a)
{
    size_t n = 0;
    for (const struct opt_group *g = groups; g->rows; g++, n++)
        for (const struct opt *o = g->rows; o->type; o++)
            n++;
    struct argp_option *v = arena_array(a, struct argp_option, n + 4), *p = v;
    int number = 0, group = 0;
    for (const struct opt_group *g = groups; g->rows; g++) {
        group++;
        if (g->title)
            *p++ = (struct argp_option){.doc = g->title, .group = group};
        for (const struct opt *o = g->rows; o->type; o++) {
            if (opt_positional(o->type))
                continue;
            int key = o->letter ? o->letter : FIRST_KEY + number;
            *p++ = (struct argp_option){o->name, key, o->type == OPT_FLAG ? NULL : o->value ? o->value : "VALUE", 0, o->what, group};
            number++;
        }
    }
    *p++ = (struct argp_option){"help", KEY_HELP, NULL, 0, "give this help list", -1};
    *p++ = (struct argp_option){"usage", KEY_USAGE, NULL, 0, "give a short usage message", -1};
    *p = (struct argp_option){"version", KEY_VERSION, NULL, 0, "print the version", -1};
    return v;
}

const char *opt_args_doc(const struct opt_group *groups, struct arena *a)
{
    const char *doc = "";
    for (const struct opt_group *g = groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->type; o++)
            if (opt_positional(o->type))
                doc = arena_printf(a, "%s%s%s%s%s", doc, *doc ? " " : "",
                                   o->type == OPT_ARG_OPTIONAL ? "["
                                   : o->type == OPT_REST       ? "[--] "
                                                               : "",
                                   o->name,
                                   o->type == OPT_ARG_OPTIONAL ? "]"
                                   : o->type == OPT_ARGS       ? "..."
                                                               : "");
    return doc;
}

/* Where the text of a line "  name  text" begins; 6 where it is none. */
static size_t hang_of(const char *line, size_t n)
{
    size_t at = strspn(line, " ");
    while (at + 1 < n && !(line[at] == ' ' && line[at + 1] == ' '))
        at++;
    at += strspn(line + at, " ");
    return at < n && at < WIDTH / 2 ? at : 6;
}

/* Copies the line with breaks for spaces, so that no part is wider than a terminal; the end of what is written. */
static char *put_hanging(char *to, const char *line, size_t n)
{
    for (size_t hang = hang_of(line, n), room = WIDTH; n > room; room = WIDTH - hang) {
        size_t cut = room;
        while (cut > hang && line[cut] != ' ')
            cut--;
        if (cut <= hang)
            break;
        to = mempcpy(to, line, cut);
        *to++ = '\n';
        memset(to, ' ', hang);
        to += hang;
        line += cut + 1;
        n -= cut + 1;
    }
    return mempcpy(to, line, n);
}

const char *opt_doc(const char *doc, struct arena *a)
{
    char *all = arena_alloc(a, 2 * strlen(doc) + 1), *to = all;
    for (const char *line = doc; *line;) {
        size_t n = strcspn(line, "\n\v");
        to = strncmp(line, "  ", 2) == 0 ? put_hanging(to, line, n) : mempcpy(to, line, n);
        line += n;
        if (*line)
            *to++ = *line++;
    }
    return all;
}
