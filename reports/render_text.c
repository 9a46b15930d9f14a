/* render_text.c - tables for a terminal.
 *
 *     Host-device syncs by call site   (backend cpu, trace before.sqlite)
 *     site                         api                    count  blocked (ms)
 *     thd_rank_indices             cudaMemcpyAsync       61,440     2,417.612
 *     resolve_cu_seqlens           cudaStreamSynchronize  2,880       943.500
 *       window: 1 step, 22,731.406 ms
 *
 * Numbers stand to the right, texts to the left. On a terminal the widest texts are cut until the line fits.
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

/* Takes from the widest text column until the line fits, or none can give more. */
static void fit(struct printer *p, int columns)
{
    for (;;) {
        int all = 0;
        size_t widest = p->l.n;
        for (size_t i = 0; i < p->l.n; i++) {
            all += p->width[i] + (i ? GAP : 0);
            if (!p->l.columns[i].human.right && p->width[i] > TEXT_LEAST && (widest == p->l.n || p->width[i] > p->width[widest]))
                widest = i;
        }
        if (!columns || all <= columns || widest == p->l.n)
            return;
        p->width[widest]--;
    }
}

static void put_cell(const struct printer *p, size_t i, const char *text)
{
    char line[LINE_SIZE];
    int used = glyph_line(text, p->width[i], line, sizeof line), left = p->width[i] - used;
    bool right = p->l.columns[i].human.right, last = i + 1 == p->l.n;
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

static void header(const struct printer *p)
{
    fputs(p->color ? "\033[2m" : "", p->out);
    for (size_t i = 0; i < p->l.n; i++) {
        char head[2 * HUMAN_SIZE];
        put_cell(p, i, human_heading(p->t, p->l.columns[i].column, head));
    }
    fputs(p->color ? "\033[0m\n" : "\n", p->out);
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
    fit(&p, o->width);
    title(&p);
    header(&p);
    for (size_t r = 0; r < t->nrows; r++) {
        for (size_t i = 0; i < p.l.n; i++) {
            char buf[HUMAN_SIZE];
            put_cell(&p, i, layout_cell(t, &p.l, r, i, buf));
        }
        putc('\n', out);
    }
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
