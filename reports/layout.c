/* layout.c - see layout.h. */
#include "reports/layout.h"

#include <string.h>

static bool empty_column(const struct table *t, size_t c)
{
    for (size_t r = 0; r < t->nrows; r++)
        if (table_at(t, r)[c].kind != CELL_ABSENT)
            return false;
    return t->nrows > 0;
}

/* The text that all rows share, NULL when they do not. */
static const char *common_text(const struct table *t, const char *name)
{
    int c = table_column(t, name);
    if (c < 0 || !t->nrows || table_at(t, 0)[c].kind != CELL_TEXT)
        return NULL;
    for (size_t r = 1; r < t->nrows; r++)
        if (table_at(t, r)[c].kind != CELL_TEXT || strcmp(table_at(t, r)[c].s, table_at(t, 0)[c].s) != 0)
            return NULL;
    return table_at(t, 0)[c].s;
}

static bool said_once(const struct table *t, size_t c)
{
    const char *name = t->columns[c].name;
    return (strcmp(name, "backend") == 0 || strcmp(name, "trace") == 0) && common_text(t, name);
}

static const char *listed(struct arena *a, const char *so_far, const char *between, const char *more)
{
    return so_far ? arena_printf(a, "%s%s%s", so_far, between, more) : arena_strdup(a, more);
}

static const char *base_of(const struct column *c, struct arena *a)
{
    char name[HUMAN_SIZE], base[HUMAN_SIZE];
    return arena_printf(a, "%s is %% of %s", human_name(c->name, name), human_name(c->base, base));
}

static const char *source_of(const struct table *t, struct arena *a)
{
    static const char *const names[] = {"backend", "trace"};
    const char *all = NULL;
    for (size_t i = 0; i < 2; i++) {
        const char *v = common_text(t, names[i]);
        if (v)
            all = listed(a, all, ", ", arena_printf(a, "%s %s", names[i], v));
    }
    return all;
}

static bool has_dash(const struct table *t, const struct layout *l)
{
    for (size_t r = 0; r < t->nrows; r++)
        for (size_t i = 0; i < l->n; i++)
            if (table_at(t, r)[l->columns[i].column].kind == CELL_ABSENT)
                return true;
    return false;
}

struct layout layout_of(const struct table *t, struct arena *a)
{
    struct layout l = {arena_array(a, struct shown, t->ncolumns)};
    for (size_t c = 0; c < t->ncolumns; c++) {
        char name[HUMAN_SIZE];
        if (said_once(t, c))
            continue;
        if (empty_column(t, c)) {
            if (!t->columns[c].asked)
                l.missing = listed(a, l.missing, ", ", human_name(t->columns[c].name, name));
            continue;
        }
        l.columns[l.n++] = (struct shown){c, human_column(t, c)};
        if (t->columns[c].base && t->nrows)
            l.bases = listed(a, l.bases, "; ", base_of(&t->columns[c], a));
    }
    l.source = source_of(t, a);
    if (l.missing)
        l.missing = arena_printf(a, "not in this trace: %s", l.missing);
    l.dash = has_dash(t, &l) ? "\"-\" means: not in this trace" : NULL;
    return l;
}

const char *layout_cell(const struct table *t, const struct layout *l, size_t row, size_t i, char buf[HUMAN_SIZE])
{
    struct cell c = table_at(t, row)[l->columns[i].column];
    return c.kind && c.unit ? human_measure(t, row, c, buf) : human_cell(&l->columns[i].human, c, buf);
}

void layout_notes(const struct table *t, const struct layout *l, void (*put)(const char *line, void *ctx), void *ctx)
{
    const char *lines[] = {l->bases, l->dash, l->missing};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i])
            put(lines[i], ctx);
    for (size_t i = 0; i < t->nnotes; i++)
        put(t->notes[i], ctx);
}
