/* optimizer.h - AdamW over a rank's flat parameters, in float whatever the model stores.
 *
 * With a narrow storage type the optimizer keeps the parameters in float (`master`) and gives the model rounded ones; else
 * master is the model's own buffer.
 */
#pragma once
#include "kernels/device/device.h"
#include "kernels/ops/round.h"

struct optimizer_rates {
    double rate, decay, b1, b2, eps;
};

struct optimizer {
    struct optimizer_rates rates;
    enum dtype dtype;
    float *params, *master, *m, *v; /* device, n each; params are the model's */
    int64_t n, updates;             /* updates so far */
};

void optimizer_open(struct optimizer *o, struct stream *s, const struct optimizer_rates *r, enum dtype t, float *params, int64_t n);
void optimizer_close(struct optimizer *o, struct device *d);
/* One update from the gradients, enqueued. */
void optimizer_update(struct optimizer *o, struct stream *s, const float *grads);
/* params <- master, rounded; after master was set from outside. */
void optimizer_publish(struct optimizer *o, struct stream *s);
