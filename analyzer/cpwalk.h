/* cpwalk.h - which layer, micro-batch, phase and part of a context-parallel layer a host row belongs to.
 *
 *   microbatch#3 |--- forward -------------------------------------|      ranges of marker.h, by nesting on the thread
 *                     layer#7 |--- conv_halo --- state_exchange ---|
 */
#pragma once
#include "analyzer/groups.h"
#include "analyzer/trace.h"

enum cp_phase { CP_NO_PHASE, CP_FORWARD, CP_RECOMPUTE, CP_BACKWARD };
enum cp_part { CP_NO_PART, CP_HALO, CP_STATE, CP_SWAP, CP_ROUTE };

struct cp_place {
    int64_t layer, microbatch; /* -1: in none */
    uint32_t instance;         /* 1 + row of the layer's range; 0: none */
    enum cp_phase phase;
    enum cp_part part;
};

/* One file. */
struct cpwalk {
    struct groups places;
    uint32_t *of; /* by host row: 1 + place; only rows that launched device work and marks */
    bool marked;  /* the file has layers or micro-batches */
};

/* launched: launches_find() of the file. Arrays live in `a`. */
void cpwalk_make(const struct trace *t, uint32_t file, const uint32_t *launched, struct cpwalk *w, struct arena *a);
struct cp_place cpwalk_place(const struct cpwalk *w, uint32_t row); /* of a host row */
void cpwalk_free(struct cpwalk *w);

/* N of "layer#N" and the like; -1: not a `word` range, or no number. */
int64_t marked_number(const char *name, const char *word);
