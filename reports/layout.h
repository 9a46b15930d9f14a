/* layout.h - what of a table a reader needs: which columns are shown, and the lines below.
 *
 * Formats for people (text, markdown, html) leave out a column that is the same everywhere by nature (backend, trace: said
 * once, in a line) and one that holds nothing at all (said once, unless nobody asked for it: not in this trace). csv and
 * json leave out nothing.
 */
#pragma once
#include "reports/human.h"

struct shown {
    size_t column;
    struct human human;
};

struct layout {
    struct shown *columns;
    size_t n;
    const char *source;  /* "backend cpu, trace before.sqlite", NULL: not the same in all rows */
    const char *bases;   /* "busy is % of span; ...", NULL */
    const char *missing; /* "not in this trace: bubble, stall", NULL */
    const char *dash;    /* what "-" means, NULL when there is none */
};

struct layout layout_of(const struct table *t, struct arena *a);

/* Shown column i of a row, as text: escape it. */
const char *layout_cell(const struct table *t, const struct layout *l, size_t row, size_t i, char buf[HUMAN_SIZE]);

/* The lines below the table, each with `put`: bases, dash, missing, then the table's own notes. */
void layout_notes(const struct table *t, const struct layout *l, void (*put)(const char *line, void *ctx), void *ctx);
