/* vector_judge.h - what a reference-file form makes of a text: of a right one, and of one with any number off by one. */
#pragma once
#include "unit.h"

#include "kernels/vectors/vectors.h"

#include <ctype.h>

static const struct column judge_columns[] = {{"file", UNIT_TEXT},   {"case", UNIT_TEXT},  {"quantity", UNIT_TEXT}, {"max_abs", UNIT_REAL},
                                              {"rel_l2", UNIT_REAL}, {"limit", UNIT_REAL}, {"ok", UNIT_COUNT},      {0}};

struct outcome {
    bool taken; /* the file has the form */
    int rows, bad;
    char why[1024];
};

static inline struct outcome judge(const struct vector_form *form, const char *text)
{
    struct err e = {0};
    struct table t;
    struct outcome out = {0};
    struct jtree *root = jtree_parse(text, "x", &e);
    table_init(&t, "x", "x", judge_columns);
    out.taken = root && form->sniff(root) && form->run(root, "x", &t, &e);
    out.rows = (int)t.nrows;
    for (size_t i = 0; i < t.nrows; i++)
        out.bad += table_at(&t, i)[6].i == 0;
    snprintf(out.why, sizeof out.why, "%s", e.msg);
    table_free(&t);
    jtree_free(root);
    return out;
}

static inline void right(const struct vector_form *form, const char *text, int rows)
{
    struct outcome o = judge(form, text);
    if (!o.taken || o.bad)
        fail_msg("%s: %d rows not ok; %s", form->name, o.bad, o.why);
    assert_int_equal(o.rows, rows);
}

/* Every number of the file, one after the other, off by one: a row that is not ok, or a refusal. */
static inline void every_digit(const struct vector_form *form, const char *text)
{
    char *copy = strdup(text);
    int tried = 0;
    for (char *p = copy; *p; p++) {
        if (!isdigit((unsigned char)*p) || !strchr("[,:", p[-1]))
            continue;
        char was = *p;
        *p = was == '9' ? '8' : (char)(was + 1);
        struct outcome o = judge(form, copy);
        if (o.taken && !o.bad)
            fail_msg("%s: not noticed: %.60s", form->name, p - 20);
        *p = was;
        tried++;
    }
    assert_true(tried > 15);
    free(copy);
}
