/* Renderers: exact text of a small table, and for any bytes: valid JSON, one line a row, nothing that acts. */
#include "unit.h"

#include "reports/render.h"
#include "reports/glyph.h"

#include <yajl/yajl_tree.h>

static const struct column columns[] = {{"rank", UNIT_ID},
                                        {"site", UNIT_TEXT},
                                        {"count", UNIT_COUNT},
                                        {"blocked_ns", UNIT_NS},
                                        {"share_pct", UNIT_PERCENT, .base = "blocked_ns"},
                                        {"backend", UNIT_TEXT},
                                        {0}};

static void add(struct table *t, int64_t rank, const char *site, int64_t count, int64_t ns)
{
    struct cell *row = table_row(t);
    row[0] = cell_int(rank);
    row[1] = cell_text(site);
    row[2] = cell_int(count);
    row[3] = ns < 0 ? (struct cell){0} : cell_int(ns);
    row[4] = ns < 0 ? (struct cell){0} : cell_share(ns, 3361100000);
    row[5] = cell_text("cpu");
}

static void sample(struct table *t)
{
    table_init(t, "syncs", "Host-device syncs", columns);
    add(t, 0, "thd_rank_indices", 61440, 2417600000);
    add(t, 10, "resolve \"q|k\",\033[31mv", 2880, 943500000);
    add(t, 0, "\xe6\x97\xa5\xe6\x9c\xac", 1, -1);
    table_note(t, "window: 1 step");
}

static char *rendered(const char *format, const struct table *t, size_t n, struct render_opts o)
{
    struct err e = {0};
    const struct table *tables[] = {t, t};
    const struct renderer *r = renderer_find(format, true, &e);
    char *text = NULL;
    size_t size = 0;
    if (!r)
        fail_msg("%s", e.msg);
    FILE *out = open_memstream(&text, &size);
    assert_ok(r->render(tables, n, &o, out, &e), &e);
    fclose(out);
    return text;
}

static void expect(const char *format, struct render_opts o, const char *want)
{
    struct table t;
    sample(&t);
    char *got = rendered(format, &t, 1, o);
    assert_string_equal(got, want);
    free(got);
    table_free(&t);
}

TEST(text_is_aligned)
{
    expect("text", (struct render_opts){0},
           "Host-device syncs   (backend cpu)\n"
           "rank  site                   count  blocked (ms)  share (%)\n"
           "   0  thd_rank_indices      61,440     2,417.600       71.9\n"
           "  10  resolve \"q|k\",?[31mv   2,880       943.500       28.1\n"
           "   0  \xe6\x97\xa5\xe6\x9c\xac                       1             -          -\n"
           "  share is % of blocked\n"
           "  \"-\" means: not in this trace\n"
           "  window: 1 step\n");
}

TEST(text_fits_a_narrow_terminal)
{
    expect("text", (struct render_opts){.width = 57},
           "Host-device syncs   (backend cpu)\n"
           "rank  site                 count  blocked (ms)  share (%)\n"
           "   0  thd_rank_indices    61,440     2,417.600       71.9\n"
           "  10  resol\xe2\x80\xa6\"q|k\",?[31mv   2,880       943.500       28.1\n"
           "   0  \xe6\x97\xa5\xe6\x9c\xac                     1             -          -\n"
           "  share is % of blocked\n"
           "  \"-\" means: not in this trace\n"
           "  window: 1 step\n");
}

/* What tells rows apart stands before every block; a line is never longer than the terminal. */
TEST(text_goes_on_below_where_numbers_are_too_wide)
{
    expect("text", (struct render_opts){.width = 40},
           "Host-device syncs   (backend cpu)\n"
           "rank  site               count\n"
           "   0  thd_rank_indices  61,440\n"
           "  10  resol\xe2\x80\xa6|k\",?[31mv   2,880\n"
           "   0  \xe6\x97\xa5\xe6\x9c\xac                   1\n"
           "\n"
           "rank  site              blocked (ms)\n"
           "   0  thd_rank_indices     2,417.600\n"
           "  10  resol\xe2\x80\xa6|k\",?[31mv       943.500\n"
           "   0  \xe6\x97\xa5\xe6\x9c\xac                         -\n"
           "\n"
           "rank  site              share (%)\n"
           "   0  thd_rank_indices       71.9\n"
           "  10  resol\xe2\x80\xa6|k\",?[31mv       28.1\n"
           "   0  \xe6\x97\xa5\xe6\x9c\xac                      -\n"
           "  share is % of blocked\n"
           "  \"-\" means: not in this trace\n"
           "  window: 1 step\n");
}

TEST(markdown_is_inert)
{
    expect("markdown", (struct render_opts){0},
           "**Host-device syncs** (backend cpu)\n\n"
           "| rank | site | count | blocked (ms) | share (%) |\n"
           "| ---: | --- | ---: | ---: | ---: |\n"
           "| 0 | thd_rank_indices | 61,440 | 2,417.600 | 71.9 |\n"
           "| 10 | resolve \"q&#124;k\",?&#91;31mv | 2,880 | 943.500 | 28.1 |\n"
           "| 0 | \xe6\x97\xa5\xe6\x9c\xac | 1 | - | - |\n"
           "\n- share is % of blocked"
           "\n- \"-\" means: not in this trace"
           "\n- window: 1 step\n");
}

