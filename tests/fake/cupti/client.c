/* client.c - the program under test: the same lines by the C compiler against the stand-in's own header, and by nvcc with kernels.
 *
 *   client all                 every kind of call once, in order
 *   client threads N           N threads with streams of their own, 100 launches and 20 copies each
 *   client nccl                collectives, fused groups, sends and receives, calls that come late
 *   client groups              groups over several communicators, with several operations each, also in a graph
 *   client calls N             N calls that do nothing, five times; CPU time of a call of the fastest time, ns
 *   client end HOW [PHASE]     HOW: exit _exit abort kill fork return dlclose running; PHASE: first (nothing has been called), init
 *                              (nothing has been recorded), before, during, after the work; ranges (open ones), flush (CUPTI is in one),
 *                              threads (another one works), stopped (the recording has ended)
 */
#ifdef __CUDACC__
#include <cuda_runtime.h>
extern "C" {
#include "tests/fake/cupti/nccl.h"
}
#else
#include "nccl.h"
#include "runtime.h"
#endif
#include "collector/cpscope.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 4096, LAUNCHES = 100, COPIES = 20, THREADS_MAX = 256, LONG_BLOCKS = 60000000 };

#ifdef __CUDACC__
__global__ void scale(float *x)
{
    x[threadIdx.x] *= 2;
}
__global__ void shift(float *x)
{
    x[threadIdx.x] += 1;
}
static void run_scale(int blocks, float *x, cudaStream_t s)
{
    scale<<<blocks, 128, 64, s>>>(x);
}
static void run_shift(int blocks, float *x, cudaStream_t s)
{
    shift<<<blocks, 32, 0, s>>>(x);
}
static void register_kernels(void)
{
}
#else
static const char scale_id, shift_id;
static void run_scale(int blocks, float *x, cudaStream_t s)
{
    void *args[] = {&x};
    cudaLaunchKernel(&scale_id, (dim3){(unsigned)blocks, 1, 1}, (dim3){128, 1, 1}, args, 64, s);
}
static void run_shift(int blocks, float *x, cudaStream_t s)
{
    void *args[] = {&x};
    cudaLaunchKernel(&shift_id, (dim3){(unsigned)blocks, 1, 1}, (dim3){32, 1, 1}, args, 0, s);
}
static void register_kernels(void)
{
    static char image;
    void **handle = __cudaRegisterFatBinary(&image);
    __cudaRegisterFunction(handle, &scale_id, NULL, "_Z5scalePf", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &shift_id, NULL, "_Z5shiftPf", -1, NULL, NULL, NULL, NULL, NULL);
}
#endif

static float *device_memory(void)
{
    void *p = NULL;
    if (cudaMalloc(&p, BYTES) != cudaSuccess) {
        puts("no device");
        exit(3);
    }
    return (float *)p;
}

static void graph(float *x, cudaStream_t s)
{
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cpscope_range_push("captured layer");
    run_scale(3, x, s);
    run_shift(5, x, s);
    cpscope_range_pop();
    run_scale(2, x, s);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&exec, g, 0);
    for (int i = 0; i < 2; i++)
        cudaGraphLaunch(exec, s);
}

static int all(void)
{
    float host[BYTES / sizeof(float)] = {1}, *x = device_memory(), *y = device_memory();
    void *pinned;
    cudaStream_t a, b;
    cudaEvent_t e;
    int device;
    cudaHostAlloc(&pinned, BYTES, 0);
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&e);
    cudaGetDevice(&device);
    cpscope_range_push("work");
    cudaMemcpy(x, host, BYTES, cudaMemcpyHostToDevice);
    run_scale(4, x, a);
    cudaMemsetAsync(y, 0, BYTES, b);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b, e, 0);
    run_shift(200, y, b);
    cudaMemcpyAsync(y, x, BYTES, cudaMemcpyDeviceToDevice, b);
    cudaMemcpyAsync(pinned, x, BYTES, cudaMemcpyDeviceToHost, a);
    cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a);
    cudaMemcpyPeerAsync(y, 1, x, 0, 1024, b);
    cudaEventQuery(e);
    cudaEventSynchronize(e);
    cudaStreamSynchronize(a);
    cudaMemset(x, 0, 128);
    graph(x, a);
    cudaDeviceSynchronize();
    cpscope_range_pop();
    printf("all %g %d\n", host[0], device);
    cudaEventDestroy(e);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaFree(x);
    cudaFree(y);
    cudaFreeHost(pinned);
    return 7;
}

