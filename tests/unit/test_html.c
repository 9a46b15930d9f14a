/* Names on the page are text: whatever they hold, the page has exactly the markup that it has with harmless names. */
#include "unit.h"

#include "reports/asset.h"
#include "reports/glyph.h"
#include "reports/page.h"
#include "reports/plot.h"

static const struct column columns[] = {{"site", UNIT_TEXT, .what = "a \"place\""}, {"count_before", UNIT_COUNT}, {"count_after", UNIT_COUNT}, {0}};

static char *escaped(const char *s, size_t most)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    html_text(s, most, out);
    fclose(out);
    return text;
}

TEST(markup_controls_and_direction_marks_are_spelled_out)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain_name:12", "plain_name:12"},
        {"<b class=\"x\" id='y'>&amp;`", "&#60;b class&#61;&#34;x&#34; id&#61;&#39;y&#39;&#62;&#38;amp;&#96;"},
        {"a\u202eb\u2066", "a&lt;U+202E&gt;b&lt;U+2066&gt;"},
        {"\033[0m\n", "&lt;U+001B&gt;[0m&lt;U+000A&gt;"},
        {"\xff\u65e5", "\uFFFD\u65e5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = escaped(cases[i].in, 0);
        assert_string_equal(got, cases[i].out);
        free(got);
    }
}

TEST(long_names_are_cut_with_the_rest_in_a_tooltip)
{
    char name[HTML_NAME_MOST + 2], *text = NULL;
    size_t size = 0;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    FILE *out = open_memstream(&text, &size);
    html_name(name + 1, out); /* just fits */
    fclose(out);
    assert_string_equal(text, name + 1);
    free(text);
    out = open_memstream(&text, &size);
    html_name(name, out);
    fclose(out);
    assert_non_null(strstr(text, "title=\"xxx"));
    assert_non_null(strstr(text, "x\u2026</span>"));
    free(text);
}

/* A table of one name as a page has it. */
static char *named(const char *name, struct html_table_opts o)
{
    struct table t;
    char *text = NULL;
    size_t size = 0;
    table_init(&t, "syncs", "Syncs", columns);
    table_row(&t)[0] = cell_text(name);
    FILE *out = open_memstream(&text, &size);
    html_table(&t, &o, out);
    fclose(out);
    table_free(&t);
    return text;
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
        n++;
    return n;
}

TEST(places_lead_to_the_source)
{
    static const struct {
        const char *name, *href; /* NULL: no link */
    } cases[] = {
        {"model/layer.py:12 forward", "<a href=\"https://h/r/model/layer.py#L12\">"},
        {"a b/c&d\"e.py:7 f<x>", "<a href=\"https://h/r/a%20b/c%26d%22e.py#L7\">"},
        {"javascript:1 x", "<a href=\"https://h/r/javascript#L1\">"},
        {"x:y.cc:3 operator()", "<a href=\"https://h/r/x%3Ay.cc#L3\">"},
        {"cudaStreamSynchronize", NULL},
        {"a range", NULL},
        {":12 f", NULL},
        {"f.py: f", NULL},
        {"f.py:12", NULL},
        {"f.py:1x f", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *with = named(cases[i].name, (struct html_table_opts){.source = "https://h/r/"}),
             *without = named(cases[i].name, (struct html_table_opts){0});
        if (cases[i].href ? !strstr(with, cases[i].href) || count_of(with, "</a>") != 1 : count_of(with, "<a ") != 0)
            fail_msg("%s: %s", cases[i].name, with);
        assert_int_equal(count_of(without, "<a "), 0);
        free(with);
        free(without);
    }
}

TEST(stacks_open_to_their_frames)
{
    char *text = named("step;outer<a>;in&ner;wait", (struct html_table_opts){.stacks = true}), deep[1000] = "";
    assert_non_null(
        strstr(text, "<summary>in&#38;ner &#8250; wait</summary><ol><li>step</li><li>outer&#60;a&#62;</li><li>in&#38;ner</li><li>wait</li></ol>"));
    free(text);
    text = named("wait", (struct html_table_opts){.stacks = true});
    assert_int_equal(count_of(text, "<details"), 0);
    free(text);
    for (int i = 0; i < 103; i++)
        snprintf(deep + strlen(deep), sizeof deep - strlen(deep), "%sf%d", i ? ";" : "", i);
    text = named(deep, (struct html_table_opts){.stacks = true});
    assert_non_null(strstr(text, "<summary>f101 &#8250; f102</summary><ol><li>3 frames further out</li><li>f3</li>"));
    assert_int_equal(count_of(text, "<li>f"), 100);
    free(text);
}

static char *page_with(const char *name)
{
    struct page p;
    struct table t;
    struct err e = {0};
    char *text = NULL;
    size_t size = 0;
    table_init(&t, "syncs", "Syncs", columns);
    for (int i = 0; i < 2; i++) {
        struct cell *row = table_row(&t);
        row[0] = cell_text(i ? name : "steady"); /* a second row, so that nothing depends on the name's looks */
        row[1] = cell_int(61440);
        row[2] = cell_int(0);
    }
    table_note(&t, "note %s", name);
    page_init(&p, name);
    page_verdict(&p, TONE_BAD, "verdict %s", name);
    page_point(&p, "point %s", name);
    page_section(&p, "syncs", "Section");
    page_section(&p, "more", name);
    page_text(&p, "%s", name);
    page_lines(&p, "word: what is said of it");
    page_table(&p, &t, (struct html_table_opts){.caption = name, .most = 1, .more = name});
    page_table(&p, &t, (struct html_table_opts){0});
    page_plot(&p, "<svg></svg>", name);
    page_fold(&p, name);
    page_unfold(&p);
    FILE *out = open_memstream(&text, &size);
    assert_ok(page_write(&p, out, &e), &e);
    fclose(out);
    page_free(&p);
    table_free(&t);
    return text;
}

/* The tags of a page in order, names only, without what a long name adds on purpose. */
static char *tags_of(const char *html)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (const char *p = html; (p = strchr(p, '<')) != NULL;) {
        const char *end = p + 1;
        while (*end && !strchr(" \t\n<>", *end))
            end++;
        if (strncmp(p, "<wbr", 4) != 0) /* a place to break a line: as many as the name has separators */
            fprintf(out, "%.*s ", (int)(end - p), p);
        p = end;
    }
    fclose(out);
    return text;
}

