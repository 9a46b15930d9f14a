/* test_keyvalue.c - files of key = value lines, and options set from them, against what was written down line by line. */
#include "schemas/keyvalue.h"
#include "schemas/opt.h"
#include "unit.h"

#include <unistd.h>

/* What a line says: a section, or a key and its value; line counts from 1. */
struct said {
    char section[16], key[16], value[24];
    int line;
};

struct heard {
    const struct said *want;
    size_t n, at, stop_at; /* stop_at: the call that says no; n: none does */
    int wrong;
};

static bool hear(void *ctx, const struct keyvalue *kv, struct err *e)
{
    struct heard *h = ctx;
    const struct said *w = &h->want[h->at];
    bool same = h->at < h->n && kv->line == w->line && strcmp(kv->section, w->section) == 0 && strcmp(kv->from, "text") == 0 &&
                (*w->key ? kv->key && strcmp(kv->key, w->key) == 0 && strcmp(kv->value, w->value) == 0 : !kv->key && !kv->value);
    h->wrong += !same;
    return h->at++ != h->stop_at || fail(e, ERR_FAIL, "enough");
}

static const char *pick(const char *const *words, size_t n)
{
    return words[rnd(n)];
}

/* Writes a line that says *s, with blanks and a comment as they come. */
static void write_line(FILE *f, const struct said *s)
{
    static const char *const blanks[] = {"", " ", "\t", "  \t "}, *const ends[] = {"", " ", "\t# a = comment", "#", "\r", " # [x]"};
    const char *b = pick(blanks, 4), *c = pick(blanks, 4), *d = pick(blanks, 4);
    if (*s->key)
        fprintf(f, "%s%s%s=%s%s%s\n", b, s->key, c, d, s->value, pick(ends, 6));
    else
        fprintf(f, "%s[%s%s%s]%s\n", b, c, s->section, d, pick(ends, 6));
}

/* Random files: lines that say something between lines that do not. */
static size_t random_text(FILE *f, struct said *said, size_t most)
{
    static const char *const empty[] = {"\n", "  \n", "# key = value\n", "\t#\n", "\r\n"};
    static const char *const values[] = {"", "1", "a b", "x = y", "[z]", "1,2, 3"};
    char section[16] = "";
    int line = 1;
    size_t n = rnd(most);
    for (size_t i = 0; i < n; i++) {
        for (; rnd(3) == 0; line++)
            fputs(pick(empty, 5), f);
        struct said *s = &said[i];
        *s = (struct said){.line = line++};
        if (rnd(4) == 0)
            snprintf(section, sizeof section, "part %d", (int)rnd(9));
        else {
            snprintf(s->key, sizeof s->key, "key-%d", (int)rnd(9));
            snprintf(s->value, sizeof s->value, "%s", pick(values, 6));
        }
        snprintf(s->section, sizeof s->section, "%s", section);
        write_line(f, s);
    }
    return n;
}

TEST(lines_are_heard_as_they_were_written)
{
    enum { MOST = 30 };
    PROP(300)
    {
        struct said said[MOST + 1] = {0};
        struct err e = {0};
        char *text = NULL;
        size_t bytes;
        FILE *f = open_memstream(&text, &bytes);
        struct heard h = {.want = said};
        h.n = h.stop_at = random_text(f, said, MOST);
        fclose(f);
        if (bytes && rnd(4) == 0)
            text[bytes - 1] = '\0'; /* the last line without its end */
        assert_ok(keyvalue_each(text, "text", hear, &h, &e), &e);
        if (h.wrong || h.at != h.n)
            fail_msg("%d of %zu lines wrong, %zu heard:\n%s", h.wrong, h.n, h.at, text);
        if (h.n) { /* a no ends it, with the caller's words */
            h = (struct heard){.want = said, .n = h.n, .stop_at = rnd(h.n)};
            assert_false(keyvalue_each(text, "text", hear, &h, &e));
            assert_int_equal(h.at, h.stop_at + 1);
            assert_string_equal(e.msg, "enough");
        }
        free(text);
    }
}

