/* render_sarif.c - the gate as SARIF 2.1.0: a failing sync site is a code location. A rule that could not be judged is a
 * result of kind "open". */
#include "reports/gaterow.h"
#include "reports/jsonstr.h"
#include "reports/render.h"
#include "schemas/version.h"

#include <ctype.h>
#include <string.h>

/* A path as a relative URI reference. */
static void uri(const char *s, FILE *out)
{
    putc('"', out);
    for (; *s; s++)
        if (isalnum((unsigned char)*s) || strchr("/._~-", *s))
            putc(*s, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*s);
    putc('"', out);
}

/* The number of the row's rule among the distinct ones, in order of appearance. */
static size_t rule_index(const struct table *t, size_t row)
{
    size_t index = 0;
    for (size_t i = 0; i <= row; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(gaterow_at(t, k).rule, gaterow_at(t, i).rule) == 0;
        if (strcmp(gaterow_at(t, i).rule, gaterow_at(t, row).rule) == 0)
            return index;
        index += !seen;
    }
    return index;
}

static void rules(const struct table *t, FILE *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->nrows; i++) {
        if (rule_index(t, i) != n)
            continue;
        fprintf(out, "%s{\"id\": ", n++ ? ", " : "");
        jsonstr_put(gaterow_at(t, i).rule, out);
        fputs(", \"shortDescription\": {\"text\": ", out);
        jsonstr_put(gaterow_at(t, i).rule, out);
        fputs("}}", out);
    }
}

static void result(const struct table *t, size_t row, FILE *out)
{
    struct gaterow r = gaterow_at(t, row);
    bool failed = strcmp(r.verdict, "fail") == 0;
    fputs("      {\"ruleId\": ", out);
    jsonstr_put(r.rule, out);
    fprintf(out, ", \"ruleIndex\": %zu, \"kind\": \"%s\", \"level\": \"%s\", \"message\": {\"text\": ", rule_index(t, row), failed ? "fail" : "open",
            failed ? "error" : "none");
    jsonstr_put(*r.why ? r.why : r.rule, out);
    fputs("}, \"locations\": [", out);
    if (*r.file) {
        fputs("{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", out);
        uri(r.file, out);
        fputs(", \"uriBaseId\": \"SRCROOT\"}", out);
        if (r.line > 0)
            fprintf(out, ", \"region\": {\"startLine\": %lld}", (long long)r.line);
        fputs("}}", out);
    }
    fputs("]}", out);
}

static bool render(const struct table *const *tables, size_t n, const struct render_opts *o, FILE *out, struct err *e)
{
    (void)o, (void)e;
    fputs(
        "{\"$schema\": \"https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json\",\n \"version\": \"2.1.0\", \"runs\": [",
        out);
    for (size_t i = 0; i < n; i++) {
        const struct table *t = tables[i];
        fprintf(out, "%s\n  {\"tool\": {\"driver\": {\"name\": \"cpscope\", \"version\": \"%s\", \"rules\": [", i ? "," : "", CPSCOPE_VERSION);
        rules(t, out);
        fputs("]}},\n   \"results\": [", out);
        size_t results = 0;
        for (size_t r = 0; r < t->nrows; r++)
            if (strcmp(gaterow_at(t, r).verdict, "pass") != 0) {
                fputs(results++ ? ",\n" : "\n", out);
                result(t, r, out);
            }
        fputs("]}", out);
    }
    fputs("\n]}\n", out);
    return true;
}

const struct renderer render_sarif = {.name = "sarif", .what = "SARIF 2.1.0 (gate, check)", .verdicts = true, .render = render};
