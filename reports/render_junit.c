/* render_junit.c - the gate as JUnit XML: a test case a verdict. An undecided rule is an error, never a pass. */
#include "reports/gaterow.h"
#include "reports/glyph.h"
#include "reports/render.h"
#include "schemas/utf8.h"

#include <string.h>

/* XML text; what XML 1.0 cannot hold, or what acts instead of being seen, becomes U+FFFD. */
static void text(const char *s, FILE *out)
{
    static const char *const refs[128] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&apos;"};
    char bytes[4];
    while (*s) {
        uint32_t cp;
        s += glyph_next(s, &cp);
        if (cp < 128 && refs[cp])
            fputs(refs[cp], out);
        else
            fwrite(bytes, 1, utf8_bytes(glyph_acts(cp) || cp == 0xFFFE || cp == 0xFFFF ? GLYPH_BAD : cp, bytes), out);
    }
}

static void attribute(const char *name, const char *value, FILE *out)
{
    fprintf(out, " %s=\"", name);
    text(value, out);
    putc('"', out);
}

static void test_case(const struct gaterow *r, FILE *out)
{
    bool failed = strcmp(r->verdict, "fail") == 0, passed = strcmp(r->verdict, "pass") == 0;
    fputs("    <testcase", out);
    attribute("classname", "cpscope.gate", out);
    attribute("name", r->rule, out);
    if (*r->file) {
        attribute("file", r->file, out);
        fprintf(out, " line=\"%lld\"", (long long)r->line);
    }
    if (passed) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n      <%s", failed ? "failure" : "error");
    attribute("type", r->verdict, out);
    attribute("message", r->why, out);
    fputs("/>\n    </testcase>\n", out);
}

static void suite(const struct table *t, FILE *out)
{
    size_t failures = 0, errors = 0;
    for (size_t i = 0; i < t->nrows; i++) {
        struct gaterow r = gaterow_at(t, i);
        failures += strcmp(r.verdict, "fail") == 0;
        errors += strcmp(r.verdict, "undecided") == 0;
    }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    for (int level = 0; level < 2; level++)
        fprintf(out, "%s<%s name=\"cpscope gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"0\">\n", level ? "  " : "",
                level ? "testsuite" : "testsuites", t->nrows, failures, errors);
    for (size_t i = 0; i < t->nrows; i++) {
        struct gaterow r = gaterow_at(t, i);
        test_case(&r, out);
    }
    fputs("  </testsuite>\n</testsuites>\n", out);
}

static bool render(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e)
{
    (void)o, (void)e;
    for (size_t i = 0; i < n; i++)
        suite(tables[i], out);
    return true;
}

const struct renderer render_junit = {.name = "junit", .what = "JUnit XML (gate, check)", .verdicts = true, .render = render};
