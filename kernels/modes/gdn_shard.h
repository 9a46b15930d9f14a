/* gdn_shard.h - the middle of a GDN layer on a contiguous shard of the tokens, all heads (spec B.3, C.2, C.4).
 *
 *   rank 0 [.......] rank 1 [.......] rank 2 [.......]
 *   conv        W-1 rows ->      W-1 rows ->                 halo
 *   scan           state ->         state ->                 what `links` is about
 *
 * Backward sends the same things the other way. Ranks outside a sequence take part in every collective with zeros. Modes
 * differ in how rows and states cross the cuts; the rest is here.
 */
#pragma once
#include "kernels/modes/gdn_layer.h"

/* A layer's shard; what backward needs of it. */
struct gdn_shard {
    struct gdn_core core;
    float *h_in;   /* state that enters, NULL: none */
    float *sm;     /* own [S | M]; zeros where no state leaves */
    float *states; /* of the scan of [S | M], where they are kept */
    float *all;    /* everybody's [S | M], where the mode gathers them */
};

struct gdn_links {
    bool halo_to_next; /* halo rows go to the next rank alone (all_to_all_v), else to everybody (all_gather) */
    /* After core_prepare: sets k->sm and what else backward needs, and k->h_in. */
    void (*enter)(struct cp_rank *r, struct layer_state *st, struct gdn_shard *k);
    /* Runs gdn_back_scan(), with what comes back from later ranks, and sends on what goes to earlier ones. */
    void (*leave)(struct cp_rank *r, struct gdn_shard *k, struct gdn_back *b);
};

/* proj (rows, in width) -> m (rows, out width) in st->pool, both contiguous; *k lives as long as `st`. */
float *gdn_shard_forward(const struct gdn_links *links, struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj,
                         struct gdn_shard *k);
float *gdn_shard_backward(const struct gdn_links *links, struct cp_rank *r, const struct layer_tensors *grad, struct gdn_shard *k,
                          struct devpool *pool, float *dm);

/* A mode of contiguous shards that is its links: its middle, forward and backward, for its descriptor. */
#define GDN_SHARD_MODE(LINKS)                                                                                                                        \
    static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept,           \
                                 struct err *e)                                                                                                      \
    {                                                                                                                                                \
        (void)e;                                                                                                                                     \
        return gdn_shard_forward(&LINKS, r, w, st, proj, *kept = arena_array(&st->arena, struct gdn_shard, 1));                                      \
    }                                                                                                                                                \
    static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)   \
    {                                                                                                                                                \
        (void)e;                                                                                                                                     \
        return gdn_shard_backward(&LINKS, r, grad, kept, pool, dm);                                                                                  \
    }                                                                                                                                                \
    static const struct gdn_middle middle = {middle_forward, middle_backward};                                                                       \
    GDN_MODE(middle)

/* [S | M] to everybody, folded locally; backward [dSx | M^T] the same way, its result injected into the scan (form 1). */
extern const struct gdn_links gdn_links_all;

/* ---- steps that links are made of ---- */

/* k->sm: [S | M] of the last segment if its sequence goes on after this rank, else zeros. With several segments M is 0 when
 * `reset`. Keeps the states of the scan where the shape wants it and a backward follows. */
void gdn_shard_summarise(struct cp_rank *r, struct layer_state *st, struct gdn_shard *k, bool reset);
/* Backward by differentiating the summary (form 2): adds what `dsm`, the gradient of k->sm, gives to k, v, g and beta. To
 * be called after gdn_back_scan(); nothing on a rank whose last sequence ends with it. */
void gdn_shard_differentiate(struct cp_rank *r, const struct gdn_shard *k, const struct gdn_back *b, const float *dsm);
/* The same from dh_out, the gradient of the state that leaves (NULL: none). */
void gdn_shard_differentiate_state(struct cp_rank *r, const struct gdn_shard *k, const struct gdn_back *b, const float *dh_out);
/* Everybody's maps (size of [S | M] each), `mine` among them. */
float *gdn_shard_gather(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *mine);
/* Fold of `count` maps of `all`, from `first` on in direction `step`, from x0 (NULL: zero); a new state. NULL for none. */
float *gdn_shard_merge(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *all, const float *x0, int first, int count,
                       int step);
int64_t gdn_shard_state(const struct gdn_core *c); /* floats of a state */

/* ---- what it must show ---- */

/* Rows a rank at least conv - 1. ERR_USAGE. */
bool gdn_shard_check(const struct cp_shape *s, struct err *e);
/* Floating point operations of the summaries over a step: forward of [S | M] on ranks that emit a state; backward of dSx on
 * ranks that receive one (form 1), or of the summary's derivative on ranks that emit one (form 2). */
void gdn_shard_expect_flops(struct expect *x, const struct cp_shape *s, int rank, bool form2);
/* The halo's collectives over a step. */
void gdn_shard_expect_halo(struct expect *x, const struct cp_shape *s, int rank, bool to_next);
int64_t gdn_shard_calls(const struct cp_shape *s);     /* forwards and backwards of a step */
int64_t gdn_shard_map_bytes(const struct cp_shape *s); /* of [S | M] */
