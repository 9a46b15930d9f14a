/* fuzz_rules.c - any bytes as a rules file: read, or refused with the line and a reason; what was read is the same when read again. */
#include "fuzz.h"
#include "analyzer/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void holds_rule(const struct rule *r)
{
    HOLDS(r->table && r->table_name && r->op && r->op->holds && r->text && *r->text && r->why && r->line > 0);
    HOLDS(r->column >= 0 && r->agg <= AGG_PER && r->add == r->add && r->mul == r->mul);
    for (int i = 0; i <= r->column; i++)
        HOLDS(r->table->columns[i].name);
}

static void holds_again(const struct rule *r)
{
    struct rules again = {0};
    struct err e = {0};
    HOLDS(rules_parse("fuzz", r->text, &again, &e) && again.n == 1);
    const struct rule *x = &again.rule[0];
    HOLDS(x->table == r->table && x->column == r->column && x->agg == r->agg && x->op == r->op && x->baseline == r->baseline && x->add == r->add &&
          x->mul == r->mul && !strcmp(x->text, r->text) && x->where_column == r->where_column);
    rules_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[4096];
    struct rules r = {0};
    struct err e = {0};
    if (size >= sizeof text || memchr(data, '{', size)) /* what the C library makes of (a{99}){99} is its own business */
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    bool ok = rules_parse("fuzz", text, &r, &e);
    HOLDS(ok == (e.kind == ERR_NONE) && (ok ? r.n > 0 : e.kind == ERR_USAGE));
    if (!ok) {
        char *end;
        HOLDS(strncmp(e.msg, "fuzz:", 5) == 0 && strtol(e.msg + 5, &end, 10) > 0 && *end == ':' && !strchr(e.msg, '\n'));
    }
    for (size_t i = 0; ok && i < r.n; i++) {
        holds_rule(&r.rule[i]);
        holds_again(&r.rule[i]);
    }
    rules_free(&r);
    return 0;
}
