/* runtime.c - the stand-in's runtime: every call does its work before it returns. STANDIN_DEVICES in the environment: how
 * many devices there are (1); STANDIN_FAIL=N: the N-th allocation fails; STANDIN_GUARD=1: as drawn, else all may touch it.
 *
 *   arena  |block|margin|block|margin| ...   no access but between standin_touch() and standin_leave()
 */
#include "cublas_v2.h"
#include "cuda_runtime.h"

#include <cblas.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { MARGIN = 64, CLASSES = 48, SEGMENT = 1 << 18 };
static const size_t ARENA = (size_t)1 << 36;

struct block {
    struct block *next; /* of its class, when free */
    size_t bytes, at;
};

struct standin_stream {
    int unused;
};

struct standin_event {
    struct timespec when;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *arena;
static size_t used, opened; /* bytes of the arena */
static int touching;
static struct block *spare[CLASSES], **by_place; /* [ARENA / 256]: the block that starts there */

/* ---- who may touch the arena ---- */

static bool guarded(void)
{
    static int known; /* 1 no, 2 yes */
    if (!known)
        known = getenv("STANDIN_GUARD") ? 2 : 1;
    return known == 2;
}

void standin_touch(void)
{
    if (!guarded())
        return;
    pthread_mutex_lock(&lock);
    if (touching++ == 0 && opened && mprotect(arena, opened, PROT_READ | PROT_WRITE) != 0)
        abort();
    pthread_mutex_unlock(&lock);
}

void standin_leave(void)
{
    if (!guarded())
        return;
    pthread_mutex_lock(&lock);
    if (--touching == 0 && opened && mprotect(arena, opened, PROT_NONE) != 0)
        abort();
    pthread_mutex_unlock(&lock);
}

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        abort();
    return p;
}

/* ---- memory ---- */

static int class_of(size_t bytes)
{
    int class = 8;
    while (((size_t)1 << class) < bytes + MARGIN)
        class ++;
    return class;
}

/* Called under the lock. */
static struct block *fresh(int class)
{
    struct block *x = calloc(1, sizeof *x);
    if (!arena) {
        arena = reserve(ARENA);
        by_place = mmap(NULL, ARENA / 256 * sizeof *by_place, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (!x || by_place == MAP_FAILED || used + ((size_t)1 << class) > ARENA)
        abort();
    x->at = used;
    used += (size_t)1 << class;
    while (opened < used) {
        if ((touching || !guarded()) && mprotect(arena + opened, SEGMENT, PROT_READ | PROT_WRITE) != 0)
            abort();
        opened += SEGMENT;
    }
    return x;
}

static bool should_fail(void)
{
    static int calls;
    const char *which = getenv("STANDIN_FAIL");
    return which && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == atoi(which);
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    if (should_fail())
        return cudaErrorMemoryAllocation;
    int class = class_of(bytes);
    pthread_mutex_lock(&lock);
    struct block *x = spare[class];
    if (x)
        spare[class] = x->next;
    else
        x = fresh(class);
    x->bytes = bytes;
    by_place[x->at / 256] = x;
    pthread_mutex_unlock(&lock);
    *p = arena + x->at;
    standin_touch();
    memset(*p, 0xff, bytes + MARGIN);
    standin_leave();
    return cudaSuccess;
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    (void)stream;
    size_t at = (size_t)((unsigned char *)p - arena);
    struct block *x = at < ARENA && at % 256 == 0 ? by_place[at / 256] : NULL;
    if (!x || x->at != at) {
        fprintf(stderr, "cuda stand-in: memory is freed that was not given out, or twice\n");
        abort();
    }
    standin_touch();
    for (int i = 0; i < MARGIN; i++)
        if (arena[x->at + x->bytes + (size_t)i] != 0xff) {
            fprintf(stderr, "cuda stand-in: something wrote behind the end of a block of %zu bytes\n", x->bytes);
            abort();
        }
    memset(p, 0xff, x->bytes);
    standin_leave();
    pthread_mutex_lock(&lock);
    by_place[x->at / 256] = NULL;
    int class = class_of(x->bytes);
    x->next = spare[class];
    spare[class] = x;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    *p = malloc(bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind, (void)stream;
    standin_touch();
    memmove(dst, src, bytes);
    standin_leave();
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    standin_touch();
    memset(dst, value, bytes);
    standin_leave();
    return cudaSuccess;
}

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    const char *devices = getenv("STANDIN_DEVICES");
    *count = devices ? atoi(devices) : 1;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    (void)device;
    *p = (struct cudaDeviceProp){.name = "stand-in on the CPU, not a GPU", .multiProcessorCount = 1};
    return cudaSuccess;
}

static __thread int current;

cudaError_t cudaSetDevice(int device)
{
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    (void)device;
    *pool = NULL;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    (void)pool, (void)attribute, (void)value;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access, size_t n)
{
    (void)pool, (void)access, (void)n;
    return cudaSuccess;
}

/* ---- streams and events ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    return *stream ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = calloc(1, sizeof **event);
    return *event ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC_RAW, &event->when);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)((double)(to->when.tv_sec - from->when.tv_sec) * 1e3 + (double)(to->when.tv_nsec - from->when.tv_nsec) / 1e6);
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidValue:
        return "invalid argument";
    default:
        return "an error";
    }
}

/* ---- cuBLAS ---- */

struct standin_blas {
    int unused;
};

cublasStatus_t cublasCreate(cublasHandle_t *h)
{
    *h = calloc(1, sizeof **h);
    return *h ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t h)
{
    free(h);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t h, cudaStream_t stream)
{
    (void)h, (void)stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t h, void *workspace, size_t bytes)
{
    (void)h, (void)workspace, (void)bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const float *alpha, const float *a,
                           int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
    (void)h;
    if (m < 0 || n < 0 || k < 0 || ldc < (m > 1 ? m : 1) || lda < (ta == CUBLAS_OP_N ? m : k) || ldb < (tb == CUBLAS_OP_N ? k : n))
        return CUBLAS_STATUS_INVALID_VALUE;
    standin_touch();
    cblas_sgemm(CblasColMajor, ta == CUBLAS_OP_N ? CblasNoTrans : CblasTrans, tb == CUBLAS_OP_N ? CblasNoTrans : CblasTrans, m, n, k, *alpha, a, lda,
                b, ldb, *beta, c, ldc);
    standin_leave();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const float *alpha,
                                         const float *a, int lda, long long stride_a, const float *b, int ldb, long long stride_b, const float *beta,
                                         float *c, int ldc, long long stride_c, int count)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; i++)
        status = cublasSgemm(h, ta, tb, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b, ldb, beta, c + i * stride_c, ldc);
    return status;
}
