/* launches.c - kernels of the stand-in: what nvcc's code registers, launches, graphs of launches. */
#include "work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { KERNELS = 64 };

static _Atomic uint32_t graphs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table */
static struct {
    const void *fun;
    const char *name;
} kernels[KERNELS];
static size_t nkernels;

static __thread struct {
    dim3 grid, block;
    size_t shared;
    void *stream;
} pushed;

static const char *name_of(const void *fun)
{
    const char *name = "unregistered";
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < nkernels; i++)
        if (kernels[i].fun == fun)
            name = kernels[i].name;
    pthread_mutex_unlock(&lock);
    return name;
}

static void launch(const char *name, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, uint32_t id)
{
    struct fake_stream *s = fake_stream_of(stream);
    if (s->capture && s->capture->n < NODES) {
        struct node *n = &s->capture->nodes[s->capture->n++];
        *n = (struct node){(uint64_t)s->capture->id << 32 | s->capture->n, name, (int)(grid.x * grid.y * grid.z)};
        fake_node(CUPTI_NODE_CREATED, n, NULL);
    } else
        fake_kernel(s, name, (struct fake_shape){grid, block, shared}, id, 0, 0);
}

API int cudaLaunchKernel(const void *fun, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s)
{
    (void)args;
    BEGIN("cudaLaunchKernel", &fun);
    uint32_t id = fake_inner_call("cuLaunchKernelEx", call.cb.correlation);
    launch(name_of(fun), grid, block, shared, s, id);
    END;
}

API uint32_t fake_driver_launch(const char *kernel, int blocks, void *stream)
{
    struct fake_call c;
    fake_ready();
    fake_enter(&c, CUPTI_DOMAIN_DRIVER, "cuLaunchKernelEx", &stream);
    launch(kernel, (dim3){(unsigned)blocks, 1, 1}, (dim3){512, 1, 1}, 0, stream, c.cb.correlation);
    fake_leave(&c);
    return c.cb.correlation;
}

/* ---- graphs ---- */

bool fake_capturing(void *stream)
{
    return fake_stream_of(stream)->capture != NULL;
}

API int cudaStreamBeginCapture(cudaStream_t s, int mode)
{
    (void)mode;
    s->capture = calloc(1, sizeof *s->capture);
    s->capture->id = atomic_fetch_add(&graphs, 1) + 1;
    return cudaSuccess;
}

API int cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g)
{
    *g = s->capture;
    s->capture = NULL;
    return cudaSuccess;
}

API int cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags)
{
    (void)flags;
    BEGIN("cudaGraphInstantiate", &x);
    *x = calloc(1, sizeof **x);
    **x = *g;
    (*x)->id = atomic_fetch_add(&graphs, 1) + 1;
    for (size_t i = 0; i < g->n; i++) {
        (*x)->nodes[i].id = (uint64_t)(*x)->id << 32 | (i + 1);
        fake_node(CUPTI_NODE_CLONED, &(*x)->nodes[i], &g->nodes[i]);
    }
    END;
}

API int cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
    BEGIN("cudaGraphLaunch", &x);
    uint32_t id = fake_inner_call("cuGraphLaunch", call.cb.correlation);
    for (size_t i = 0; i < x->n; i++)
        fake_kernel(fake_stream_of(s), x->nodes[i].name, (struct fake_shape){{(unsigned)x->nodes[i].blocks, 1, 1}, {128, 1, 1}, 0}, id, x->id,
                    x->nodes[i].id);
    END;
}

/* ---- what nvcc's code calls ---- */

API void **__cudaRegisterFatBinary(void *image)
{
    static void *handle;
    handle = image;
    return &handle;
}

API void __cudaRegisterFatBinaryEnd(void **image)
{
    (void)image;
}

API void __cudaUnregisterFatBinary(void **image)
{
    (void)image;
}

API char __cudaInitModule(void **image)
{
    (void)image;
    return 1;
}

API void __cudaRegisterFunction(void **image, const char *fun, char *device_fun, const char *name, int limit, void *t, void *b, dim3 *bd, dim3 *gd,
                                int *warp)
{
    (void)image, (void)device_fun, (void)limit, (void)t, (void)b, (void)bd, (void)gd, (void)warp;
    pthread_mutex_lock(&lock);
    if (nkernels < KERNELS) {
        kernels[nkernels].fun = fun;
        kernels[nkernels++].name = name;
    }
    pthread_mutex_unlock(&lock);
}

API int __cudaGetKernel(void **handle, const void *fun)
{
    *(const void **)handle = fun;
    return cudaSuccess;
}

API int __cudaLaunchKernel(void *handle, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s)
{
    return cudaLaunchKernel(handle, grid, block, args, shared, s);
}

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    pushed.grid = grid;
    pushed.block = block;
    pushed.shared = shared;
    pushed.stream = stream;
    return 0;
}

API int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    *(void **)stream = pushed.stream;
    return cudaSuccess;
}