static const char *hostile(char buf[160])
{
    static const char *const pieces[] = {
        "<script>alert(1)</script>", "</style>", "\"", "'", "&lt;", "\u202e", "-->", "{{body}}", "%s", "\xff", "=", "`", "\n", "javascript:"};
    size_t at = 0;
    for (size_t n = rnd(12); n-- > 0 && at < 130;) {
        const char *p = pieces[rnd(sizeof pieces / sizeof *pieces)];
        if (rnd(2)) {
            memcpy(buf + at, p, strlen(p));
            at += strlen(p);
        } else {
            buf[at++] = (char)(1 + rnd(255));
        }
    }
    buf[at] = 0;
    return buf;
}

TEST(no_name_changes_the_markup)
{
    char *plain = page_with("n"), *want = tags_of(plain);
    PROP(500)
    {
        char name[160];
        char *html = page_with(hostile(name)), *got = tags_of(html);
        assert_string_equal(got, want);
        for (const char *p = html; *p;) {
            uint32_t cp;
            size_t bytes = glyph_next(p, &cp);
            p += bytes;
            if ((cp == GLYPH_BAD && bytes == 1) || (glyph_acts(cp) && cp != '\n'))
                fail_msg("U+%04X is loose on the page", (unsigned)cp);
        }
        free(html);
        free(got);
    }
    free(plain);
    free(want);
}

TEST(a_page_is_complete_and_points_nowhere)
{
    static const char *const musts[] = {"<!DOCTYPE html>",
                                        "<html lang=\"en\">",
                                        "Content-Security-Policy",
                                        "default-src 'none'",
                                        "<main",
                                        "name=\"viewport\"",
                                        "prefers-color-scheme",
                                        "@media print",
                                        "<th scope=\"col\"",
                                        "<th scope=\"row\"",
                                        "61,440",
                                        "--before: #",
                                        "Verdict on sync counts: worse"};
    static const char *const nevers[] = {"http:", "https:", "url(", "@import", "src=", "{{", "fetch(", "XMLHttpRequest", "import("};
    char *html = page_with("n");
    for (size_t i = 0; i < sizeof musts / sizeof *musts; i++)
        if (!strstr(html, musts[i]))
            fail_msg("%s is not on the page", musts[i]);
    for (size_t i = 0; i < sizeof nevers / sizeof *nevers; i++)
        if (strstr(html, nevers[i]))
            fail_msg("%s is on the page", nevers[i]);
    free(html);
}

