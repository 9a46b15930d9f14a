/* page.c - the page is page.html with its {{holes}} filled. */
#include "reports/page.h"
#include "reports/asset.h"
#include "reports/palette.h"
#include "schemas/version.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void page_init(struct page *p, const char *title)
{
    *p = (struct page){0};
    p->title = arena_strdup(&p->arena, title);
}

void page_free(struct page *p)
{
    free(p->points);
    free(p->parts);
    arena_free(&p->arena);
    *p = (struct page){0};
}

static const char *vtext(struct arena *a, const char *fmt, va_list ap)
{
    char *text = NULL;
    if (vasprintf(&text, fmt, ap) < 0)
        return "";
    const char *kept = arena_strdup(a, text);
    free(text);
    return kept;
}

void page_lead(struct page *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    p->lead = vtext(&p->arena, fmt, ap);
    va_end(ap);
}

void page_verdict(struct page *p, enum page_tone tone, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    p->tone = tone;
    p->verdict = vtext(&p->arena, fmt, ap);
    va_end(ap);
}

void page_point(struct page *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ARRAY_PUSH(p->points, p->npoints, p->points_cap, ((struct page_part){.kind = PAGE_TEXT, .text = vtext(&p->arena, fmt, ap)}));
    va_end(ap);
}

static void push(struct page *p, struct page_part part)
{
    ARRAY_PUSH(p->parts, p->nparts, p->parts_cap, part);
}

void page_section(struct page *p, const char *id, const char *title)
{
    push(p, (struct page_part){.kind = PAGE_SECTION, .id = id, .text = arena_strdup(&p->arena, title)});
}

void page_text(struct page *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    push(p, (struct page_part){.kind = PAGE_TEXT, .text = vtext(&p->arena, fmt, ap)});
    va_end(ap);
}

void page_lines(struct page *p, const char *text)
{
    push(p, (struct page_part){.kind = PAGE_LINES, .text = arena_strdup(&p->arena, text)});
}

void page_table(struct page *p, const struct table *t, struct html_table_opts o)
{
    o.caption = arena_strdup(&p->arena, o.caption);
    o.more = arena_strdup(&p->arena, o.more);
    o.source = arena_strdup(&p->arena, o.source);
    push(p, (struct page_part){.kind = PAGE_TABLE, .table = t, .table_opts = o});
}

void page_plot(struct page *p, const char *svg, const char *caption)
{
    push(p, (struct page_part){.kind = PAGE_PLOT, .svg = svg, .text = arena_strdup(&p->arena, caption)});
}

void page_fold(struct page *p, const char *title)
{
    push(p, (struct page_part){.kind = PAGE_FOLD, .text = arena_strdup(&p->arena, title)});
}

void page_unfold(struct page *p)
{
    push(p, (struct page_part){.kind = PAGE_UNFOLD});
}

/* ---- what fills the holes ---- */

static void put_title(const struct page *p, FILE *out)
{
    html_text(p->title, 0, out);
}

static void put_lead(const struct page *p, FILE *out)
{
    if (!p->lead)
        return;
    fputs("<p>", out);
    html_text(p->lead, 0, out);
    fputs("</p>", out);
}

static void put_palette(const struct page *p, FILE *out)
{
    (void)p;
    fputs(":root {", out);
#define COLOR(name, value) fputs(" --" #name ": " value ";", out);
    PALETTE(COLOR)
#undef COLOR
    fputs(" }", out);
}

static void put_css(const struct page *p, FILE *out)
{
    (void)p;
    fputs(asset_text("page.css"), out);
}

static void put_script(const struct page *p, FILE *out)
{
    (void)p;
    fputs(asset_text("page.js"), out);
}

static void put_version(const struct page *p, FILE *out)
{
    (void)p;
    fputs(CPSCOPE_VERSION, out);
}

static void put_nav(const struct page *p, FILE *out)
{
    size_t n = 0;
    for (size_t i = 0; i < p->nparts; i++)
        n += p->parts[i].kind == PAGE_SECTION;
    if (n < 2)
        return;
    fputs("<nav aria-label=\"Sections\"><ul>\n", out);
    for (size_t i = 0; i < p->nparts; i++)
        if (p->parts[i].kind == PAGE_SECTION) {
            fprintf(out, "<li><a href=\"#%s\">", p->parts[i].id);
            html_text(p->parts[i].text, 0, out);
            fputs("</a></li>\n", out);
        }
    fputs("</ul></nav>", out);
}

