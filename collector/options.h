/* options.h - what `cpscope record` was asked for, as the library finds it in the environment (schemas/env.h). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct record_options {
    uint32_t kinds;             /* bit k: events of enum ev_kind k are wanted; all bits: everything */
    bool lite;                  /* host waits, collectives and ranges only: no kernels, copies or launches need be collected */
    bool yield;                 /* leave the vendor's tracing interface to the program's own profiler */
    bool python;                /* Python frames in stacks */
    int64_t stack_threshold;    /* ns: stacks of host waits at least this long; 0 all */
    int64_t delay, duration;    /* ns after the start, from the first to the last event wanted; -1: not given */
    const char *range;          /* only inside ranges whose name matches this expression; NULL: not given */
    int64_t step_from, step_to; /* only inside steps step_from .. step_to, both included; -1: not given */
    int64_t max_size;           /* bytes of the file at which recording stops; -1: not given */
    bool paused;                /* nothing is recorded until it is started at the socket */
    char wrong[400];            /* variables that cannot be read, in words; empty: none */
    const char *control;        /* socket to start and stop at (path); NULL: none */
};

/* Read at the first call, the same for the life of the process; it must be called first while one thread runs. */
const struct record_options *record_options(void);
