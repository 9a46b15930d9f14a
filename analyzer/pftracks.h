/* pftracks.h - slices of one track must nest: those that overlap otherwise go to further levels of it.
 *
 *   level 0  |-- a --------|   |- d -|        b begins inside a and outlasts it; c overlaps both
 *   level 1       |-- b ------------|
 *   level 2         |-- c --------------|
 *
 * The first levels hold stacks; what fits in none of them goes, one at a time, to the level that was free first.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct pflevel {
    uint64_t uuid;
    int64_t *ends; /* of the open slices, outermost first */
    size_t n, cap;
};

struct pftrack {
    uint32_t what, of, stream; /* for whoever describes the track */
    struct pflevel *levels;
    size_t n, cap;
};

struct pfsink {
    void *ctx;
    uint64_t (*describe)(void *ctx, const struct pftrack *t); /* writes the next level's description; its uuid */
    void (*end)(void *ctx, uint64_t uuid, int64_t at);        /* writes the end of the innermost open slice */
};

/* The uuid of the level on which a slice may begin; slices come by start, longest first. Ends what has ended there. */
uint64_t pftrack_place(struct pftrack *t, int64_t start, int64_t end, const struct pfsink *s);
/* The uuid of its first level, for an instant. */
uint64_t pftrack_any(struct pftrack *t, const struct pfsink *s);
/* Ends all that is open and frees. */
void pftrack_finish(struct pftrack *t, const struct pfsink *s);
