/* nest.h - what encloses what on one host thread.
 *
 * Fed with a thread's rows in their order (parents before children), it keeps the rows that are still open:
 *
 *     |-------- frame --------|
 *       |---- range ----|            stack at the call: frame, range
 *            |- call -|
 */
#pragma once
#include "analyzer/trace.h"

struct nest {
    uint32_t *v; /* numbers of rows, outermost first */
    size_t n, cap;
    size_t crowded; /* rows at which ended ones below the top are cleared away */
};

/* Closes what has ended when row `at` starts; the stack then holds its candidates. Call nest_push(at) after looking. */
void nest_move(struct nest *s, const struct event *ev, uint32_t at);
void nest_push(struct nest *s, uint32_t at);
/* The rows of the stack that enclose row `at`, outermost first, into out (room for s->n); rows that only overlap it are
 * left out. How many. */
size_t nest_around(const struct nest *s, const struct event *ev, uint32_t at, uint32_t *out);
void nest_free(struct nest *s);

/* Length of a range's name without what differs from call to call: "#12", " 12" at its end, ", op_id = 12", ", seq = 12". */
size_t range_plain(const char *name);

/* By row number: the id in *paths of the innermost range around each host row, or the row's own path when it is a range;
 * 0: none. A path is domain/outer/inner, nesting within its domain. `plain`: names as by range_plain(). */
uint32_t *range_paths(const struct trace *t, uint32_t file, bool plain, struct intern *paths, struct arena *a);

/* By row number: 1 + the number of the host row that started a device row (same process and correlation); 0: no link. */
uint32_t *launches_find(const struct trace_file *f, struct arena *a);

/* The same, found at the first time that it is asked for and kept with the file: any thread may ask. */
const uint32_t *launches_of(const struct trace_file *f);
struct launches *launches_new(void);
void launches_free(struct launches *l); /* NULL is fine */