/* ---- plots ---- */

static const struct plot_site sites[] = {
    {"kernels/layout/route.c:thd_rank_indices", 2417600000, 0, 61440, 0},
    {"EOD\n<script>`touch pwned`\"\\$x@y {/Symbol a}^2", 943500000, 1500000, 2880, 60},
};

TEST(plots_are_repeatable_and_inert)
{
    struct arena a = {0};
    struct err e = {0};
    struct plot p, again;
    assert_ok(plot_syncs(sites, 2, true, "n: 1 step", PLOT_INLINE, &a, &p, &e), &e);
    assert_ok(plot_syncs(sites, 2, true, "n: 1 step", PLOT_INLINE, &a, &again, &e), &e);
    assert_int_equal(p.n, again.n);
    assert_memory_equal(p.data, again.data, p.n);
    assert_true(strncmp(p.data, "<svg", 4) == 0);
    static const char *const musts[] = {"61,440 x, 2,417.600 ms",   "none",         "host time blocked (ms); n: 1 step", "before", "after",
                                        "&lt;script>'touch pwned'", "{/Symbol a}^2"};
    static const char *const nevers[] = {"<script", "<title", "Gnuplot", "GNUPLOT", " id=", "http:", "'black'", "\"black\""};
    for (size_t i = 0; i < sizeof musts / sizeof *musts; i++)
        if (!strstr(p.data, musts[i]))
            fail_msg("%s is not in\n%s", musts[i], p.data);
    for (size_t i = 0; i < sizeof nevers / sizeof *nevers; i++)
        if (strstr(p.data, nevers[i]))
            fail_msg("%s is in\n%s", nevers[i], p.data);
    arena_free(&a);
}

TEST(png_is_a_png_and_nothing_is_undecided)
{
    struct arena a = {0};
    struct err e = {0};
    struct plot p;
    const struct plot_bar bar = {"rank 0", 50, 25, 5, 20};
    assert_ok(plot_breakdown(&bar, 1, "n: 1 step", PLOT_PNG, &a, &p, &e), &e);
    assert_memory_equal(p.data, "\x89PNG", 4);
    assert_false(plot_breakdown(NULL, 0, "", PLOT_SVG, &a, &p, &e));
    assert_int_equal(e.kind, ERR_UNDECIDED);
    arena_free(&a);
}

TEST(without_gnuplot_the_cure_is_said)
{
    struct arena a = {0};
    struct err e = {0};
    struct plot p;
    char path[4096];
    snprintf(path, sizeof path, "%s", getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    bool ok = plot_syncs(sites, 2, true, "n: 1 step", PLOT_SVG, &a, &p, &e);
    setenv("PATH", path, 1);
    assert_false(ok);
    assert_int_equal(e.kind, ERR_FAIL);
    assert_non_null(strstr(e.msg, "make deps"));
    arena_free(&a);
}

/* A quarter compute, a half communication, idle: the edges stand where the shares say. */
TEST(bars_stand_where_their_numbers_say)
{
    struct arena a = {0};
    struct err e = {0};
    struct plot p;
    const struct plot_bar bars[] = {{"a", 25, 50, 0, 25}, {"b", 100, 0, 0, 0}};
    assert_ok(plot_breakdown(bars, 2, "n: 1 step", PLOT_SVG, &a, &p, &e), &e);
    assert_non_null(strstr(p.data, "<text>25.0 %</text>"));
    assert_non_null(strstr(p.data, "<text>50.0 %</text>"));
    assert_non_null(strstr(p.data, "<text>100.0 %</text>"));
    assert_null(strstr(p.data, "<text>0.0 %</text>"));
    assert_non_null(strstr(p.data, "share of the window (%); n: 1 step"));
    arena_free(&a);
}

UNIT_MAIN(UNIT(markup_controls_and_direction_marks_are_spelled_out), UNIT(long_names_are_cut_with_the_rest_in_a_tooltip),
          UNIT(places_lead_to_the_source), UNIT(stacks_open_to_their_frames), UNIT(no_name_changes_the_markup),
          UNIT(a_page_is_complete_and_points_nowhere), UNIT(plots_are_repeatable_and_inert), UNIT(png_is_a_png_and_nothing_is_undecided),
          UNIT(without_gnuplot_the_cure_is_said), UNIT(bars_stand_where_their_numbers_say))
