/* tensor.h - a layer of any mode with its heads and projections split over the ranks of a TP group, rows over them outside.
 *
 *   x (rows / tp)  --all-gather-->  x (rows)  | own heads: columns of W_in, rows of W_out |  --reduce-scatter-->  y (rows / tp)
 *   dx             <--reduce-scatter--                                                  <--all-gather--           dy
 *
 * A mode's output projection is linear in its heads, so what it gives for some of them is a part of the sum over all: the
 * mode itself runs as it is, on a shape that has a TP rank's heads. Backward gathers x again instead of keeping all of it.
 * The CP group of a mode holds ranks of one TP number. With tp 1 this is the mode and nothing else.
 */
#pragma once
#include "kernels/modes/mode.h"

/* Rows of all ranks of the TP group (in `pool`), or x itself without one. */
const float *tensor_gather(struct cp_rank *r, struct devpool *pool, const float *x);
/* Where a rank puts its part of a sum over the group, for all rows (in `pool`); without a group that is y itself. */
float *tensor_part(struct cp_rank *r, struct devpool *pool, float *y);
/* y: own rows of the sum over the group of what tensor_part() gave, rounded to the storage type. */
void tensor_scatter(struct cp_rank *r, const float *part, float *y);

/* As cp_mode's functions of that name, for x, y, dy, dx of shape_own_rows() rows. Collective over both groups. */
bool tensor_forward(const struct cp_mode *mode, struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st,
                    struct err *e);
bool tensor_backward(const struct cp_mode *mode, struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x,
                     const float *dy, float *dx, struct layer_state *st, struct err *e);

/* Divides the heads of an operator's layers by tp. ERR_USAGE names the option that does not divide. */
bool tensor_split(struct cp_shape *s, enum cp_op op, int64_t tp, struct err *e);
/* A CP rank's rows divide by tp. ERR_USAGE. */
bool tensor_check_rows(const struct cp_shape *s, int64_t tp, struct err *e);

struct expect;
/* The TP group's collectives over a step: rows "comm_tp". */
void tensor_expect(const struct cp_shape *s, struct expect *x);
