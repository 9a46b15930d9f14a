/* render_github.c - the gate as workflow commands of GitHub Actions, which become annotations at file and line:
 * an error a failure, a warning a rule that could not be judged, a notice a pass. */
#include "reports/gaterow.h"
#include "reports/glyph.h"
#include "reports/render.h"
#include "schemas/utf8.h"

#include <string.h>

/* `escape`: what a command would read as its own syntax there; the rest as harmless text. */
static void text(const char *s, const char *escape, FILE *out)
{
    char bytes[4];
    while (*s) {
        uint32_t cp;
        s += glyph_next(s, &cp);
        if (cp < 128 && strchr(escape, (int)cp))
            fprintf(out, "%%%02X", (unsigned)cp);
        else
            fwrite(bytes, 1, utf8_bytes(glyph_acts(cp) ? GLYPH_BAD : cp, bytes), out);
    }
}

static void command(const struct gaterow *r, FILE *out)
{
    const char *word = strcmp(r->verdict, "fail") == 0 ? "error" : strcmp(r->verdict, "pass") == 0 ? "notice" : "warning";
    fprintf(out, "::%s ", word);
    if (*r->file) {
        fputs("file=", out);
        text(r->file, "%\r\n:,", out);
        fprintf(out, ",line=%lld,", (long long)(r->line > 0 ? r->line : 1));
    }
    fputs("title=cpscope gate::", out);
    text(r->rule, "%\r\n", out);
    if (*r->why) {
        fputs(": ", out);
        text(r->why, "%\r\n", out);
    }
    putc('\n', out);
}

static bool render(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e)
{
    (void)o, (void)e;
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < tables[i]->nrows; r++) {
            struct gaterow row = gaterow_at(tables[i], r);
            command(&row, out);
        }
    return true;
}

const struct renderer render_github = {.name = "github", .what = "annotations of GitHub Actions (gate, check)", .verdicts = true, .render = render};
