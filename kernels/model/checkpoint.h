/* checkpoint.h - a model's parameters and optimizer state in a file that any number of ranks can read.
 *
 *   | magic | floats | updates | step | check | parameters | first moments | second moments |      native little-endian, floats each
 *
 * Floats lie in the order of one rank that has all heads and columns (net_places), so that what four ranks of one mode have
 * saved one rank of another can load, bit for bit. The check is XXH64 of what follows it. Written as FILE.tmp and renamed.
 */
#pragma once
#include "schemas/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { CHECKPOINT_PARAMS, CHECKPOINT_FIRST, CHECKPOINT_SECOND, CHECKPOINT_PARTS };

struct checkpoint {
    int64_t floats, updates, step; /* of one part; of the optimizer; the next step */
    float *v[CHECKPOINT_PARTS];    /* malloc'ed */
};

bool checkpoint_make(struct checkpoint *c, int64_t floats, struct err *e); /* room, not cleared */
void checkpoint_free(struct checkpoint *c);
/* Before hours of training: false when no file can be made there. Leaves none. */
bool checkpoint_writable(const char *path, struct err *e);
bool checkpoint_write(const struct checkpoint *c, const char *path, struct err *e);
/* ERR_FAIL when the file is no checkpoint, cut or changed; ERR_USAGE when it has another number of floats. */
bool checkpoint_read(struct checkpoint *c, const char *path, int64_t floats, struct err *e);
