/* html.h - text and tables as HTML. Nothing that comes from a trace reaches the page but through html_text().
 *
 * Markup characters become references; what acts instead of being seen (controls, direction marks) is spelled out as
 * <U+202E>, with the angle brackets as references; bytes that are not UTF-8 become U+FFFD. The result is inert in element
 * content and inside double-quoted attribute values.
 */
#pragma once
#include "schemas/table.h"

#include <stdio.h>

enum { HTML_NAME_MOST = 160, HTML_TITLE_MOST = 2000 };

/* At most `most` characters of s, then an ellipsis; most 0: all. */
void html_text(const char *s, size_t most, FILE *out);

/* A name: cut to HTML_NAME_MOST characters; then the long form (HTML_TITLE_MOST) is its tooltip. */
void html_name(const char *s, FILE *out);

struct html_table_opts {
    size_t most;         /* rows shown; 0: all. A line says how many there are */
    const char *caption; /* NULL: the table's title */
    const char *more;    /* how to get the rest, shown when rows were cut; NULL: nothing */
    const char *source;  /* where "path:line function" leads to: this before path#Lline; NULL: no links */
    bool stacks;         /* names are stacks, frames between ";": the innermost is shown, all when it is opened */
    bool whole;          /* texts up to HTML_TITLE_MOST are not cut */
};

/* A table in a box that scrolls sideways by itself, with its notes below. */
void html_table(const struct table *t, const struct html_table_opts *o, FILE *out);
