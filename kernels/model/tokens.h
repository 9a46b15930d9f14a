/* tokens.h - what a net reads: token ids of micro-batches, from a file or a seeded generator.
 *
 * A file is 32-bit little-endian ids, read one after another and from the start again. The generator makes text that can be
 * learned: three times in four a token follows from the one before it in its document, else it is drawn.
 */
#pragma once
#include "kernels/model/config.h"

struct tokens {
    const uint32_t *v; /* of the file */
    int64_t n;
};

/* Reads and checks a file: ERR_FAIL when it cannot be read, ERR_USAGE when it is empty, no whole number of ids, or an id is
 * not below vocab. Lives in `a`. */
bool tokens_load(struct tokens *t, const char *path, int64_t vocab, struct arena *a, struct err *e);

/* With t NULL by the generator: ids of tokens 0 .. n-1 of one micro-batch (numbered without padding), and each one's target: the next id in its document,
 * -1 for the last of a document. ends[documents]: where documents end, n the last. */
void tokens_of(const struct tokens *t, const struct run_config *c, int64_t step, int64_t microbatch, const int64_t *ends, int64_t n, int64_t *ids,
               int64_t *targets);
