/* render_csv.c - tables as csv; the printer itself is in schemas/table, which cpbench uses too. */
#include "reports/render.h"

static bool render(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e)
{
    (void)o, (void)e;
    for (size_t i = 0; i < n; i++) {
        if (i)
            putc('\n', out); /* an empty line between tables */
        table_csv(tables[i], out);
    }
    return true;
}

const struct renderer render_csv = {"csv", "RFC 4180 with a header row; times in ns, empty = not in this trace", render};