TEST(json_is_exact)
{
    expect("json", (struct render_opts){0},
           "{\"table\": \"syncs\", \"rows\": [\n"
           "  {\"rank\": 0, \"site\": \"thd_rank_indices\", \"count\": 61440, \"blocked_ns\": 2417600000, \"share_pct\": 71.9288, \"backend\": "
           "\"cpu\"},\n"
           "  {\"rank\": 10, \"site\": \"resolve \\\"q|k\\\",\\u001b[31mv\", \"count\": 2880, \"blocked_ns\": 943500000, \"share_pct\": 28.0712, "
           "\"backend\": \"cpu\"},\n"
           "  {\"rank\": 0, \"site\": \"\xe6\x97\xa5\xe6\x9c\xac\", \"count\": 1, \"blocked_ns\": null, \"share_pct\": null, \"backend\": \"cpu\"}\n"
           "]}\n");
}

TEST(several_tables_are_an_array)
{
    struct table t;
    table_init(&t, "empty", "Empty", columns);
    char *got = rendered("json", &t, 2, (struct render_opts){0});
    assert_string_equal(got, "[{\"table\": \"empty\", \"rows\": []},\n{\"table\": \"empty\", \"rows\": []}]\n");
    free(got);
    got = rendered("text", &t, 1, (struct render_opts){0});
    assert_string_equal(got, "Empty\nrank  site  count  blocked (us)  share (%)  backend\n");
    free(got);
    table_free(&t);
}

TEST(unknown_format_lists_the_known)
{
    struct err e = {0};
    assert_null(renderer_find("yaml", true, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "--format yaml: no such format; there are csv, github, html, json, junit, markdown, sarif, text");
    e = (struct err){0};
    assert_null(renderer_find("junit", false, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "--format junit: only for the verdicts of gate and check; there are csv, html, json, markdown, text");
}

/* Any bytes but NUL, often ones that mean something to somebody. */
static const char *hostile(char buf[400])
{
    static const char *const pieces[] = {
        "<script>", "</style>",     "\"'", "&amp;", "\xe2\x80\xae", "\xe2\x80\xa8",     "\033[2J", "\n", "\r", "\\u0000", "\xff\xfe",
        "\xc0\xaf", "\xed\xa0\x80", "|",   "`",     "{{title}}",    "\xf0\x9f\x92\xa9", "a",       "--", "\t", ",",       "=",
        "\x7f",     "\xc2\x85"};
    size_t at = 0;
    for (size_t n = rnd(24); n-- > 0 && at < 360;) {
        if (rnd(3)) {
            const char *p = pieces[rnd(sizeof pieces / sizeof *pieces)];
            memcpy(buf + at, p, strlen(p));
            at += strlen(p);
        } else {
            buf[at++] = (char)(1 + rnd(255));
        }
    }
    buf[at] = 0;
    return buf;
}

TEST(json_is_valid_for_any_bytes)
{
    PROP(1000)
    {
        char name[400], why[256];
        struct table t;
        table_init(&t, "t", "t", columns);
        add(&t, 0, hostile(name), 1, 1);
        char *got = rendered("json", &t, 1, (struct render_opts){0});
        yajl_val v = yajl_tree_parse(got, why, sizeof why);
        if (!v)
            fail_msg("%s\n%s", why, got);
        static const char *rows[] = {"rows", NULL};
        yajl_val list = yajl_tree_get(v, rows, yajl_t_array);
        assert_non_null(list);
        assert_int_equal(YAJL_GET_ARRAY(list)->len, 1);
        yajl_tree_free(v);
        free(got);
        table_free(&t);
    }
}

static void assert_harmless(const char *text, const char *allowed)
{
    for (uint32_t cp; *text;) {
        text += glyph_next(text, &cp);
        if (cp == GLYPH_BAD || (glyph_acts(cp) && !(cp < 128 && strchr(allowed, (int)cp))))
            fail_msg("U+%04X is loose in the output", (unsigned)cp);
    }
}

static size_t lines_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += *s == '\n';
    return n;
}

TEST(text_and_markdown_show_any_bytes_on_one_line)
{
    PROP(1000)
    {
        char name[400];
        struct table t;
        table_init(&t, "t", "t", columns);
        add(&t, 0, "plain", 1, 1);
        char *plain = rendered("text", &t, 1, (struct render_opts){0});
        table_at(&t, 0)[1] = cell_text(hostile(name));
        char *got = rendered("text", &t, 1, (struct render_opts){0}), *md = rendered("markdown", &t, 1, (struct render_opts){0});
        assert_harmless(got, "\n");
        assert_harmless(md, "\n");
        assert_int_equal(lines_of(got), lines_of(plain));
        assert_null(strchr(md, '<'));
        free(plain);
        free(got);
        free(md);
        table_free(&t);
    }
}

UNIT_MAIN(UNIT(text_is_aligned), UNIT(text_fits_a_narrow_terminal), UNIT(text_goes_on_below_where_numbers_are_too_wide), UNIT(markdown_is_inert),
          UNIT(json_is_exact), UNIT(several_tables_are_an_array), UNIT(unknown_format_lists_the_known), UNIT(json_is_valid_for_any_bytes),
          UNIT(text_and_markdown_show_any_bytes_on_one_line))
