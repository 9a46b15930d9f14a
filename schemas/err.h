/* err.h - one error out-parameter for the whole project.
 *
 * A function that can fail returns bool (or a pointer) and takes `struct err *e` last. fail() fills it and is false, so
 * that `return fail(e, ERR_FAIL, "%s: cannot open", path);` reads well. The first failure sticks: calling fail() on a
 * set error changes nothing, so a chain of calls may be looked at once, at its end.
 *
 * A message is one line in lower case: file, what happened, the cure when there is one. It has no newline and no program
 * name; only main() prints it.
 */
#pragma once
#include <stdbool.h>

/* The kinds map one to one on the exit status of every program (cli contract). */
enum err_kind {
    ERR_NONE,
    ERR_NO,        /* 1: a gate or a check says no */
    ERR_USAGE,     /* 2: what the user typed (options, rules, shapes) */
    ERR_FAIL,      /* 3: unreadable, corrupt, I/O, out of memory */
    ERR_UNDECIDED, /* 4: cannot be judged: not comparable, or not in this trace */
};

enum status { STATUS_OK, STATUS_NO, STATUS_USAGE, STATUS_FAIL, STATUS_UNDECIDED };

struct err {
    enum err_kind kind;
    char msg[1024]; /* cut, never overrun; control characters of hostile names are shown as '?' */
};

/* Sets *e unless it is set already; always false. `e` may not be NULL. */
bool fail(struct err *e, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The exit status of *e; STATUS_OK when nothing failed. */
enum status err_status(const struct err *e);
