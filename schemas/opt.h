/* opt.h - command line options as rows over argp: parsing and help come from one row.
 *
 *     struct args { const char *trace, *format; int64_t step; };
 *     static const struct opt opts[] = {
 *         {OPT_ARG, "TRACE", offsetof(struct args, trace), "trace file"},
 *         {OPT_TEXT, "format", offsetof(struct args, format), "how to print: text (default), csv", "NAME", 'f'},
 *         {0},
 *     };
 */
#pragma once
#include "schemas/err.h"

#include <stddef.h>
#include <stdint.h>

enum opt_type {
    OPT_END,
    OPT_TEXT,         /* const char * */
    OPT_INT,          /* int64_t */
    OPT_COUNT,        /* int64_t, 0 or more */
    OPT_REAL,         /* double */
    OPT_FLAG,         /* bool, set to true */
    OPT_TIME,         /* int64_t ns; "12.5ms", "3us", "2s"; a bare number other than 0 is refused */
    OPT_LIST,         /* struct opt_list: may be given again */
    OPT_ARG,          /* const char *: the next positional argument, required */
    OPT_ARG_OPTIONAL, /* const char * */
    OPT_ARGS,         /* struct opt_list: all further positional arguments, at least one */
    OPT_REST,         /* struct opt_list: everything from the first positional on, options and all (record -- PROGRAM ...) */
};

struct opt_list {
    const char **v; /* points into argv's strings; the array belongs to the arena given to opt_parse */
    size_t n;
};

struct opt {
    enum opt_type type;
    const char *name;  /* long name without dashes; of a positional: how usage calls it */
    size_t offset;     /* in the struct it fills */
    const char *what;  /* one line for --help */
    const char *value; /* how help calls the value */
    char letter;       /* short form, 0 none */
};

struct opt_group {
    const struct opt *rows; /* ends with {0} */
    void *into;
    const char *title; /* heading in --help; NULL none */
};

struct arena;
void opt_list_add(struct opt_list *l, struct arena *a, const char *s); /* to a list that is {0} or was filled by this alone */

/* Parses argv[1..]; argv[0] is how messages name the command ("cpscope summary"). `groups` ends with {0}. `doc` is the
 * help text: usage purpose before '\v', notes and examples after it. --help, --usage and --version print and end the program
 * with 0 (3 when standard output cannot be written). false: an option or a value is wrong, or an argument is missing (ERR_USAGE). */
bool opt_parse(int argc, char **argv, const struct opt_group *groups, const char *doc, struct arena *a, struct err *e);

/* Sets the option of that long name from text, as the command line would; a flag from yes or no; no
 * OPT_LIST. False: ERR_USAGE, or no such option: *known (may be NULL) tells. The text stays referred to. */
bool opt_set(const struct opt_group *groups, const char *name, const char *value, bool *known, struct err *e);

/* "12.5ms" and the like as integer ns, exactly (no floating point). Units ns us ms s m h. */
bool opt_time(const char *text, int64_t *ns);
/* A whole decimal int64, nothing behind it. */
bool opt_int(const char *text, int64_t *value);
/* "500", "64k", "2M", "1G" as bytes: k, M and G are times 1024; false: not one, or beyond int64. */
bool opt_size(const char *text, int64_t *bytes);
/* "N", or "A:B" with A <= B, of numbers from 0 on. */
bool opt_span(const char *text, int64_t *from, int64_t *to);
