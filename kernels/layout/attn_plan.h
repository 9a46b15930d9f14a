/* attn_plan.h - which queries of a rank meet which keys, for every way of splitting causal attention (spec E.2 to E.6).
 *
 *   one sequence, cp 2, rank 0 holds chunks 0 and 3
 *   direct1     gathered K/V stay rank-major | 0 3 | 1 2 |; rows picked by index, each local chunk behind its own prefix:
 *               0 | 0 1 2 3    2 pieces a sequence, one call; direct2: the same rows, a call for the first chunks and one
 *               for the second
 *   reorder2    gathered K/V are brought into time order 0 1 2 3 (index), queries into first chunks | second chunks
 *               (q_index); two calls, each against prefixes of the whole
 *   contiguous  gathered K/V are in time order by themselves; pieces from the start of the sequence to the rank's end
 *   rings       a call per owner of keys; which pieces it has: ring_zigzag all / first half of keys / second half of
 *               queries; ring_contiguous nothing for owners behind me
 *   usp         rows of a Ulysses group brought into the order of its ring shard (index), then ring_zigzag of the shards
 *   whole       every sequence against itself: one rank, or heads of whole sequences (Ulysses)
 *
 * The sum of qlen * klen over a rank's pieces is its work; it is equal on all ranks where the split is balanced.
 */
#pragma once
#include "kernels/layout/zigzag.h"
#include "kernels/ops/attention.h"

enum attn_split {
    SPLIT_WHOLE,
    SPLIT_DIRECT1,
    SPLIT_DIRECT2,
    SPLIT_REORDER2,
    SPLIT_CONTIGUOUS,
    SPLIT_RING_ZIGZAG,
    SPLIT_RING_CONTIGUOUS,
    SPLIT_USP,
    SPLIT_COUNT
};

struct attn_place {
    enum attn_split split;
    int cp, rank;
    int ulysses;  /* SPLIT_USP: ranks of a Ulysses group; divides cp */
    bool counted; /* index and q_index are counted, not written: for a device that stores no bulk tensors */
};

/* One attention call: pieces [first, first + n) of the plan. */
struct attn_call {
    int64_t first, n;
    int64_t pairs, work; /* allowed (query, key) pairs; sum of qlen * klen */
};

struct attn_plan {
    int64_t tokens;   /* T */
    int64_t *index;   /* rows of K/V as exchanged that the calls' key rows are; NULL: they are used as they lie, or `counted` */
    int64_t indices;  /* entries of index */
    int64_t *q_index; /* rows of local q in the order of the calls; NULL: as they lie, or `counted` */
    int64_t q_indices;
    struct attn_piece *pieces;
    int64_t npieces;
    struct attn_call *calls; /* rings: by owner of the keys, a number in the ring */
    int ncalls;
};

/* Does the split need zigzag boundaries (every length divisible by 2 cp)? */
bool attn_split_zigzag(enum attn_split s);

/* Checks boundaries (leading 0, empty slots allowed) and plans. Lives in `a`. ERR_USAGE names field and value. */
bool attn_plan_make(struct arena *a, const int64_t *cu, int64_t entries, const struct attn_place *at, struct attn_plan *out, struct err *e);

/* Over all calls. */
int64_t attn_plan_work(const struct attn_plan *p);
int64_t attn_plan_pairs(const struct attn_plan *p);

/* Boundaries in the form of seeds/003: ends without the leading 0, strictly increasing, every length positive and
 * divisible by 2 cp. Gives the internal form in `a`. */
bool attn_endpoints(struct arena *a, const int64_t *ends, int64_t n, int cp, struct packing *out, struct err *e);
