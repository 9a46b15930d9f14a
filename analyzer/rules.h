/* rules.h - the rule language of `cpscope gate`, read from text.
 *
 *   file  = [ "rules 1" ] { line }
 *   line  = rule | allow | comment | blank
 *   rule  = TABLE "." COLUMN [ "where" COLUMN "~" STRING ] [ "in" "range" "~" STRING ]
 *           ( "min" | "max" | "sum" | "median" | "per" COLUMN ) ( "<=" | ">=" | "==" | "<" | ">" )
 *           ( NUMBER [ UNIT ] | "baseline" [ "+" NUMBER [ UNIT ] ] [ "*" NUMBER ] )  [ "#" why ]
 *   allow = "allow" PATTERN [ "#" why ]
 *
 * STRING is in double quotes (\" and \\ inside) and holds a POSIX extended regular expression, unanchored. UNIT: ns us ms s
 * for times, % for percentages, B KB MB GB for bytes, none for counts. In rules `syncs` is the wait ledger and `op_syncs`
 * the op ledger of the table syncs. A rule that cannot be read is ERR_USAGE with file:line and the nearest right name.
 */
#pragma once
#include "analyzer/trace.h"
#include "schemas/arena.h"

#include <regex.h>

enum rule_agg { AGG_MIN, AGG_MAX, AGG_SUM, AGG_MEDIAN, AGG_PER };

struct rule_op {
    const char *name;
    bool (*holds)(double measured, double limit);
};

struct rule {
    const char *text; /* as written, without the comment */
    const char *why;  /* the comment, "" none */
    const char *file;
    int line;
    const struct table_desc *table;
    const char *table_name; /* as written: "syncs", "op_syncs", "summary" ... */
    int column;
    int where_column; /* -1: no where */
    regex_t where;
    const char *in_range; /* NULL: everywhere */
    enum rule_agg agg;
    int key; /* AGG_PER: the column of the key */
    const struct rule_op *op;
    bool baseline; /* the limit is baseline * mul + add, else add alone */
    double add, mul;
};

struct allow {
    const char *pattern, *why, *file;
    int line;
    regex_t re;
    bool used; /* matched something; else it is reported as stale */
};

struct rules {
    struct rule *rule;
    size_t n, cap;
    struct allow *allow;
    size_t nallow, allow_cap;
    struct arena arena;
};

/* `name` is how messages call the text ("bad.rules", "default.rules"). */
bool rules_parse(const char *name, const char *text, struct rules *r, struct err *e);
bool rules_read(const char *path, struct rules *r, struct err *e);
void rules_free(struct rules *r);
