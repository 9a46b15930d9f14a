/* test_rules.c - the rule language: what is read, and what is refused in which words. */
#include "tests/unit.h"
#include "analyzer/baseline_file.h"
#include "analyzer/rules.h"
#include "reports/asset.h"
#include "schemas/nearest.h"

#include <unistd.h>

static const struct {
    const char *text;
    const char *refused; /* part of the message; NULL: read */
} cases[] = {
    {"syncs.count per site <= baseline + 0", NULL},
    {"syncs.count sum <= 0 # none", NULL},
    {"syncs.count where site ~ \"swap|route\" sum <= 0", NULL},
    {"op_syncs.count where class ~ \"^item$\" in range ~ \"train_step\" max == 3", NULL},
    {"summary.busy_pct min >= 80 %", NULL},
    {"summary.busy_pct min>=80%", NULL},
    {"summary.span_ns median <= baseline * 1.05", NULL},
    {"summary.span_ns median <= baseline + 3ms * 1.05", NULL},
    {"summary.span_ns max < 2.5 ms", NULL},
    {"comm.bytes sum <= 3 MB", NULL},
    {"rules 1\n\n# only\nsyncs.count sum <= 1", NULL},
    {"allow kernels/.*:resolve # deliberate\nsyncs.count sum <= 1", NULL},
    {"syncs.count where site ~ \"a # not a comment\" sum <= 0 # a comment", NULL},
    {"syncs.count where site ~ \"a\\\"b\" sum <= 0", NULL},
    {"summary.busy_pc min >= 80 %", "t:1: busy_pc: no such column; did you mean busy_pct?"},
    {"nosuch.table max <= 1", "t:1: nosuch: no such table"},
    {"sync.count max <= 1", "did you mean syncs?"},
    {"opsyncs.count max <= 1", "did you mean op_syncs?"},
    {"syncs.count sum <= ", "t:1: (nothing): a number is wanted here"},
    {"syncs.count sum <= banana", "t:1: banana: a number is wanted here"},
    {"syncs.count sum <= -", "(nothing): a number is wanted here"},
    {"syncs.count sum", "one of <= >="},
    {"syncs.count sum => 1", "t:1: =>: one of"},
    {"syncs.count summ <= 1", "did you mean sum?"},
    {"syncs.count per sight <= 1", "did you mean site?"},
    {"syncs.count where", "no such column"},
    {"syncs.count where site \"x\" sum <= 1", "~ is wanted"},
    {"syncs.count where site ~ x sum <= 1", "double quotes"},
    {"syncs.count where site ~ \"x sum <= 1", "not closed"},
    {"syncs.count where site ~ \"(\" sum <= 1", "t:1: pattern \"(\""},
    {"syncs.count in rnge ~ \"x\" sum <= 1", "followed by: range"},
    {"syncs.count sum <= 1 ms", "ms is not a unit of count"},
    {"summary.busy_pct min >= 80 ms", "ms is not a unit of busy_pct"},
    {"syncs.count sum <= 1 2", "t:1: 2: the rule should have ended here"},
    {"syncs sum <= 1", "TABLE.COLUMN is wanted"},
    {"rules 2\nsyncs.count sum <= 1", "reads version 1"},
    {"# nothing\n\n", "no rule in this file"},
    {"", "t:1: no rule"},
    {"\nsyncs.count sum <= 1\nsyncs.cnt sum <= 1", "t:3: cnt"},
    {"allow\nsyncs.count sum <= 1", "allow is followed"},
    {"allow (\nsyncs.count sum <= 1", "t:1: pattern ("},
    {"syncs.count sum <= 1e400", "e400: no such unit"},
    {"syncs.count sum <= 0x10", "x10: no such unit"},
    {"syncs.count sum <= --1", "-: a number is wanted here"},
    {"syncs.count sum <= 1 - 2", "-: the rule should have ended here"},
    {"idle.idle_ns sum <= 3msec", "msec: no such unit"},
    {"whatif.delta_pct max <= -5", NULL},
    {"ranks.offset_ns min >= -5.5ms", NULL},
    {"syncs.count sum <= inf", "inf: a number is wanted here"},
    {"syncs.count sum <= 1.2.3", "1.2.3: a number is wanted here"},
    {"syncs.count sum <= baseline * nan", "nan: a number is wanted here"},
    {"syncs.count sum <= baseline * 2 + 1", "+: the rule should have ended here"},
    {"syncs.count sum <= baseline + 1 * 2 GB", "GB: the rule should have ended here"},
    {"syncs.count.x sum <= 1", "syncs.count: no such table"},
    {".count sum <= 1", "no such table"},
    {"syncs. sum <= 1", "no such column"},
    {"summary.overlap_n sum <= 1 ms", "did you mean overlap_ns?"},
    {"idle.idle_ms per cause <= 1 ms", "did you mean idle_ns?"},
    {"comm.waits_ns sum <= 1 ms", "did you mean wait_ns?"},
    {"steps.duration_ns median <= baseline * 1.05", NULL},
    {"idle.idle_ns per cause <= 20 ms", NULL},
    {"ranges.gpu_ns where path ~ \"^step/forward\" max <= 2 s", NULL},
};

