/* render_html.c - tables as a small page of their own, in the style of the report. */
#include "reports/html.h"
#include "reports/page.h"
#include "reports/render.h"

static bool render(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e)
{
    const char *title = o->title ? o->title : n && tables[0]->title ? tables[0]->title : "cpscope";
    struct page p;
    page_init(&p, title);
    for (size_t i = 0; i < n; i++)
        page_table(&p, tables[i], (struct html_table_opts){0});
    bool ok = page_write(&p, out, e);
    page_free(&p);
    return ok;
}

const struct renderer render_html = {"html", "one self-contained page", render};
