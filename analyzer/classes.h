/* classes.h - what a kernel is, by its name. The ONE test for communication; nothing else may look at names for it.
 *
 * The test runs once per distinct name. A file of `class RE` lines (--patterns) comes before the built-in rules, so that
 * a custom all-reduce, NVSHMEM or DeepEP can be made comm.
 */
#pragma once
#include "schemas/err.h"

#include <stdbool.h>

enum kclass {
    KCLASS_NONE, /* not looked at */
    KCLASS_GEMM,
    KCLASS_ATTENTION,
    KCLASS_SCAN,
    KCLASS_CONV,
    KCLASS_NORM,
    KCLASS_INDEX,
    KCLASS_CONCAT,
    KCLASS_ELEMENTWISE,
    KCLASS_COPY,
    KCLASS_COMM,
    KCLASS_OTHER,
    KCLASS_N
};
const char *kclass_name(enum kclass c);

struct patterns; /* the rules of one --patterns file */
/* path NULL: none, not a failure; text: what the file holds, NULL: it is read. ERR_USAGE with file:line. */
struct patterns *patterns_open(const char *path, const char *text, struct err *e);
void patterns_close(struct patterns *p);                           /* NULL is fine */
enum kclass kclass_of(const struct patterns *p, const char *name); /* p NULL: built-in rules only; never KCLASS_NONE */
