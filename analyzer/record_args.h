/* record_args.h - the command line of cpscope record, and the environment that it becomes for the library in the program. */
#pragma once
#include "schemas/arena.h"
#include "schemas/opt.h"

struct record_args {
    const char *out, *kinds, *range, *steps, *max_size, *control; /* NULL: not given */
    bool force, lite, no_python, yield, paused, quiet;
    int64_t threshold, delay, duration; /* ns; -1 not given */
    struct opt_list program;
};

/* Parses and checks, also that the file can be written. What is not given and stands in the environment is checked as well. */
bool record_parse(struct record_args *r, int argc, char **argv, struct arena *a, struct err *e);

/* Sets the environment for the program, whose library is `library`; `began` in epoch ns. */
void record_environment(const struct record_args *r, const char *library, int64_t began, struct arena *a);
