/* across.c - grouping rows over ranks. */
#include "analyzer/across.h"

#include <stdlib.h>
#include <string.h>

size_t across_ranks_count(const struct table *t)
{
    int c = table_column(t, "rank");
    size_t n = 0, cap = 0;
    int64_t *seen = NULL;
    for (size_t r = 0; c >= 0 && r < t->nrows; r++) {
        struct cell x = table_at(t, r)[c];
        size_t i = 0;
        while (i < n && (x.kind != CELL_INT || seen[i] != x.i))
            i++;
        if (i == n && x.kind == CELL_INT)
            ARRAY_PUSH(seen, n, cap, x.i);
    }
    free(seen);
    return n;
}

struct across {
    const struct table *t;
    int rank, worst;
    size_t *row; /* row numbers, grouped */
};

static bool is_key(const struct table *t, size_t c)
{
    const struct column *k = &t->columns[c];
    bool source = strcmp(k->name, "rank") == 0 || strcmp(k->name, "device") == 0 || strcmp(k->name, "trace") == 0;
    return !source && (k->unit == UNIT_TEXT || k->unit == UNIT_ID);
}

static int cell_order(struct cell x, struct cell y)
{
    if (x.kind != y.kind)
        return x.kind < y.kind ? -1 : 1;
    if (x.kind == CELL_TEXT)
        return strcmp(x.s, y.s);
    double a = x.kind == CELL_REAL ? x.r : (double)x.i, b = y.kind == CELL_REAL ? y.r : (double)y.i;
    return (a > b) - (a < b);
}

static int key_order(const struct table *t, size_t x, size_t y)
{
    for (size_t c = 0; c < t->ncolumns; c++) {
        int d = is_key(t, c) ? cell_order(table_at(t, x)[c], table_at(t, y)[c]) : 0;
        if (d)
            return d;
    }
    return 0;
}

static int row_order(const void *x, const void *y, void *ctx)
{
    const struct across *a = ctx;
    size_t p = *(const size_t *)x, q = *(const size_t *)y;
    int d = key_order(a->t, p, q);
    if (!d)
        d = cell_order(table_at(a->t, p)[a->rank], table_at(a->t, q)[a->rank]);
    return d ? d : (p > q) - (p < q);
}

static int by_cell(const void *x, const void *y)
{
    return cell_order(*(const struct cell *)x, *(const struct cell *)y);
}

/* The cells of column c that are there, ascending, into v; how many. */
static size_t sorted_column(const struct table *t, const size_t *row, size_t n, size_t c, struct cell *v)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (table_at(t, row[i])[c].kind)
            v[m++] = table_at(t, row[i])[c];
    qsort(v, m, sizeof *v, by_cell);
    return m;
}

enum { STAT_MIN, STAT_MEDIAN, STAT_MAX, STAT_N };

/* Three rows at rows[0..2] from n rows of a group. The lower median, so that it is a value that occurred. */
static void statistics(const struct across *a, const size_t *row, size_t n, struct table *out)
{
    static const char *const names[STAT_N] = {"min", "median", "max"};
    const struct table *t = a->t;
    struct cell *v = malloc(n * sizeof *v);
    size_t first = out->nrows;
    for (int k = 0; k < STAT_N; k++)
        table_row(out)[a->rank] = cell_text(names[k]);
    for (size_t c = 0; v && c < t->ncolumns; c++) {
        bool number = t->columns[c].unit != UNIT_TEXT && t->columns[c].unit != UNIT_ID;
        size_t m = number || is_key(t, c) ? sorted_column(t, row, n, c, v) : 0;
        if (!m)
            continue;
        table_at(out, first + STAT_MIN)[c] = v[0];
        table_at(out, first + STAT_MEDIAN)[c] = v[(m - 1) / 2];
        table_at(out, first + STAT_MAX)[c] = v[m - 1];
    }
    free(v);
}

static void worst_rank(const struct across *a, const size_t *row, size_t n, struct table *out)
{
    size_t at = row[0];
    for (size_t i = 1; i < n; i++)
        if (cell_order(table_at(a->t, row[i])[a->worst], table_at(a->t, at)[a->worst]) > 0)
            at = row[i];
    struct cell *to = table_row(out), rank = table_at(a->t, at)[a->rank];
    memcpy(to, table_at(a->t, at), a->t->ncolumns * sizeof *to);
    to[a->rank] = rank.kind == CELL_INT ? cell_text(table_text(out, "worst %lld", (long long)rank.i)) : cell_text("worst");
}

/* The named column, else the first of times or counts, else the rank itself. */
static int worst_column(const struct table *t, const char *worst)
{
    int named = worst ? table_column(t, worst) : -1;
    for (size_t c = 0; named < 0 && c < t->ncolumns; c++)
        if (t->columns[c].unit == UNIT_NS || t->columns[c].unit == UNIT_COUNT)
            named = (int)c;
    return named < 0 ? table_column(t, "rank") : named;
}

void across_ranks(const struct table *t, const char *worst, struct table *out)
{
    struct arena scratch = {0};
    struct across a = {t, table_column(t, "rank"), worst_column(t, worst), arena_array(&scratch, size_t, t->nrows)};
    size_t cap = 0;
    struct column *columns = array_grow(NULL, &cap, t->ncolumns + 1, sizeof *columns);
    memcpy(columns, t->columns, (t->ncolumns + 1) * sizeof *columns);
    columns[a.rank].unit = UNIT_TEXT;
    table_init(out, t->name, t->title, columns);
    for (size_t i = 0; i < t->nrows; i++)
        a.row[i] = i;
    qsort_r(a.row, t->nrows, sizeof *a.row, row_order, &a);
    for (size_t i = 0, k; i < t->nrows; i = k) {
        for (k = i + 1; k < t->nrows && key_order(t, a.row[i], a.row[k]) == 0;)
            k++;
        statistics(&a, a.row + i, k - i, out);
        worst_rank(&a, a.row + i, k - i, out);
    }
    for (size_t i = 0; i < t->nnotes; i++)
        table_note(out, "%s", t->notes[i]);
    table_note(out, "minimum, median and maximum over ranks, column by column; 'worst N': rank N, the one with the largest %s",
               t->columns[a.worst].name);
    arena_free(&scratch);
}

void across_free(struct table *out)
{
    free((struct column *)out->columns);
    table_free(out);
}
