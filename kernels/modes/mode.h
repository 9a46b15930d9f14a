/* mode.h - what a context-parallel mode is: one layer, forward and backward, on one rank, and what it must cost.
 *
 *   x (rows, hidden) in the entry layout --forward--> y (rows, hidden)      rows = tokens / cp on every rank
 *   dx               <-------------------backward---- dy
 *
 * A mode is one file mode_NAME.c that defines `const struct cp_mode mode_NAME`. It knows how a layer is spread over the
 * ranks of a CP group and nothing of models, steps or command lines. With cp 1 it converts and exchanges nothing.
 */
#pragma once
#include "kernels/comm/comm.h"
#include "kernels/layout/cache.h"
#include "kernels/layout/recurrent.h"
#include "kernels/layout/swap.h"
#include "kernels/modes/devpool.h"
#include "kernels/ops/round.h"
#include "schemas/err.h"

enum cp_op { OP_GDN, OP_ATTN, OP_COUNT };

/* When the plan of split attention is made (kv_cache.h): found in a cache, ahead for the micro-batch, or anew in every forward. */
enum metadata_kind { METADATA_CACHED, METADATA_HOISTED, METADATA_PER_LAYER };

/* Everything that is known before a run starts. The packed boundaries are those of one step, a packing a micro-batch. */
struct cp_shape {
    int cp;
    int tp;           /* ranks that share a layer's heads; those below are one rank's. 0 is 1 */
    enum cp_op op;    /* the layers' operator */
    enum dtype dtype; /* what activations and parameters are rounded to where they are stored */
    int64_t tokens;   /* of a micro-batch, over the whole group */
    int64_t hidden;
    int64_t kheads, vheads, dk, dv, conv;  /* OP_GDN */
    int64_t qheads, kvheads, dqk, dv_attn; /* OP_ATTN */
    int64_t rotary;                        /* OP_ATTN: dims of a head that turn with the position (even); 0 none */
    bool attn_gate;                        /* OP_ATTN: the output is gated by a projection of the input */
    int64_t ulysses, window;               /* ranks of a Ulysses group (attn.usp), of a window (attn.double_ring) */
    enum metadata_kind metadata;
    int64_t layers, microbatches;
    bool recompute; /* full: a layer's forward runs again before its backward */
    enum route_kind route;
    bool pack_blocks;       /* routes are applied block by block, whatever their kind; the naive one always is */
    bool boundaries_cached; /* resolved once per micro-batch instead of once per layer */
    bool summary_kept;      /* the scan of [S | M] keeps its states for backward instead of running again */
    const struct packing *packs;
};

static inline int64_t shape_rows(const struct cp_shape *s)
{
    return s->tokens / s->cp;
}

static inline int shape_tp(const struct cp_shape *s)
{
    return s->tp > 1 ? s->tp : 1;
}

/* Rows between layers: the ranks of a TP group hold a share of the CP rank's rows each. */
static inline int64_t shape_own_rows(const struct cp_shape *s)
{
    return shape_rows(s) / shape_tp(s);
}

/* Parameters of a layer, by number; what they are is the operator's business (gdn_core.h). Device memory, row major. */
enum { PARAM_MAX = 8 };
struct layer_tensors {
    float *v[PARAM_MAX];
};

/* One micro-batch as a rank's layers see it. What a mode derives from it once, it may keep in `derived` (in `arena`), with
 * device memory from batch_device(). */
struct kv_cache; /* kv_cache.h */
struct attn_meta;
struct cp_batch {
    struct packed_seqs packed;
    const struct packing *pack; /* the lengths as the data side knows them, padding included; may hold empty slots */
    struct recurrent recurrent; /* of the contiguous cut: host integers that the data side knows */
    int64_t *local_cu;          /* device: recurrent.local_cu */
    const int64_t *positions;   /* device, of the CP rank's rows: place in their sequence; NULL unless shape.rotary */
    struct arena arena;
    void *derived;
    struct devpool pool;
    struct attn_meta *hoisted; /* plan made ahead, a reference; NULL: none */
};

/* One rank while it runs. */
struct cp_rank {
    const struct cp_shape *shape;
    int rank; /* in the CP group */
    struct device *device;
    struct stream *stream; /* the default stream */
    struct comm *comm;     /* the CP group; NULL with cp 1 */
    struct comm *tp;       /* the TP group; NULL with tp 1 */
    struct cp_batch *batch;
    struct kv_cache *kv; /* plans of attention; NULL: every forward makes its own */
    struct stream *side; /* a second stream, opened by the mode that first wants one; goes with the device */
};

/* What forward leaves for backward: device memory, and the mode's own record in `kept` (in `arena`). */
struct layer_state {
    struct devpool pool;
    struct arena arena;
    void *kept;
    void (*drop)(void *kept); /* what else `kept` holds; NULL: nothing */
    bool for_backward;        /* false: no backward follows, nothing needs to be kept */
};

void layer_state_init(struct layer_state *st, struct device *d, bool for_backward);
void layer_state_free(struct layer_state *st); /* enqueued work may still use the memory (dev_free); twice is fine */

struct expect; /* expect.h */

struct cp_mode {
    const char *name;
    enum cp_op op;
    enum layout entry_layout;
    bool converts;    /* layers change layout, so a micro-batch has routes */
    const char *what; /* one line for `cpbench list` */
    /* Can the shape be run? ERR_USAGE names the value and the rule. Called before any rank starts. */
    bool (*check)(const struct cp_shape *s, struct err *e);
    /* Enqueues one layer. `w` parameters, `grad` their gradients, added to (+=); x, y, dx, dy (rows, hidden), y and dx are
     * overwritten. Both are collective. */
    bool (*forward)(struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st, struct err *e);
    bool (*backward)(struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x, const float *dy, float *dx,
                     struct layer_state *st, struct err *e);
    /* At the start of a micro-batch: what the shape wants made ahead. NULL: nothing. */
    bool (*hoist)(struct cp_rank *r, struct err *e);
    /* Adds what one step shows on `rank`: collectives, host reads, flops; from formulas, without running anything. */
    void (*expect)(const struct cp_shape *s, int rank, struct expect *x);
};

extern const struct cp_mode *const modes[]; /* by file name; ends with NULL */

const char *cp_op_name(enum cp_op op); /* "gdn", "attention" */
/* ERR_USAGE with the nearest name when there is no such mode. */
const struct cp_mode *mode_find(const char *name, struct err *e);
const struct cp_mode *mode_find_named(const char *option, const char *name, struct err *e); /* the same, of another option than --mode */

/* Device memory that lives as long as the micro-batch. */
void *batch_device(struct cp_batch *b, struct device *d, size_t bytes);
/* Boundary resolution of one layer's forward: once per layer or once per micro-batch, as the shape says. */
bool mode_resolve(struct cp_rank *r, struct err *e);
/* Rejects (ERR_USAGE) a sequence whose length is not divisible by 2 cp, or, over all packs of the shape, any such. Nothing
 * to check with cp 1. */
bool mode_check_length(int64_t length, int cp, struct err *e);
bool mode_check_zigzag(const struct cp_shape *s, struct err *e);