static void *one_thread(void *arg)
{
    float host[16] = {0}, *x = device_memory();
    cudaStream_t s;
    (void)arg;
    cudaStreamCreate(&s);
    for (int i = 0; i < LAUNCHES; i++) {
        run_scale(1, x, s);
        if (i % (LAUNCHES / COPIES) == 0)
            cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, s);
    }
    cudaStreamSynchronize(s);
    cudaFree(x);
    return NULL;
}

static int threads(int n)
{
    pthread_t t[THREADS_MAX];
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, one_thread, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    printf("threads %d\n", n);
    return 0;
}

/* Collectives in a graph: told of when they are captured, run at each launch. */
static void nccl_graph(ncclComm_t c, cudaStream_t s)
{
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    ncclAllGather(2000, ncclBfloat16, c, s);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&exec, g, 0);
    for (int i = 0; i < 2; i++)
        cudaGraphLaunch(exec, s);
}

static int nccl(void)
{
    ncclComm_t dp, cp;
    cudaStream_t s;
    float *x = device_memory();
    cudaStreamCreate(&s);
    ncclCommInit(&dp, 4, 1, "dp");
    ncclCommInit(&cp, 2, 0, NULL);
    for (int i = 0; i < 3; i++)
        ncclAllGather(1000, ncclBfloat16, dp, s);
    ncclReduceScatter(500, ncclFloat32, dp, s);
    run_scale(1, x, s);
    ncclGroupStart(); /* a ring exchange: one kernel */
    ncclSend(100, ncclFloat32, 1, cp, s);
    ncclRecv(100, ncclFloat32, 1, cp, s);
    ncclGroupEnd();
    ncclGroupStart(); /* two communicators: two kernels */
    ncclAllReduce(10, ncclFloat32, dp, s);
    ncclAllReduce(20, ncclFloat32, cp, s);
    ncclGroupEnd();
    ncclSend(64, ncclFloat32, 1, cp, s);
    ncclRecv(32, ncclFloat32, 1, cp, s);
    nccl_graph(dp, s);
    cudaStreamSynchronize(s);
    ncclLateCalls(dp);
    ncclCommDestroy(cp);
    puts("nccl");
    return 0;
}

static void group_of_two(ncclComm_t first, ncclComm_t second, cudaStream_t s)
{
    ncclGroupStart();
    ncclAllReduce(10, ncclFloat32, first, s);
    ncclAllReduce(20, ncclFloat32, second, s);
    ncclGroupEnd();
}

static void group_of_many(ncclComm_t dp, ncclComm_t cp, cudaStream_t s)
{
    ncclGroupStart();
    ncclSend(64, ncclFloat32, 1, cp, s);
    ncclAllGather(1000, ncclBfloat16, dp, s);
    ncclRecv(64, ncclFloat32, 1, cp, s);
    ncclReduceScatter(500, ncclFloat32, dp, s);
    ncclAllReduce(0, ncclFloat32, dp, s);
    ncclGroupEnd();
    ncclGroupStart();
    for (int i = 0; i < 3; i++)
        ncclAllReduce(30, ncclFloat32, dp, s);
    ncclGroupEnd();
}

static int groups(void)
{
    ncclComm_t dp, cp;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    float *x = device_memory();
    cudaStreamCreate(&s);
    ncclCommInit(&dp, 4, 1, "dp");
    ncclCommInit(&cp, 2, 0, NULL);
    run_scale(1, x, s);
    group_of_two(dp, cp, s);
    group_of_two(cp, dp, s);
    group_of_many(dp, cp, s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    run_scale(1, x, s);
    group_of_two(cp, dp, s);
    ncclReduceScatter(2, ncclFloat32, dp, s);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&exec, g, 0);
    for (int i = 0; i < 2; i++)
        cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    puts("groups");
    return 0;
}

