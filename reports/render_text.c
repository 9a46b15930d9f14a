/* render_text.c - tables for a terminal.
 *
 *     Host-device syncs by call site   (backend cpu, trace before.sqlite)
 *     site                         api                    count  blocked (ms)
 *     thd_rank_indices             cudaMemcpyAsync       61,440     2,417.612
 *     resolve_cu_seqlens           cudaStreamSynchronize  2,880       943.500
 *       window: 1 step, 22,731.406 ms
 *
 * Numbers stand to the right, texts to the left. On a terminal the widest texts are cut until the line fits; where the numbers
 * alone are too wide, the columns go on below, behind those that tell rows apart:
 *
 *     rank  device  span (ms)  busy (ms)           rank  device  kernels
 *        0       0  1,081.532    967.198              0       0    2,249
 */
#include "reports/layout.h"
#include "reports/render.h"
#include "reports/glyph.h"

#include <string.h>

enum { GAP = 2, TEXT_MOST = 120, LAST_MOST = 1000, TEXT_LEAST = 16, LINE_SIZE = 4 * LAST_MOST + 16 };

struct printer {
    const struct table *t;
    struct layout l;
    int *width;         /* by shown column */
    bool color, narrow; /* narrow: a terminal, whose width holds */
    FILE *out;
};

static void pad(FILE *out, int n)
{
    fprintf(out, "%*s", n > 0 ? n : 0, "");
}

/* A text in the last column pushes nothing aside: where no terminal wraps it, it may be long. */
static int most(const struct printer *p, size_t i)
{
    return i + 1 == p->l.n && !p->narrow ? LAST_MOST : TEXT_MOST;
}

static int cell_width(const struct printer *p, size_t row, size_t i)
{
    char buf[HUMAN_SIZE], line[LINE_SIZE];
    return glyph_line(layout_cell(p->t, &p->l, row, i, buf), most(p, i), line, sizeof line);
}

static void measure(struct printer *p)
{
    for (size_t i = 0; i < p->l.n; i++) {
        char head[2 * HUMAN_SIZE];
        p->width[i] = (int)strlen(human_heading(p->t, p->l.columns[i].column, head));
        for (size_t r = 0; r < p->t->nrows; r++) {
            int w = cell_width(p, r, i);
            p->width[i] = w > p->width[i] ? w : p->width[i];
        }
    }
}

/* Takes from the widest text column until the line fits; false: none can give more. */
static bool fit(struct printer *p, int columns)
{
    for (;;) {
        int all = 0;
        size_t widest = p->l.n;
        for (size_t i = 0; i < p->l.n; i++) {
            all += p->width[i] + (i ? GAP : 0);
            if (!p->l.columns[i].human.right && p->width[i] > TEXT_LEAST && (widest == p->l.n || p->width[i] > p->width[widest]))
                widest = i;
        }
        if (!columns || all <= columns)
            return true;
        if (widest == p->l.n)
            return false;
        p->width[widest]--;
    }
}

static void put_cell(const struct printer *p, size_t i, bool last, const char *text)
{
    char line[LINE_SIZE];
    int used = glyph_middle(text, p->width[i], line, sizeof line), left = p->width[i] - used;
    bool right = p->l.columns[i].human.right;
    pad(p->out, (i ? GAP : 0) + (right ? left : 0));
    fputs(line, p->out);
    pad(p->out, right || last ? 0 : left);
}

static void title(const struct printer *p)
{
    char line[LINE_SIZE];
    fprintf(p->out, "%s%s%s", p->color ? "\033[1m" : "", p->t->title ? p->t->title : p->t->name, p->color ? "\033[0m" : "");
    if (p->l.source) {
        glyph_line(p->l.source, TEXT_MOST, line, sizeof line);
        fprintf(p->out, "   (%s)", line);
    }
    putc('\n', p->out);
}

/* ---- columns that are shown together ---- */

struct block {
    size_t keys, from, to; /* columns 0 to keys - 1, then from to to - 1 */
};

static void header(const struct printer *p, struct block b)
{
    fputs(p->color ? "\033[2m" : "", p->out);
    for (size_t i = 0; i < b.to; i = i + 1 == b.keys ? b.from : i + 1) {
        char head[2 * HUMAN_SIZE];
        put_cell(p, i, i + 1 == b.to, human_heading(p->t, p->l.columns[i].column, head));
    }
    fputs(p->color ? "\033[0m\n" : "\n", p->out);
}

static void rows(const struct printer *p, struct block b)
{
    for (size_t r = 0; r < p->t->nrows; r++) {
        for (size_t i = 0; i < b.to; i = i + 1 == b.keys ? b.from : i + 1) {
            char buf[HUMAN_SIZE];
            put_cell(p, i, i + 1 == b.to, layout_cell(p->t, &p->l, r, i, buf));
        }
        putc('\n', p->out);
    }
}

/* The leading columns that name, as far as they leave room for others; *used: their width. */
static size_t keys_of(const struct printer *p, int columns, int *used)
{
    size_t n = 0;
    for (*used = 0; n < p->l.n; n++) {
        enum unit u = p->t->columns[p->l.columns[n].column].unit;
        int w = p->width[n] + (n ? GAP : 0);
        if ((u != UNIT_ID && u != UNIT_TEXT) || *used + w > columns * 2 / 3)
            break;
        *used += w;
    }
    return n;
}

/* In blocks of as many columns as the line has room for; one at least. */
static void blocks(struct printer *p, int columns)
{
    int used, most = columns / 3;
    measure(p);
    for (size_t i = 0; i < p->l.n; i++)
        if (!p->l.columns[i].human.right && p->width[i] > most)
            p->width[i] = most > TEXT_LEAST ? most : TEXT_LEAST;
    struct block b = {.keys = keys_of(p, columns, &used)};
    for (b.from = b.keys; b.from < p->l.n; b.from = b.to) {
        int all = used;
        for (b.to = b.from; b.to < p->l.n && (b.to == b.from || all + GAP + p->width[b.to] <= columns); b.to++)
            all += GAP + p->width[b.to];
        if (b.from > b.keys)
            putc('\n', p->out);
        header(p, b);
        rows(p, b);
    }
}

static void note(const char *text, void *ctx)
{
    const struct printer *p = ctx;
    char line[2048];
    glyph_line(text, 500, line, sizeof line);
    fprintf(p->out, "  %s\n", line);
}

static void one(const struct table *t, const struct render_opts *o, FILE *out)
{
    struct arena a = {0};
    struct printer p = {t, layout_of(t, &a), arena_array(&a, int, t->ncolumns), o->color, o->width > 0, out};
    measure(&p);
    bool fits = fit(&p, o->width);
    title(&p);
    if (fits) {
        header(&p, (struct block){.to = p.l.n});
        rows(&p, (struct block){.to = p.l.n});
    } else
        blocks(&p, o->width);
    layout_notes(t, &p.l, note, &p);
    arena_free(&a);
}

static bool render(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e)
{
    (void)e;
    for (size_t i = 0; i < n; i++) {
        if (i)
            putc('\n', out);
        one(tables[i], o, out);
    }
    return true;
}

const struct renderer render_text = {"text", "aligned columns, readable units, notes below (default)", render};
