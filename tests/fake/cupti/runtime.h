/* runtime.h - as much of the CUDA runtime's interface as the stand-in has, for programs that are built without a toolkit. */
#pragma once
#include <stddef.h>

typedef struct {
    unsigned x, y, z;
} dim3;
typedef struct fake_stream *cudaStream_t;
typedef struct fake_event *cudaEvent_t;
typedef struct fake_graph *cudaGraph_t;
typedef struct fake_graph *cudaGraphExec_t;
enum { cudaSuccess = 0, cudaErrorInsufficientDriver = 35, cudaErrorNotReady = 600 };
enum { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum { cudaStreamCaptureModeGlobal };

int cudaMalloc(void **p, size_t n);
int cudaFree(void *p);
int cudaHostAlloc(void **p, size_t n, unsigned flags);
int cudaFreeHost(void *p);
int cudaMemcpy(void *to, const void *from, size_t n, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, cudaStream_t s);
int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n, cudaStream_t s);
int cudaMemset(void *p, int value, size_t n);
int cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s);
int cudaStreamCreate(cudaStream_t *s);
int cudaStreamDestroy(cudaStream_t s);
int cudaStreamSynchronize(cudaStream_t s);
int cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
int cudaEventCreate(cudaEvent_t *e);
int cudaEventDestroy(cudaEvent_t e);
int cudaEventRecord(cudaEvent_t e, cudaStream_t s);
int cudaEventSynchronize(cudaEvent_t e);
int cudaEventQuery(cudaEvent_t e);
int cudaDeviceSynchronize(void);
int cudaGetDevice(int *device);
enum cudaLimit { cudaLimitStackSize };
int cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
int cudaLaunchKernel(const void *fun, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s);
int cudaStreamBeginCapture(cudaStream_t s, int mode);
int cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g);
int cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags);
int cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s);
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFunction(void **image, const char *fun, char *device_fun, const char *name, int limit, void *t, void *b, dim3 *bd, dim3 *gd,
                            int *warp);
