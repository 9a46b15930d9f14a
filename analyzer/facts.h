/* facts.h - what must agree before two runs are compared: backend, device, driver, world size, shape.
 *
 * A fact that one side does not state is not held against it (foreign traces say less than ours); the backend is always
 * known to differ or not. What two runs are compared for (mode, route, padding, number of micro-batches) is no fact, but
 * is told: counts are compared by rate.
 */
#pragma once
#include "analyzer/trace.h"

struct fact {
    const char *key, *value;
};

enum { FACTS_MAX = 32 };

struct facts {
    struct fact v[FACTS_MAX];
    size_t n;
};

/* Of all files together; a key on which they differ has its values joined by '|', sorted. Texts live in `a`. */
struct facts facts_of(const struct trace *t, struct arena *a);
void facts_set(struct facts *f, const char *key, const char *value);
const char *facts_get(const struct facts *f, const char *key); /* NULL: not stated */

/* Why the two cannot be compared, or NULL. Text in `a`. */
const char *facts_differ(const struct facts *before, const struct facts *after, struct arena *a);
/* What else the two state differently ("route naive against interval, ..."), or NULL. Text in `a`. */
const char *facts_varied(const struct trace *before, const struct trace *after, struct arena *a);
