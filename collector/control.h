/* control.h - which events are wanted, where the options ask for less than all: by kind, by time, inside ranges or steps, while
 * it is switched on.
 *
 *   delay | duration |          --range, --steps:   outer [ matching [ ... ] ] -> a window, open to close
 *
 * Ranges are known when they are pushed and events when they end, those of a device later still: an event is wanted when it
 * touches a window. With none of these options an event costs one look at `active`.
 */
#pragma once
#include "collector/options.h"
#include "schemas/slot.h"

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>

enum { WINDOWS = 256, CONTROL_NAMES = 256 };

struct control {
    bool active; /* there is something to look at; set before the first event */
    bool lite;
    bool by_name;        /* windows count */
    int64_t from, until; /* clock_now(); INT64_MIN, INT64_MAX: no limit */
    const char *range;   /* NULL: none; else `expression` is made of it */
    regex_t expression;
    int64_t step_from, step_to;
    _Atomic bool off;          /* switched off at the socket */
    _Atomic bool virtual_time; /* of a simulator: events are taken as of when they are reported */
    pthread_mutex_t lock;      /* of the windows */
    struct control_window {
        int64_t start, end; /* INT64_MAX: open */
    } windows[WINDOWS];     /* the latest, as a ring */
    _Atomic uint64_t nwindows;
    int64_t open;                          /* ranges that are open now and match */
    _Atomic uint64_t names[CONTROL_NAMES]; /* addresses of names that were looked at; bit 0: it matches */
};

/* NULL options: everything is wanted. false: the expression is none, *why says so; then nothing is left out by name. */
bool control_init(struct control *c, const struct record_options *o, int64_t now, const char **why);
void control_free(struct control *c);

/* Is the event wanted? Any thread. Only with c->active. */
bool control_wants(struct control *c, const struct activity *a, const union emit_more *more);

/* A range is opened or closed that started at `start`; `name` is kept text. The same calls for ranges that are not recorded. */
void control_open(struct control *c, const char *name, int64_t start);
void control_close(struct control *c, const char *name, int64_t end);

/* The same by depth, for those who do not know the name at the end: the ranges of one thread. */
void control_push(struct control *c, const char *name, int64_t start);
void control_pop(struct control *c, int64_t end);

/* Is the time over, so that nothing can come any more? What a device hands over late has a little longer. */
bool control_over(const struct control *c, int64_t now);

void control_forked(struct control *c);