TEST(rules_are_read_or_refused_with_a_reason)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules r = {0};
        struct err e = {0};
        bool ok = rules_parse("t", cases[i].text, &r, &e);
        if (ok != !cases[i].refused || (!ok && (e.kind != ERR_USAGE || !strstr(e.msg, cases[i].refused))))
            fail_msg("%s: %s", cases[i].text, ok ? "read, should be refused" : e.msg);
        rules_free(&r);
    }
}

TEST(a_rule_is_understood_in_all_its_parts)
{
    struct rules r = {0};
    struct err e = {0};
    const char *text = "op_syncs.blocked_ns where site ~ \"sw.p\"  in range ~ \"fwd\" per class < baseline + 1.5 ms * 2 # why so\nallow a.b # x";
    assert_ok(rules_parse("t", text, &r, &e), &e);
    assert_int_equal(r.n, 1);
    const struct rule *p = &r.rule[0];
    assert_string_equal(p->table->name, "syncs");
    assert_string_equal(p->table_name, "op_syncs");
    assert_string_equal(p->table->columns[p->column].name, "blocked_ns");
    assert_string_equal(p->table->columns[p->where_column].name, "site");
    assert_string_equal(p->table->columns[p->key].name, "class");
    assert_string_equal(p->in_range, "fwd");
    assert_string_equal(p->why, "why so");
    assert_true(p->baseline && p->add == 1.5e6 && p->mul == 2 && p->agg == AGG_PER);
    assert_true(p->op->holds(1, 2) && !p->op->holds(2, 2));
    assert_int_equal(regexec(&p->where, "a swap", 0, NULL, 0), 0);
    assert_int_equal(r.nallow, 1);
    struct rules below = {0};
    assert_ok(rules_parse("t", "idle.idle_ns sum >= -1.5ms", &below, &e), &e);
    assert_true(below.rule[0].add == -1.5e6);
    rules_free(&below);
    struct arena a = {0};
    assert_string_equal(rule_subject(p, &a), "op_syncs.blocked_ns where site ~ \"sw.p\" in range ~ \"fwd\" per class");
    arena_free(&a);
    rules_free(&r);
}

