/* module.c - device_cuda.so: the table of what it offers (cuda_module.h), devices and kernels. */
#include "kernels/device/cuda/gpu.h"
#include "schemas/version.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cuda_said(const char *what, cudaError_t error)
{
    static _Thread_local char text[256];
    if (error == cudaSuccess)
        return NULL;
    snprintf(text, sizeof text, "%s: %s", what, cudaGetErrorString(error));
    return text;
}

/* ---- devices ---- */

static const char *start(int *devices, const char **what)
{
    static struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceCount(devices);
    if (error == cudaErrorInsufficientDriver)
        return "no driver, or one that is older than this CUDA";
    if (error == cudaErrorNoDevice || (error == cudaSuccess && *devices == 0))
        return "no device";
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, 0);
    *what = properties.name;
    return cuda_said("no device", error);
}

/* Blocks that are given back stay in the pool, and peers may copy out of them. */
static cudaError_t pool_settings(int ordinal)
{
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    int devices = 0;
    cudaError_t error = cudaDeviceGetDefaultMemPool(&pool, ordinal);
    if (error == cudaSuccess)
        error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    if (error == cudaSuccess)
        error = cudaGetDeviceCount(&devices);
    for (int peer = 0; error == cudaSuccess && peer < devices; peer++) {
        int can = 0;
        struct cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, peer}, cudaMemAccessFlagsProtReadWrite};
        if (peer != ordinal && cudaDeviceCanAccessPeer(&can, peer, ordinal) == cudaSuccess && can)
            error = cudaMemPoolSetAccess(pool, &access, 1);
    }
    return error;
}

static const char *open_gpu(int ordinal, struct cuda_gpu **gpu)
{
    struct cuda_gpu *g = calloc(1, sizeof *g);
    if (!g)
        return "out of memory";
    *g = (struct cuda_gpu){.ordinal = ordinal};
    cudaError_t error = cudaSetDevice(ordinal);
    if (error == cudaSuccess)
        error = pool_settings(ordinal);
    const char *wrong = cuda_said("opening", error);
    if (!wrong)
        wrong = clock_open(g);
    if (wrong)
        free(g);
    else
        *gpu = g;
    return wrong;
}

static void close_gpu(struct cuda_gpu *gpu)
{
    clock_close(gpu);
    free(gpu);
}

/* ---- memory ---- */

static void *alloc(struct cuda_gpu *gpu, size_t bytes)
{
    void *p = NULL;
    if (cudaMallocAsync(&p, bytes ? bytes : 1, gpu->first->stream) == cudaSuccess)
        return p;
    cudaGetLastError(); /* said by the caller */
    return NULL;
}

static const char *release(struct cuda_gpu *gpu, void *block)
{
    return cuda_said("freeing", cudaFreeAsync(block, gpu->first->stream));
}

/* ---- kernels ---- */

static const struct cuda_kernel *find(const char *name)
{
    for (const struct cuda_kernel *const *table = cuda_tables; *table; table++)
        for (const struct cuda_kernel *k = *table; k->name; k++)
            if (strcmp(k->name, name) == 0)
                return k;
    return NULL;
}

static const char *blas_of(struct cuda_lane *l)
{
    enum { WORKSPACE = 32 << 20 };
    if (l->call.blas)
        return NULL;
    if (cublasCreate(&l->call.blas) != CUBLAS_STATUS_SUCCESS || cublasSetStream(l->call.blas, l->stream) != CUBLAS_STATUS_SUCCESS)
        return "cuBLAS does not start";
    const char *wrong = cuda_said("memory for cuBLAS", cudaMallocAsync(&l->workspace, WORKSPACE, l->stream));
    if (!wrong && cublasSetWorkspace(l->call.blas, l->workspace, WORKSPACE) != CUBLAS_STATUS_SUCCESS)
        wrong = "cuBLAS does not take its workspace";
    return wrong;
}

static const char *launch(struct cuda_lane *l, const struct cuda_kernel *k, const void *args)
{
    const char *wrong = blas_of(l);
    if (wrong)
        return wrong;
    l->call.error = NULL;
    k->launch(&l->call, args);
    return l->call.error ? l->call.error : cuda_said(k->name, cudaGetLastError());
}

void *cuda_scratch(struct cuda_call *c, size_t bytes)
{
    struct cuda_lane *l = c->lane;
    if (bytes <= l->scratch_bytes)
        return l->scratch;
    cudaError_t error = cudaSuccess;
    if (l->scratch)
        error = cudaFreeAsync(l->scratch, l->stream);
    l->scratch = NULL;
    l->scratch_bytes = 0;
    if (error == cudaSuccess)
        error = cudaMallocAsync(&l->scratch, bytes, l->stream);
    if (error == cudaSuccess)
        l->scratch_bytes = bytes;
    else
        c->error = "out of memory for a kernel's scratch";
    return l->scratch;
}

/* ---- what CUPTI is told: see cuda_module.h ---- */

static struct cupti {
    int (*push)(int kind, uint64_t id);
    int (*pop)(int kind, uint64_t *id);
} cupti;

/* Only the library that a collector has loaded: it is the one that listens. */
static void find_cupti(void)
{
    char name[32];
    snprintf(name, sizeof name, "libcupti.so.%d", CUDART_VERSION / 1000);
    void *so = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!so)
        return;
    *(void **)&cupti.push = dlsym(so, "cuptiActivityPushExternalCorrelationId");
    *(void **)&cupti.pop = dlsym(so, "cuptiActivityPopExternalCorrelationId");
}

static void host_row(int64_t correlation)
{
    enum { CUSTOM2 = 5 }; /* CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t last;
    pthread_once(&once, find_cupti);
    if (!cupti.push || !cupti.pop)
        return;
    if (correlation >= 0)
        cupti.push(CUSTOM2, (uint64_t)correlation);
    else
        cupti.pop(CUSTOM2, &last);
}

__attribute__((visibility("default"))) extern const struct cuda_module cpbench_device_cuda;
const struct cuda_module cpbench_device_cuda = {
    .version = CPSCOPE_VERSION,
    .start = start,
    .open = open_gpu,
    .close = close_gpu,
    .lane_open = lane_open,
    .lane_close = lane_close,
    .native = lane_native,
    .alloc = alloc,
    .release = release,
    .find = find,
    .launch = launch,
    .set = lane_set,
    .copy = lane_copy,
    .upload = lane_upload,
    .download = lane_download,
    .busy = lane_busy,
    .wait = lane_wait,
    .add = lane_add,
    .point_open = point_open,
    .point_close = point_close,
    .record = point_record,
    .await = point_await,
    .reached = point_reached,
    .join = point_join,
    .time = point_time,
    .host_row = host_row,
};
