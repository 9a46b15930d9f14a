/* render_json.c - {"table": "syncs", "rows": [{"rank": 0, "site": "route_build", "stall_ns": null}, ...]}
 *
 * One table is an object, several are an array of them. Numbers are those of csv, so int64 stays exact; what is not in the
 * trace is null; bytes that are not UTF-8 become U+FFFD, so any name gives valid JSON.
 */
#include "reports/render.h"
#include "reports/jsonstr.h"

static void value(struct cell c, enum unit u, FILE *out)
{
    char buf[64];
    if (c.kind == CELL_TEXT)
        jsonstr_put(c.s, out);
    else
        fputs(c.kind == CELL_ABSENT ? "null" : cell_csv(c, u, buf), out);
}

static void object(const struct table *t, FILE *out)
{
    fputs("{\"table\": ", out);
    jsonstr_put(t->name, out);
    fputs(", \"rows\": [", out);
    for (size_t r = 0; r < t->nrows; r++) {
        fputs(r ? ",\n  {" : "\n  {", out);
        for (size_t c = 0; c < t->ncolumns; c++) {
            fputs(c ? ", " : "", out);
            jsonstr_put(t->columns[c].name, out);
            fputs(": ", out);
            value(table_at(t, r)[c], t->columns[c].unit, out);
        }
        putc('}', out);
    }
    fputs(t->nrows ? "\n]}" : "]}", out);
}

static bool render(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e)
{
    (void)o, (void)e;
    fputs(n == 1 ? "" : "[", out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n" : "", out);
        object(tables[i], out);
    }
    fputs(n == 1 ? "\n" : "]\n", out);
    return true;
}

const struct renderer render_json = {"json", "one object {\"table\", \"rows\"}, an array for several tables; null = not in this trace", render};
