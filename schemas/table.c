/* table.c - rows of cells, ordering, csv. */
#include "schemas/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void table_init(struct table *t, const char *name, const char *title, const struct column *columns)
{
    *t = (struct table){.name = name, .title = title, .columns = columns};
    while (columns[t->ncolumns].name)
        t->ncolumns++;
}

void table_free(struct table *t)
{
    free(t->cells);
    free(t->notes);
    arena_free(&t->arena);
    *t = (struct table){0};
}

struct cell *table_at(const struct table *t, size_t row)
{
    return t->cells + row * t->ncolumns;
}

struct cell *table_row(struct table *t)
{
    if (t->nrows == t->cap)
        t->cells = array_grow(t->cells, &t->cap, t->nrows + 1, sizeof *t->cells * t->ncolumns);
    struct cell *row = table_at(t, t->nrows++);
    memset(row, 0, sizeof *row * t->ncolumns);
    return row;
}

int table_column(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->ncolumns; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

static char *vtext(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

void table_note(struct table *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ARRAY_PUSH(t->notes, t->nnotes, t->notes_cap, vtext(&t->arena, fmt, ap));
    va_end(ap);
}

const char *table_text(struct table *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = vtext(&t->arena, fmt, ap);
    va_end(ap);
    return p;
}

struct cell cell_int(int64_t i)
{
    return (struct cell){.kind = CELL_INT, .i = i};
}

struct cell cell_id(int64_t i)
{
    return i < 0 ? (struct cell){0} : cell_int(i);
}

struct cell cell_real(double r)
{
    return isfinite(r) ? (struct cell){.kind = CELL_REAL, .r = r} : (struct cell){0};
}

struct cell cell_text(const char *s)
{
    return s ? (struct cell){.kind = CELL_TEXT, .s = s} : (struct cell){0};
}

struct cell cell_measure(struct cell c, enum unit u)
{
    c.unit = u;
    return c;
}

struct cell cell_share(int64_t part, int64_t whole)
{
    return whole ? cell_real(100.0 * (double)part / (double)whole) : (struct cell){0};
}

static int cell_cmp(const struct cell *x, const struct cell *y)
{
    if (x->kind == CELL_TEXT && y->kind == CELL_TEXT)
        return strcmp(x->s, y->s);
    if (x->kind == CELL_INT && y->kind == CELL_INT)
        return (x->i > y->i) - (x->i < y->i);
    double a = x->kind == CELL_REAL ? x->r : (double)x->i, b = y->kind == CELL_REAL ? y->r : (double)y->i;
    return (a > b) - (a < b);
}

struct order {
    size_t ncolumns;
    int column;
    bool down;
    int (*cmp)(const struct cell *, const struct cell *);
};

/* One column of two rows; absent last, whichever way the order goes. */
static int column_cmp(const struct cell *p, const struct cell *q, bool down)
{
    if (!p->kind || !q->kind)
        return !p->kind - !q->kind;
    int c = cell_cmp(p, q);
    return down ? -c : c;
}

/* Ties fall back to all columns from the left, so that the order is total whatever qsort does. */
static int row_cmp(const void *a, const void *b, void *ctx)
{
    const struct order *o = ctx;
    const struct cell *x = a, *y = b;
    int c = o->cmp ? o->cmp(x, y) : column_cmp(&x[o->column], &y[o->column], o->down);
    for (size_t i = 0; i < o->ncolumns && !c; i++)
        c = column_cmp(&x[i], &y[i], false);
    return c;
}

void table_sort(struct table *t, int column, bool down)
{
    struct order o = {t->ncolumns, column, down, NULL};
    if (t->nrows)
        qsort_r(t->cells, t->nrows, sizeof *t->cells * t->ncolumns, row_cmp, &o);
}

void table_sort_by(struct table *t, int (*cmp)(const struct cell *x, const struct cell *y))
{
    struct order o = {t->ncolumns, 0, false, cmp};
    if (t->nrows)
        qsort_r(t->cells, t->nrows, sizeof *t->cells * t->ncolumns, row_cmp, &o);
}

void table_cut(struct table *t, size_t nrows)
{
    t->nrows = nrows < t->nrows ? nrows : t->nrows;
}

const char *cell_csv(struct cell c, enum unit u, char buf[64])
{
    switch (c.kind) {
    case CELL_TEXT:
        return c.s;
    case CELL_INT:
        snprintf(buf, 64, u == UNIT_PERCENT ? "%" PRId64 ".0000" : "%" PRId64, c.i);
        return buf;
    case CELL_REAL:
        snprintf(buf, 64, u == UNIT_PERCENT ? "%.4f" : "%.17g", c.r);
        return buf;
    case CELL_ABSENT:
        break;
    }
    return "";
}

static void csv_field(const char *s, FILE *out)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, out);
        return;
    }
    putc('"', out);
    for (; *s; s++) {
        if (*s == '"')
            putc('"', out);
        putc(*s, out);
    }
    putc('"', out);
}

void table_csv(const struct table *t, FILE *out)
{
    table_csv_rows(t, out, true);
}

void table_csv_rows(const struct table *t, FILE *out, bool header)
{
    char buf[64];
    for (size_t i = 0; header && i < t->ncolumns; i++)
        fprintf(out, "%s%s%s", i ? "," : "", t->columns[i].name, i + 1 == t->ncolumns ? "\n" : "");
    for (size_t r = 0; r < t->nrows; r++) {
        for (size_t i = 0; i < t->ncolumns; i++) {
            if (i)
                putc(',', out);
            csv_field(cell_csv(table_at(t, r)[i], t->columns[i].unit, buf), out);
        }
        putc('\n', out);
    }
}
