/* options.c - rows: an environment variable, what kind of value it holds, where that goes. cpscope record has looked at the
 * values already; one that was set by hand and cannot be read counts as not given. */
#include "collector/options.h"
#include "schemas/env.h"
#include "schemas/event.h"
#include "schemas/opt.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const int64_t DEFAULT_THRESHOLD = 20000;

static struct record_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Bits of the kinds in a list; all where none is known. */
static uint32_t kinds_of(const char *list)
{
    uint32_t mask = 0;
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        for (int k = 0; k < EV_NKINDS; k++)
            if (strlen(ev_kind_name((enum ev_kind)k)) == n && strncmp(p, ev_kind_name((enum ev_kind)k), n) == 0)
                mask |= 1u << k;
        p += n + (p[n] == ',');
    }
    return mask ? mask : UINT32_MAX;
}

static void number(const char *variable, int64_t *to)
{
    const char *s = getenv(variable);
    int64_t v;
    if (s && (opt_int(s, &v) || opt_time(s, &v)) && v >= 0)
        *to = v;
}

static bool is_set(const char *variable)
{
    const char *s = getenv(variable);
    return s && *s && strcmp(s, "0") != 0;
}

static const char *text(const char *variable)
{
    const char *s = getenv(variable);
    return s && *s ? strdup(s) : NULL; /* the program may change its environment */
}

/* "N" or "A:B". */
static void steps(const char *s)
{
    char *end;
    int64_t from = s ? strtoll(s, &end, 10) : -1, to = from;
    if (from >= 0 && *end == ':')
        to = strtoll(end + 1, &end, 10);
    if (from >= 0 && to >= from && !*end) {
        options.step_from = from;
        options.step_to = to;
    }
}

static void read_all(void)
{
    options = (struct record_options){.kinds = kinds_of(getenv(ENV_KINDS)),
                                      .lite = is_set(ENV_LITE),
                                      .yield = is_set(ENV_YIELD),
                                      .python = !is_set(ENV_NO_PYTHON),
                                      .stack_threshold = DEFAULT_THRESHOLD,
                                      .delay = -1,
                                      .duration = -1,
                                      .range = text(ENV_RANGE),
                                      .step_from = -1,
                                      .step_to = -1,
                                      .max_size = -1,
                                      .paused = is_set(ENV_PAUSED),
                                      .control = text(ENV_CONTROL)};
    number(ENV_STACK_THRESHOLD, &options.stack_threshold);
    number(ENV_DELAY, &options.delay);
    number(ENV_DURATION, &options.duration);
    number(ENV_MAX_SIZE, &options.max_size);
    steps(getenv(ENV_STEPS));
}

const struct record_options *record_options(void)
{
    pthread_once(&once, read_all);
    return &options;
}
