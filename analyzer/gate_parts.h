/* gate_parts.h - what the files of the gate share. */
#pragma once
#include "analyzer/gate.h"

extern const struct column gate_columns[];
enum { GATE_RULE, GATE_VERDICT, GATE_MEASURED, GATE_LIMIT, GATE_WHY, GATE_FILE, GATE_LINE };
extern const char gate_pass[], gate_fail[], gate_undecided[];

struct judge {
    const struct rule *r;
    struct units units;
    const struct gate_opts *o;
    struct rules *rules;
    const struct runset *runs;
    struct table *out;
    struct gate_result *got;
    struct places places[2]; /* of the wait and of the op ledger, once asked for */
    bool have_places[2];
    const char *lost; /* gate_losses() */
    bool unrecorded;  /* a rule speaks of what the trace does not record */
};

bool gate_oversubscribed(const struct runset *runs); /* more threads than cores: times are not for judging */
/* Why the sites of the trace depend on the stack threshold that it was recorded with; NULL: they do not. Text in `a`. */
const char *gate_stack_threshold(const struct trace *t, struct arena *a);

/* A row of the table, counted in *got; `measured` and `limit` may be NULL. The row is valid until the next one. */
struct cell *gate_verdict(struct judge *j, const char *v, const double *measured, const double *limit, const char *why);
/* The limit for a measured value whose baseline value is `base`, as a value of these runs. */
double gate_limit(const struct judge *j, double measured, double base);

void gate_own_texts(struct table *t); /* what cells quote of rules, runs and baseline stays with the table */
void gate_judge_keys(struct judge *j, const struct measured *m, const struct measured *base); /* "per" */
void gate_judge_value(struct judge *j, const struct measured *m, const struct measured *base);