static int calls(long n)
{
    double least = 1e9;
    for (int turn = 0; turn < 5; turn++) {
        struct timespec a, b;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        for (long i = 0; i < n; i++)
            cudaDeviceSetLimit((enum cudaLimit)0, 0);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)n;
        least = ns < least ? ns : least;
    }
    printf("%.1f\n", least);
    return 0;
}

/* ---- ends ---- */

static void in_child(void)
{
    int device;
    cpscope_range_push("in the child");
    cudaGetDevice(&device);
    cpscope_range_pop();
    exit(0);
}

static void end_now(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(5);
    if (strcmp(how, "_exit") == 0)
        _exit(5);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "dlclose") == 0)
        dlclose(dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD));
    if (strcmp(how, "fork") == 0) {
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            in_child();
        waitpid(child, &status, 0);
        printf("the child's status %d\n", status);
    }
}

/* Until CUPTI is in a flush: FAKE_FAULT slow_flush makes it last. */
static void wait_for_flush(void)
{
    int (*flushing)(void);
    *(void **)&flushing = dlsym(RTLD_DEFAULT, "fake_flushing");
    for (int tries = 0; tries < 3000 && !flushing(); tries++)
        usleep(1000);
}

static volatile int enough;

static void *work_on(void *x)
{
    while (!enough) {
        run_scale(1, (float *)x, NULL);
        usleep(100);
    }
    return NULL;
}

/* In the middle of the work, in the state that the phase names. */
static void end_within(const char *how, const char *phase, float *x)
{
    pthread_t other;
    if (strcmp(phase, "during") == 0)
        end_now(how);
    if (strcmp(phase, "ranges") == 0) {
        cpscope_range_push("open");
        end_now(how);
        cpscope_range_pop();
    }
    if (strcmp(phase, "flush") == 0) {
        wait_for_flush();
        end_now(how);
    }
    if (strcmp(phase, "stopped") == 0) {
        for (int i = 0; i < 10000; i++)
            cpscope_mark("many");
        usleep(400000); /* the writer looks ten times a second */
        end_now(how);
    }
    if (strcmp(phase, "threads") == 0) {
        pthread_create(&other, NULL, work_on, x);
        usleep(20000);
        end_now(how);
        enough = 1;
        pthread_join(other, NULL);
    }
}

static int end(const char *how, const char *phase)
{
    int device;
    if (strcmp(phase, "first") == 0)
        end_now(how);
    if (strcmp(phase, "init") == 0 && cudaGetDevice(&device) == cudaSuccess)
        end_now(how);
    cpscope_mark("begun");
    if (strcmp(phase, "before") == 0)
        end_now(how);
    float *x = device_memory();
    for (int i = 0; i < LAUNCHES; i++) {
        run_scale(1, x, NULL);
        if (i == LAUNCHES / 2)
            end_within(how, phase, x);
    }
    if (strcmp(how, "running") == 0)
        run_shift(LONG_BLOCKS, x, NULL);
    else
        cudaDeviceSynchronize();
    puts("end");
    fflush(stdout);
    if (strcmp(phase, "after") == 0)
        end_now(how);
    return 6;
}

int main(int argc, char **argv)
{
    register_kernels();
    const char *what = argc > 1 ? argv[1] : "all";
    if (strcmp(what, "threads") == 0)
        return threads(argc > 2 ? atoi(argv[2]) : 4);
    if (strcmp(what, "calls") == 0)
        return calls(argc > 2 ? atol(argv[2]) : 1000);
    if (strcmp(what, "nccl") == 0)
        return nccl();
    if (strcmp(what, "groups") == 0)
        return groups();
    if (strcmp(what, "end") == 0)
        return end(argc > 2 ? argv[2] : "return", argc > 3 ? argv[3] : "after");
    return all();
}
