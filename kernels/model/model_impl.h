/* model_impl.h - a model's insides, shared by its files only: model.c (its life), model_comms.c (its groups), pass.c (one
 * micro-batch), values.c. */
#pragma once
#include "kernels/layout/kv_cache.h"
#include "kernels/model/batch.h"
#include "kernels/model/groups.h"
#include "kernels/model/model.h"
#include "kernels/model/net.h"

/* Points of a micro-batch: its forward phase begins; ends, and loss and backward follow; all has ended. */
enum { MARK_BEGIN, MARK_TURN, MARK_END, MARKS };

enum { SUM_LOSS, SUM_INPUT_GRADS, SUM_PARAM_GRADS, SUMS };

/* The CP group of one size that this rank belongs to. */
struct cp_group {
    struct cp_shape shape;
    struct comm *comm; /* NULL with one rank */
};

/* One micro-batch of the step, as this rank has it. */
struct turn {
    const struct cp_group *group;
    struct place at;
    struct packing pack;    /* the group's */
    const int64_t *tokens;  /* [own rows]: packing_numbers() of the whole micro-batch */
    const int64_t *padding; /* [npadding]: own rows that are none */
    int64_t npadding;
    int64_t *ends; /* where documents end, numbered as tokens; empty ones left out */
    int64_t documents;
};

struct model {
    const struct run_config *config;
    const struct cp_shape *shape; /* of the config */
    struct cp_rank rank;          /* its shape, number and group are those of the micro-batch at hand */
    int number;                   /* of the rank in the run */
    struct kv_cache plans;
    struct cp_group groups[DYNAMIC_MAX];
    int ngroups;
    struct comm *all, *same, *part; /* for sums over: all ranks; those of one TP number; the TP group. NULL with one rank */
    struct stack stack;
    struct net net;
    struct arena stack_arena;
    float *params, *grads; /* flat, device */
    double *sums;          /* device, SUMS */
    /* (microbatches, rows, hidden), device; outputs and input gradients stay until the next step, to be looked at */
    float *inputs, *outputs, *dinputs;
    int64_t *ids, *targets;                     /* (microbatches, rows), device: of a net; else NULL */
    void (*update)(struct model *m, void *ctx); /* enqueued at the end of a step, after the reductions; NULL: nothing */
    void *update_ctx;
    struct dev_event **marks; /* MARKS a micro-batch */
    struct turn *turns;       /* of the step, a micro-batch each */
    int64_t tokens;           /* of the step that count in the loss, on all ranks: no padding; of a net those with a target */
    struct arena arena;       /* of the step */
};

static inline int64_t model_floats(const struct model *m) /* of x of one micro-batch */
{
    return shape_own_rows(m->shape) * m->shape->hidden;
}

bool model_comms_open(struct model *m, struct comm_world *w, struct err *e);
void model_comms_close(struct model *m);
/* Sums of the step over the ranks, in place: parameter gradients, then loss and squares. */
void model_reduce(struct model *m);

/* Before and after the blocks, of a net: the rows of the embedding; loss, logits and their gradients, d that of the blocks'
 * output; the embedding's gradient. */
void head_embed(struct model *m, int64_t b, float *x);
void head_loss(struct model *m, int64_t b, const float *x, float *d);
void head_embed_back(struct model *m, int64_t b, const float *d);

/* Forward, loss and backward of micro-batch b. */
bool model_pass(struct model *m, int64_t b, struct err *e);
