/* zigzag.h - which rank holds which token, on the host (spec D.1, D.2).
 *
 *   one sequence, cp 2          chunk   0   1   2   3        a chunk is length / (2 cp) tokens
 *   zigzag                      rank    0   1   1   0        rank r: chunk r, then chunk 2cp-1-r, of every sequence
 *   contiguous                  rank    0   0   1   1        the whole packed buffer cut evenly, whatever its sequences
 *
 * Both layouts store a rank's rows in increasing global order.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdint.h>

enum layout { LAYOUT_ZIGZAG, LAYOUT_CONTIGUOUS, LAYOUT_COUNT };

const char *layout_name(enum layout l); /* "zigzag", "contiguous" */
bool layout_from_name(const char *name, enum layout *l, struct err *e);

/* Checked boundaries: compacted (no empty sequence), leading 0. */
struct packing {
    int64_t *cu;       /* sequences + 1 values */
    int64_t sequences; /* none empty */
    int64_t total;     /* T = cu[sequences] */
    int64_t *valid;    /* tokens of each sequence that are no padding; NULL: all of them */
};

/* What needs no boundary value: cp >= 1, 0 <= rank < cp, a known layout, entries >= 1. ERR_USAGE names field and value. */
bool layout_check_place(int64_t entries, int cp, int rank, enum layout l, struct err *e);
/* cu[0] = 0 and non-decreasing; drops empty sequences. *out lives in `a`. */
bool packing_compact(struct arena *a, const int64_t *cu, int64_t entries, struct packing *out, struct err *e);
/* All of D.2 for boundaries cu[0 .. entries-1], both route builders' one source of rejections: the above, cu[0] = 0,
 * non-decreasing, every length divisible by 2 cp. *out lives in `a`. */
bool packing_check(struct arena *a, const int64_t *cu, int64_t entries, int cp, int rank, enum layout l, struct packing *out, struct err *e);

/* A run of tokens that a rank holds: global rows [global, global + length) are its local rows from `local` on. */
struct segment {
    int64_t global, length, local;
};
struct segments {
    struct segment *v;
    int64_t n;
};

/* The rank's runs, ascending: zigzag two a sequence, contiguous one (none when T = 0). Lives in `a`. */
struct segments layout_segments(struct arena *a, const struct packing *p, int cp, int rank, enum layout l);
/* Global row of each of the rank's T / cp local rows. Lives in `a`. */
int64_t *layout_rows(struct arena *a, const struct packing *p, int cp, int rank, enum layout l);