/* Whatever the bytes, a rules file is read or refused with one message. */
TEST(any_bytes_are_read_or_refused)
{
    static const char *const words[] = {"syncs.count", "summary.busy_pct",
                                        "where",       "site",
                                        "~",           "\"x\"",
                                        "in",          "range",
                                        "per",         "sum",
                                        "<=",          ">=",
                                        "baseline",    "+",
                                        "*",           "1",
                                        "2.5",         "ms",
                                        "%",           "#",
                                        "\n",          "allow",
                                        "rules",       "\"",
                                        "\\",          "\x80"};
    PROP(3000)
    {
        char text[600] = "";
        for (uint64_t n = rnd(14); n; n--) {
            strcat(text, words[rnd(sizeof words / sizeof *words)]);
            strcat(text, rnd(5) ? " " : "");
        }
        struct rules r = {0};
        struct err e = {0};
        bool ok = rules_parse("t", text, &r, &e);
        assert_int_equal(ok, e.kind == ERR_NONE);
        assert_true(!ok || r.n > 0);
        rules_free(&r);
    }
}

TEST(shipped_rules_judge_counts_only)
{
    struct rules r = {0};
    struct err e = {0};
    assert_ok(rules_parse("default.rules", asset_text("default.rules"), &r, &e), &e);
    assert_int_equal(r.n, 2);
    for (size_t i = 0; i < r.n; i++)
        assert_true(rule_counts(&r.rule[i]) && r.rule[i].baseline);
    rules_free(&r);
}

TEST(nearest_names)
{
    const char *const names[] = {"summary", "syncs", "kernels", NULL};
    assert_string_equal(nearest_name("sumary", names), "summary");
    assert_string_equal(nearest_name("sync", names), "syncs");
    assert_null(nearest_name("zzzzzz", names));
}

/* A baseline reads back as it was written, whatever its keys hold. */
TEST(baseline_round_trip)
{
    static const char *const keys[] = {"a/b.c:f", " lead and trail ", "100%", "line\nbreak", "%41", "tab\t", "utf8 \xc3\xa4", ""};
    PROP(50)
    {
        struct baseline b = {.units = {.n = {(int64_t)rnd(9) + 1, (int64_t)rnd(3), (int64_t)rnd(99)},
                                       .tokens = (int64_t)rnd(2) * 77,
                                       .ranks = (int64_t)rnd(2) * 4,
                                       .whole = rnd(2)}},
                        got = {0};
        struct measured_key v[2][8];
        facts_set(&b.facts, "backend", keys[rnd(7)]);
        for (int i = 0; i < 2; i++) {
            struct baseline_rule r = {.subject = i ? "summary.busy_pct min" : "syncs.count per site", .m = {.v = v[i], .n = rnd(8)}};
            for (size_t k = 0; k < r.m.n; k++)
                v[i][k] = (struct measured_key){keys[rnd(8)], rnd_real() * 1e6, 5, (int64_t)rnd(3)};
            ARRAY_PUSH(b.rule, b.n, b.cap, r);
        }
        FILE *f = fopen("round.baseline", "w");
        baseline_write(&b, f);
        fclose(f);
        struct err e = {0};
        assert_true(baseline_is("round.baseline"));
        assert_ok(baseline_read("round.baseline", &got, &e), &e);
        assert_memory_equal(&got.units, &b.units, sizeof b.units);
        assert_string_equal(facts_get(&got.facts, "backend"), facts_get(&b.facts, "backend"));
        assert_int_equal(got.n, 2);
        for (int i = 0; i < 2; i++) {
            const struct measured *m = baseline_find(&got, b.rule[i].subject);
            assert_int_equal(m->n, b.rule[i].m.n);
            for (size_t k = 0; k < m->n; k++)
                assert_true(m->v[k].value == v[i][k].value && m->v[k].largest == v[i][k].largest && strcmp(m->v[k].key, v[i][k].key) == 0);
        }
        baseline_close(&b);
        baseline_close(&got);
        unlink("round.baseline");
    }
}

UNIT_MAIN(UNIT(rules_are_read_or_refused_with_a_reason), UNIT(a_rule_is_understood_in_all_its_parts), UNIT(any_bytes_are_read_or_refused),
          UNIT(shipped_rules_judge_counts_only), UNIT(nearest_names), UNIT(baseline_round_trip))
