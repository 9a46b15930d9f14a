/* modules.h - backends that need what not every machine has are shared objects, loaded when they are asked for.
 *
 *   BIN/cpbench  ---dlopen--->  BIN/../lib/cpscope/FILE   exports one descriptor, whose first member is
 *                                                         const char *version: that of the program it was built with
 */
#pragma once
#include "schemas/err.h"

struct module_want {
    const char *who;        /* "communicator mpi": messages begin with it */
    const char *file;       /* "comm_mpi.so" */
    const char *symbol;     /* of the descriptor */
    const char *not_there;  /* the cure when there is no such file */
    const char *not_loaded; /* the cure when it does not load */
    bool global;            /* its libraries look for each other's symbols */
};

/* The descriptor, valid for the life of the process; NULL on failure. Loading it again gives it again. */
const void *module_load(const struct module_want *m, struct err *e);