TEST(a_line_that_is_neither_is_named)
{
    static const char *const wrong[][2] = {
        {"a = 1\nb", "text:2: b: want key = value"}, {"\n\n = 3\n", "text:3: = 3: want key = value"},
        {"[]\n", "text:1: a section wants a name"},  {"a = 1\n[ \t]", "text:2: a section wants a name"},
        {"[a", "text:1: [a: want key = value"},
    };
    static const struct said a[] = {{.key = "a", .value = "1", .line = 1}, {{0}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err e = {0};
        struct heard h = {.want = a, .n = 1, .stop_at = 1};
        assert_false(keyvalue_each(wrong[i][0], "text", hear, &h, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_string_equal(e.msg, wrong[i][1]);
        assert_int_equal(h.wrong, 0);
        assert_int_equal(h.at, wrong[i][0][0] == 'a');
    }
}

/* ---- texts that a program carries, and files ---- */

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

TEST(a_text_is_a_shipped_one_or_a_files)
{
    static const struct keyvalue_text shipped[] = {{"large", "a = 1\n"}, {"small", "a = 2\n"}, {0}};
    struct err e = {0};
    char *text = keyvalue_load("small", shipped, "size", &e);
    assert_string_equal(text, "a = 2\n");
    free(text);
    write_file("small.file", "a = 3", 5);
    text = keyvalue_load("small.file", shipped, "size", &e);
    assert_string_equal(text, "a = 3");
    free(text);
    write_file("small", "a = 4", 5); /* the shipped one is meant */
    text = keyvalue_load("small", shipped, "size", &e);
    assert_string_equal(text, "a = 2\n");
    free(text);
    assert_int_equal(e.kind, ERR_NONE);
    assert_null(keyvalue_load("smal", shipped, "size", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "smal: neither a file nor a shipped size: small, large"); /* the nearest first */
}

TEST(what_is_no_text_file_is_refused)
{
    static const struct keyvalue_text none[] = {{0}};
    enum { MOST = 1 << 20 };
    struct err e = {0}, why = {0};
    char *big = malloc(MOST);
    memset(big, '#', MOST);
    write_file("zero", "a = \0", 5);
    assert_null(keyvalue_load("zero", none, "size", &e));
    assert_string_equal(e.msg, "zero: not a text file");
    write_file("big", big, MOST);
    assert_null(keyvalue_load("big", none, "size", &why));
    assert_string_equal(why.msg, "big: too long for a file of key = value lines");
    write_file("big", big, MOST - 1);
    char *text = keyvalue_load("big", none, "size", &(struct err){0});
    assert_int_equal(strlen(text), MOST - 1);
    free(text);
    free(big);
}

/* ---- options by name ---- */

struct into {
    const char *text;
    int64_t whole, count, time;
    double real;
    bool flag;
    struct opt_list list;
};
#define AT(field) offsetof(struct into, field)
static const struct opt rows[] = {{OPT_TEXT, "text", AT(text)}, {OPT_INT, "whole", AT(whole)}, {OPT_COUNT, "count", AT(count)},
                                  {OPT_REAL, "real", AT(real)}, {OPT_ARG, "ARG", AT(text)},    {0}};
static const struct opt more[] = {{OPT_TIME, "time", AT(time)}, {OPT_FLAG, "flag", AT(flag)}, {OPT_LIST, "list", AT(list)}, {0}};

TEST(an_option_is_set_as_the_command_line_would)
{
    struct into v = {0};
    const struct opt_group groups[] = {{rows, &v, NULL}, {more, &v, NULL}, {0}};
    struct err e = {0};
    bool known = false;
    PROP(200)
    {
        char text[32];
        int64_t n = (int64_t)rnd(1u << 30) * (rnd(2) ? 1 : -1);
        snprintf(text, sizeof text, "%lld", (long long)n);
        assert_ok(opt_set(groups, "whole", text, &known, &e), &e);
        assert_int_equal(v.whole, n);
        assert_int_equal(opt_set(groups, "count", text, NULL, &(struct err){0}), n >= 0);
        assert_ok(opt_set(groups, "real", text, NULL, &e), &e);
        assert_true(v.real == (double)n);
        snprintf(text, sizeof text, "%lldus", (long long)n);
        assert_ok(opt_set(groups, "time", text, &known, &e), &e);
        assert_int_equal(v.time, n * 1000);
        assert_true(known);
    }
    const char *word = "a word";
    assert_ok(opt_set(groups, "text", word, NULL, &e), &e);
    assert_ptr_equal(v.text, word); /* referred to, not copied */
    assert_ok(opt_set(groups, "flag", "yes", NULL, &e), &e);
    assert_true(v.flag);
    assert_ok(opt_set(groups, "flag", "no", NULL, &e), &e);
    assert_false(v.flag);
}

TEST(what_cannot_be_set_is_said)
{
    static const struct {
        const char *name, *value, *message;
        bool known;
    } wrong[] = {
        {"whole", "1.5", "--whole 1.5: not a number", true},
        {"whole", "", "--whole : not a number", true},
        {"count", "-1", "--count -1: not a number of 0 or more", true},
        {"real", "2x", "--real 2x: not a number", true},
        {"time", "5", "--time 5: not a time with a unit (ns us ms s m h), such as 12.5ms", true},
        {"flag", "true", "flag = true: want yes or no", true},
        {"ARG", "x", "ARG: no such option", false}, /* a positional is not set by name */
        {"tex", "x", "tex: no such option", false},
        {"list", "x", "list: only on the command line, where it may be given again", true},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct into v = {0};
        const struct opt_group groups[] = {{rows, &v, NULL}, {more, &v, NULL}, {0}};
        struct err e = {0};
        bool known = !wrong[i].known;
        assert_false(opt_set(groups, wrong[i].name, wrong[i].value, &known, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_string_equal(e.msg, wrong[i].message);
        assert_int_equal(known, wrong[i].known);
    }
}

UNIT_MAIN(UNIT(lines_are_heard_as_they_were_written), UNIT(a_line_that_is_neither_is_named), UNIT(a_text_is_a_shipped_one_or_a_files),
          UNIT(what_is_no_text_file_is_refused), UNIT(an_option_is_set_as_the_command_line_would), UNIT(what_cannot_be_set_is_said))
