/* run_options.h - runs from options, which must not fail. */
#pragma once
#include "tests/unit.h"

#include "kernels/model/run.h"
#include "kernels/options.h"

static inline struct run_config config_of(const struct run_options *o, struct arena *a)
{
    struct run_config c;
    struct err e = {0};
    assert_ok(run_config_of(o, &c, a, &e), &e);
    return c;
}

/* Room for the rows of all steps. */
static inline void run_of(const struct run_options *o, struct run_row *rows)
{
    struct arena a = {0};
    struct err e = {0};
    struct run_config c = config_of(o, &a);
    assert_ok(run_steps(&c, rows, NULL, &e), &e);
    arena_free(&a);
}
