/* trace_build.h - the parts of trace_open(), for trace*.c, lanes.c, select.c and window.c only.
 *
 *   load files -> lists of good rows per rank and lane -> steps -> --range -> windows
 */
#pragma once
#include "analyzer/classes.h"
#include "analyzer/paths.h"
#include "analyzer/trace.h"

#include <regex.h>

struct build {
    struct trace *t;
    struct patterns *patterns;
    regex_t *range, *marker;    /* NULL: not asked for */
    int64_t step_from, step_to; /* of --step; from > to: all */
};

/* p NULL: they are there already. */
bool load_files(struct trace *t, const struct paths *p, struct err *e);
/* Good rows that --rank, --device, --from and --to leave, as t->ranks and t->lanes. */
bool lanes_build(struct build *b, struct err *e);
struct calls;
/* Sets file.run. calls: of all files; NULL: they are among the rows. */
void runs_number(struct trace *t, const struct calls *calls);
void steps_build(struct build *b);
/* When it is not there: of one of many that is noted, and true; else a failure, with the reason. */
bool found(struct trace *t, bool there, enum lack k, struct err *e);
/* Thins the lists out to what --range leaves. */
bool select_range(struct build *b, struct err *e);
/* Sets t->span and all windows. */
bool windows_build(struct build *b, struct err *e);

/* t after zero; open ends (INT64_MIN, INT64_MAX) stay open, overflow saturates. */
int64_t time_since(int64_t zero, int64_t t);

/* Is the row left out of every table? cap: an hour. */
bool row_is_bad(const struct trace_file *f, const struct event *ev);