static void put_verdict(const struct page *p, FILE *out)
{
    static const struct {
        const char *class, *word;
    } tones[] = {
        [TONE_NEUTRAL] = {"neutral", "Verdict"},
        [TONE_GOOD] = {"good", "Verdict on sync counts: better"},
        [TONE_BAD] = {"bad", "Verdict on sync counts: worse"},
        [TONE_UNDECIDED] = {"undecided", "No verdict"},
    };
    fprintf(out, "<section class=\"verdict %s\" aria-label=\"Verdict\">\n<p class=\"word\">%s</p>\n<h2>", tones[p->tone].class,
            p->word ? p->word : tones[p->tone].word);
    html_text(p->verdict, 0, out);
    fputs("</h2>\n", out);
    if (p->npoints)
        fputs("<ul>\n", out);
    for (size_t i = 0; i < p->npoints; i++) {
        fputs("<li>", out);
        html_text(p->points[i].text, 0, out);
        fputs("</li>\n", out);
    }
    fputs(p->npoints ? "</ul>\n</section>\n" : "</section>\n", out);
}

static void put_plot(const struct page_part *part, FILE *out)
{
    fputs("<figure>\n<div class=\"plot\" role=\"img\" tabindex=\"0\" aria-label=\"", out);
    html_text(part->text, 0, out);
    fprintf(out, "\">\n%s</div>\n<figcaption>", part->svg);
    html_text(part->text, 0, out);
    fputs("</figcaption>\n</figure>\n", out);
}

static void put_some(const char *s, size_t n, FILE *out)
{
    char *part = strndup(s, n);
    html_text(part ? part : "", HTML_TITLE_MOST, out);
    free(part);
}

static void put_lines(const struct page_part *part, FILE *out)
{
    fputs("<dl>\n", out);
    for (const char *s = part->text; *s;) {
        size_t n = strcspn(s, "\n"), word = strcspn(s, ":\n"), rest = word < n ? word + 1 + (s[word + 1] == ' ') : 0;
        fputs("<div><dt>", out);
        put_some(s, rest ? word : 0, out);
        fputs("</dt><dd>", out);
        put_some(s + rest, n - rest, out);
        fputs("</dd></div>\n", out);
        s += n + (s[n] == '\n');
    }
    fputs("</dl>\n", out);
}

static void put_part(const struct page_part *part, FILE *out)
{
    switch (part->kind) {
    case PAGE_SECTION:
        fprintf(out, "<h2 id=\"%s\">", part->id);
        html_text(part->text, 0, out);
        fputs("</h2>\n", out);
        break;
    case PAGE_TEXT:
        fputs("<p>", out);
        html_text(part->text, 0, out);
        fputs("</p>\n", out);
        break;
    case PAGE_LINES:
        put_lines(part, out);
        break;
    case PAGE_TABLE:
        html_table(part->table, &part->table_opts, out);
        break;
    case PAGE_PLOT:
        put_plot(part, out);
        break;
    case PAGE_FOLD:
        fputs("<details><summary>", out);
        html_text(part->text, 0, out);
        fputs("</summary>\n", out);
        break;
    case PAGE_UNFOLD:
        fputs("</details>\n", out);
        break;
    }
}

static void put_body(const struct page *p, FILE *out)
{
    if (p->verdict)
        put_verdict(p, out);
    for (size_t i = 0; i < p->nparts; i++)
        put_part(&p->parts[i], out);
}

static const struct hole {
    const char *name;
    void (*put)(const struct page *p, FILE *out);
} holes[] = {{"title", put_title},   {"lead", put_lead},       {"palette", put_palette},
             {"css", put_css},       {"nav", put_nav},         {"body", put_body},
             {"script", put_script}, {"version", put_version}, {0}};

static const struct hole *hole_at(const char *name)
{
    for (const struct hole *h = holes; h->name; h++) {
        size_t n = strlen(h->name);
        if (strncmp(name, h->name, n) == 0 && strncmp(name + n, "}}", 2) == 0)
            return h;
    }
    return NULL;
}

bool page_write(const struct page *p, FILE *out, struct err *e)
{
    const char *at = asset_text("page.html");
    for (const char *open; at && (open = strstr(at, "{{"));) {
        const struct hole *h = hole_at(open + 2);
        if (!h)
            return fail(e, ERR_FAIL, "page.html: a hole has no known name: %.20s", open);
        fwrite(at, 1, (size_t)(open - at), out);
        h->put(p, out);
        at = strstr(open, "}}") + 2;
    }
    fputs(at ? at : "", out);
    return true;
}
