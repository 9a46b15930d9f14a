/* size_limit.h - --max-size: how much the file can still take.
 *
 *   |tables and facts|events ...|waiting, at its most|free      |kept for the facts of the end|
 *   0                      size of the file                                                    limit
 *
 * What waits is counted by rows at their longest and by the bytes of texts: a batch is written before it could be too long for the
 * room, and then the file says how long it is. Near the limit batches become small; the recording ends when the next would be
 * next to nothing. Source of the lengths: sqlite.org/fileformat2.html, section 2.1.
 */
#pragma once
#include "schemas/tracedata.h"

struct size_limit {
    int64_t most;    /* bytes; -1: no limit, and nothing else here is looked at */
    int64_t room;    /* for what is not in the file yet */
    int64_t keys;    /* bytes of all keys and their texts so far, */
    int64_t written; /* of those that are in the file, */
    size_t texts;    /* and how many texts are counted */
};

struct size_limit size_limit(int64_t most);

/* Is what waits in `d` all that is sure to fit? */
bool size_limit_due(struct size_limit *l, const struct tracedata *d);

/* All of `d` is in the file, which has `size` bytes. */
void size_limit_written(struct size_limit *l, const struct tracedata *d, int64_t size);

bool size_limit_reached(const struct size_limit *l);
