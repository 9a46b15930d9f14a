/* render.h - a renderer prints result tables in one format.
 *
 * Each reports/render_x.c defines `const struct renderer render_x`; `--format` searches renderers[] by name. Output is a
 * function of the tables and the options alone: same input, same bytes.
 */
#pragma once
#include "schemas/err.h"
#include "schemas/table.h"

#include <stdbool.h>
#include <stdio.h>

struct render_opts {
    bool color;        /* text: terminal colours */
    int width;         /* text: columns of the terminal; 0: unknown, only very long names are cut */
    const char *title; /* html: of the document; NULL: the tables' own */
};

/* Prints tables[0 .. n-1] in order. A failing stream is the caller's to notice (ferror, at its close). */
struct renderer {
    const char *name, *what;
    bool (*render)(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e);
    bool verdicts; /* of tables that are the gate's only (gaterow_fits) */
};

extern const struct renderer *const renderers[]; /* ends with NULL; in order of name */

/* NULL with a message that lists what there is, for the gate's table (`verdicts`) or any other: ERR_USAGE. */
const struct renderer *renderer_find(const char *name, bool verdicts, struct err *e);
