/* layout_ranks.h - a test's ranks: threads with a cpu device and a communicator each. */
#pragma once
#include "kernels/comm/comm.h"
#include "kernels/layout/swap.h"
#include "layout_oracle.h"

/* What a rank's part of a test gets. */
struct rank_env {
    int cp, rank;
    struct device *device;
    struct stream *stream;
    struct comm *comm;
    void *ctx;
};

struct ranks_test {
    struct comm_world *world;
    int cp;
    bool (*body)(struct rank_env *x, struct err *e);
    void *ctx;
};

/* What a conversion gave, unless that was its argument. */
static inline void swap_free(struct device *d, float *y, const float *x)
{
    if (y != x)
        dev_free(d, y);
}

static bool ranks_test_main(int rank, void *arg, struct err *e)
{
    const struct ranks_test *t = arg;
    struct rank_env x = {.cp = t->cp, .rank = rank, .ctx = t->ctx, .device = device_open("cpu", rank, rank, e)};
    x.comm = x.device ? comm_open(t->world, rank, "cp", e) : NULL;
    x.stream = x.device ? device_stream(x.device) : NULL;
    bool ok = x.comm && t->body(&x, e);
    comm_close(x.comm);
    device_close(x.device);
    return ok;
}

static inline bool on_ranks(int cp, bool (*body)(struct rank_env *x, struct err *e), void *ctx, struct err *e)
{
    struct ranks_test t = {comm_world_open("threads", cp, e), cp, body, ctx};
    bool ok = t.world && ranks_run(cp, ranks_test_main, &t, e);
    comm_world_close(t.world);
    return ok;
}

static inline float *to_device(struct rank_env *x, const float *v, int64_t n)
{
    float *d = dev_alloc(x->device, (size_t)(n + 1) * sizeof *d);
    if (n > 0)
        dev_upload_async(x->stream, d, v, (size_t)n * sizeof *d);
    return d;
}

static inline void to_host(struct rank_env *x, float *v, const float *d, int64_t n)
{
    if (n > 0)
        dev_download(x->stream, v, d, (size_t)n * sizeof *d, SITE_HERE);
}
