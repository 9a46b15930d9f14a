/* options.c - rows: an environment variable, what kind of value it holds, where that goes. cpscope record has looked at the
 * values already; one that was set by hand and cannot be read counts as not given, and that is said. */
#include "collector/options.h"
#include "schemas/env.h"
#include "schemas/event.h"
#include "schemas/opt.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t DEFAULT_THRESHOLD = 20000;

static struct record_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What stands there cannot be read. */
static void wrong(const char *variable, const char *value, const char *why)
{
    size_t n = strlen(options.wrong);
    snprintf(options.wrong + n, sizeof options.wrong - n, "%s%s=%.60s: %s: it counts as not given", n ? "; " : "", variable, value, why);
}

/* The bit of the kind; 0: there is none of that name. */
static uint32_t kind_of(const char *name, size_t n)
{
    for (int k = 0; k < EV_NKINDS; k++)
        if (strlen(ev_kind_name((enum ev_kind)k)) == n && strncmp(name, ev_kind_name((enum ev_kind)k), n) == 0)
            return 1u << k;
    return 0;
}

/* Bits of the kinds in a list; all where none is known. */
static uint32_t kinds_of(const char *list)
{
    uint32_t mask = 0;
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        uint32_t kind = kind_of(p, n);
        if (n && !kind)
            wrong(ENV_KINDS, p, "not a kind of event");
        mask |= kind;
        p += n + (p[n] == ',');
    }
    return mask ? mask : UINT32_MAX;
}

static void number(const char *variable, int64_t *to)
{
    const char *s = getenv(variable);
    int64_t v;
    if (s && *s && (opt_int(s, &v) || opt_time(s, &v)) && v >= 0)
        *to = v;
    else if (s && *s)
        wrong(variable, s, "not a time, as 20us or a number of ns");
}

static void size(const char *variable, int64_t *to)
{
    const char *s = getenv(variable);
    int64_t bytes;
    if (s && *s && !opt_size(s, &bytes))
        wrong(variable, s, "not a number of bytes, as 500M or 2G");
    else if (s && *s && bytes < MAX_SIZE_LEAST)
        wrong(variable, s, MAX_SIZE_WHY);
    else if (s && *s)
        *to = bytes;
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

static void span(const char *variable, int64_t *from, int64_t *to)
{
    const char *s = getenv(variable);
    if (s && *s && !opt_span(s, from, to))
        wrong(variable, s, "not a step number N nor a span A:B");
}

static void read_all(void)
{
    options = (struct record_options){.lite = is_set(ENV_LITE),
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
    options.kinds = kinds_of(getenv(ENV_KINDS));
    number(ENV_STACK_THRESHOLD, &options.stack_threshold);
    number(ENV_DELAY, &options.delay);
    number(ENV_DURATION, &options.duration);
    size(ENV_MAX_SIZE, &options.max_size);
    span(ENV_STEPS, &options.step_from, &options.step_to);
}

const struct record_options *record_options(void)
{
    pthread_once(&once, read_all);
    return &options;
}
