/* roster.h - the groups of a world whose ranks are all in this process, and which ranks have opened them.
 *
 *   "cp" 0 1 2 3    opened by 0 . 2 .       rank 0 opens a "cp" of these ranks again: that is the next group,
 *   "cp" 0 1 2 3    opened by 0 . . .       rank 1 gets the first
 *
 * Ranks open groups of one name and part in one order, so each finds those that it shares with the others. There may be
 * thousands of groups; they live as long as the world. Not locked: where ranks are threads, the caller does it.
 */
#pragma once
#include "kernels/comm/backend.h"
#include "schemas/arena.h"

enum { ROSTER_BUCKETS = 1024 };

struct roster_group { /* the first member of what a backend keeps of a group */
    struct roster_group *next;
    const char *name;
    struct comm_part part;
    bool *opened; /* by number in the part */
};

struct roster { /* zeros: empty */
    struct arena memory;
    struct roster_group *buckets[ROSTER_BUCKETS];
};

/* The first group of the handle's name and part which its rank has not opened yet: now it has. Where there is none, a new one of
 * `size` bytes, *made: what is the backend's own in it is zeros, to be filled in, with memory of the roster where it takes some. */
void *roster_join(struct roster *r, const struct comm *c, size_t size, bool *made);
void roster_each(const struct roster *r, void (*visit)(void *group));
void roster_free(struct roster *r);
