/* route.h - how the rows of a rank get from one layout to the other: pack, all-to-all-v, scatter (spec D.5).
 *
 *   x [rows][width] --send_index--> | to rank 0 | to rank 1 | ... --all-to-all-v--> | from 0 | from 1 | ... --recv_index--> y
 *
 * Index NULL = identity: no copy is made. Two builders give the same route: the interval one (route_build, here) from
 * one copy of the boundaries, and the naive one (route_naive.h), token by token on the device.
 */
#pragma once
#include "kernels/comm/comm.h"
#include "kernels/layout/boundaries.h"
#include "kernels/layout/zigzag.h"

/* The host half of a route: rows as lists. Lives in the arena it was made in. */
struct route_plan {
    int64_t rows;                     /* local rows, before and after: T / cp */
    int64_t *send_rows, *recv_rows;   /* [rows], NULL = identity; order as in vectors/README.md, routes.json */
    int64_t *send_split, *recv_split; /* [cp]: rows to each destination, rows from each source; the own one included */
};

/* By intersecting the two layouts' runs, O(cp + pieces * log). Rejects as packing_check() does, and a direction that is none. */
bool route_plan(struct arena *a, const int64_t *cu, int64_t entries, int cp, int rank, enum layout source, enum layout target, struct route_plan *out,
                struct err *e);

/* Shared by the cache and by the saved state of layers: counted references, all of one host thread. */
struct route {
    int cp, rank;
    enum layout source, target;
    int64_t rows;
    int64_t *send_split, *recv_split; /* host, rows[cp] */
    int64_t *send_index, *recv_index; /* device, int64[rows]; NULL = identity */
    int64_t *flat;                    /* device: all of the above, indices pointing into it; NULL: not encoded */
    struct device *device;            /* of the indices */
    bool blocks;                      /* applied block by block into cleared buffers: both indices are there */
    int refs;
};

/* The interval route of this rank's device. Cost: one dev_download of the boundaries and, where an index is needed, one
 * dev_upload: wait-ledger rows at `route_build`; no op-ledger row. In ranges thd_route and cp_layout/thd/route/DIRECTION. */
struct route *route_build(const struct boundaries *b, struct stream *s, int cp, int rank, enum layout source, enum layout target, struct err *e);
/* From now on applied block by block, as the naive route is: an identity gets its index, by a kernel. In range thd_route. */
void route_use_blocks(struct route *r, struct stream *s);
/* Makes the route a flat device tensor where it is none yet, and decodes it for one use: three wait-ledger rows of class copy
 * at `route_decode`. In range thd_route. */
void route_use_encoded(struct route *r, struct stream *s);
struct route *route_retain(struct route *r);
void route_release(struct route *r); /* NULL is fine */

/* x [rows][width] in the source layout -> y in the target layout: new device memory (dev_free it). Enqueued, does not
 * wait; collective: every rank of c calls it. Ranges swap, pack, all_to_all, scatter. */
float *route_apply(const struct route *r, struct comm *c, struct stream *s, const float *x, int64_t width);
/* The transpose: dy in the target layout -> dx in the source layout. Reads nothing, derives nothing. */
float *route_apply_transposed(const struct route *r, struct comm *c, struct stream *s, const float *dy, int64_t width);

/* False with ERR_USAGE unless the direction is zigzag to contiguous or back. */
bool route_check_direction(enum layout source, enum layout target, struct err *e);
/* False with ERR_USAGE unless a rank has as many rows in the source as in the target layout and x has them, too. */
bool route_check_rows(int64_t source_rows, int64_t target_rows, int64_t x_rows, struct err *e);
/* A route with room for cp splits, its lists still to be filled; refs 1. For the builders. */
struct route *route_new(struct device *d, int cp, int rank, enum layout source, int64_t rows);

/* "cp_layout/thd/PART/DIRECTION" of static lifetime. */
enum thd_part { THD_ROUTE, THD_SWAP, THD_PACK, THD_ALL_TO_ALL, THD_SCATTER };
const char *thd_range(enum thd_part part, enum layout source);
