/* optimizer.c - see optimizer.h. */
#include "kernels/model/optimizer.h"
#include "kernels/ops/adamw.h"

#include <math.h>

static float *zeros(struct stream *s, int64_t n)
{
    float *v = dev_alloc(stream_device(s), (size_t)n * sizeof *v);
    dev_set_async(s, v, 0, (size_t)n * sizeof *v);
    return v;
}

void optimizer_open(struct optimizer *o, struct stream *s, const struct optimizer_rates *r, enum dtype t, float *params, int64_t n)
{
    *o = (struct optimizer){.rates = *r, .dtype = t, .params = params, .master = params, .n = n};
    o->m = zeros(s, n);
    o->v = zeros(s, n);
    if (t != DTYPE_FP32) {
        o->master = dev_alloc(stream_device(s), (size_t)n * sizeof *params);
        dev_copy_async(s, o->master, params, (size_t)n * sizeof *params);
        optimizer_publish(o, s);
    }
}

void optimizer_close(struct optimizer *o, struct device *d)
{
    if (o->master != o->params)
        dev_free(d, o->master);
    dev_free(d, o->m);
    dev_free(d, o->v);
}

void optimizer_publish(struct optimizer *o, struct stream *s)
{
    if (o->master == o->params)
        return;
    dev_copy_async(s, o->params, o->master, (size_t)o->n * sizeof *o->params);
    op_round(s, o->dtype, o->params, o->n);
}

void optimizer_update(struct optimizer *o, struct stream *s, const float *grads)
{
    const struct optimizer_rates *r = &o->rates;
    double t = (double)++o->updates;
    op_adamw(s, &(struct adamw_args){.g = grads,
                                     .w = o->master,
                                     .m = o->m,
                                     .v = o->v,
                                     .n = o->n,
                                     .rate = (float)r->rate,
                                     .b1 = (float)r->b1,
                                     .b2 = (float)r->b2,
                                     .eps = (float)r->eps,
                                     .decay = (float)r->decay,
                                     .fix1 = (float)(1 / (1 - pow(r->b1, t))),
                                     .fix2 = (float)(1 / (1 - pow(r->b2, t)))});
    optimizer_publish(o, s);
}
