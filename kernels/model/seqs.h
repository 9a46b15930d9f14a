/* seqs.h - which packed sequences a micro-batch holds: given lengths, equal ones, or drawn from a seed.
 *
 * A plan depends on the seed, step and micro-batch only, never on the mode or the rank, so that every mode sees the same
 * boundaries. Drawn lengths are multiples of lcm(16, 2 cp): cp sizes 1, 2, 4 and 8 draw the same ones.
 *
 * With padding the lengths are those of documents, and each is filled up to a multiple of 2 cp (seeds/003); what the
 * micro-batch has left fills up the last one. Drawn documents are up to 15 tokens shorter than without.
 */
#pragma once
#include "kernels/layout/zigzag.h"
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdint.h>

enum seqs_kind { SEQS_LIST, SEQS_EQUAL, SEQS_RANDOM };

struct seqs {
    enum seqs_kind kind;
    int64_t n;              /* sequences a micro-batch; SEQS_RANDOM: over `over` micro-batches in turn, as even as they go */
    int64_t over;           /* 1 but for SEQS_RANDOM */
    const int64_t *lengths; /* SEQS_LIST: n of them */
    int64_t tokens;         /* of a micro-batch, over the whole group; the sum of the lengths */
    int64_t unit;           /* SEQS_RANDOM: lengths are multiples of it */
    int64_t pad;            /* documents are padded to a multiple of it; 0: no padding */
};

/* "L,L,..." or "L" (lengths), "cu:0,L,2L,..." (boundaries; equal neighbours are an empty slot), "equal:N", "random:N",
 * "random:N/M" (N over M micro-batches). ERR_USAGE names the value and the rule. Lives in `a`. */
bool seqs_parse(struct seqs *out, const char *text, int64_t tokens, int cp, bool eod, struct arena *a, struct err *e);
/* The boundaries of one micro-batch; no sequence is empty. */
struct packing seqs_of(const struct seqs *all, uint64_t seed, int64_t step, int64_t microbatch, struct arena *a);
