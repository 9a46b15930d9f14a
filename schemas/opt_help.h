/* opt_help.h - between opt.c and argp: what the rows are to it. */
#pragma once
#include "schemas/opt.h"

#include <stdbool.h>

struct arena;
struct argp_option;

enum { FIRST_KEY = 0x1000, KEY_VERSION = 0x0fff, KEY_USAGE = 0x0ffe, KEY_HELP = '?' };

static inline bool opt_positional(enum opt_type t)
{
    return t >= OPT_ARG;
}

/* Each option under its letter when it has one, else under FIRST_KEY + its number. */
struct argp_option *opt_argp_rows(const struct opt_group *groups, struct arena *a);
/* The positionals as usage names them. */
const char *opt_args_doc(const struct opt_group *groups, struct arena *a);
/* The help text with long lines that begin with two spaces (names with a text, examples) broken so that they hang; argp breaks the
 * others. */
const char *opt_doc(const char *doc, struct arena *a);
