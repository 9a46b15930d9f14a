/* recover.h - what a recorded process left in its ring file (ringfile.h) goes into its trace file, each event once. */
#pragma once
#include "schemas/err.h"

#include <stdbool.h>

enum leftover {
    LEFT_NOTHING,   /* there is no ring file, or one that belongs to another recording */
    LEFT_RUNNING,   /* the process still has it */
    LEFT_ELSEWHERE, /* the process ran on another host or in another container: it may still have it */
    LEFT_BEHIND,    /* the process is gone */
};

/* What PATH's process left. */
enum leftover recover_left(const char *path);

/* Puts it into the trace file, which is made when there was no time for it, and removes the ring file. Processes that do this
 * at the same time wait for one another. *done: there was something to do. */
bool recover_merge(const char *path, bool *done, struct err *e);
