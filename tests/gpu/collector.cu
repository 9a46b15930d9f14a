/* collector.cu - the program that the collector is tried on where there is a GPU (tests/gpu_collector.sh). One mode a run:
 *
 *   syncs            every call that waits, each with work under way
 *   copies           {pageable, pinned, managed, device} x {H2D, D2H, D2D, H2H} x {sync, async} x sizes
 *   launches N       N empty launches; prints ns of one, by the wall clock
 *   long MS          a kernel of MS milliseconds, and the end without waiting for it
 *   graph N K        a graph of N kernels, launched K times
 *   threads N        N threads with streams of their own
 *   nccl             one rank: collectives, a group of a send to and a receive from itself
 *   groups           groups over two communicators, either one first, also in a graph
 *   child            forks and runs itself as `launches 10` in the child
 *   taken            another subscriber of CUPTI is there first
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_NCCL
#include <nccl.h>
#endif
#ifdef WITH_CUPTI
#include <cupti.h>
#endif

enum { MOST = 16 << 20, THREADS_MAX = 256, PER_THREAD = 200 };

#define CHECK(call)                                                                                                                                  \
    do {                                                                                                                                             \
        cudaError_t rc_ = (call);                                                                                                                    \
        if (rc_ != cudaSuccess) {                                                                                                                    \
            printf("%s: %s\n", #call, cudaGetErrorString(rc_));                                                                                      \
            exit(3);                                                                                                                                 \
        }                                                                                                                                            \
    } while (0)

__global__ void nothing(void) {}

__global__ void spin(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

__global__ void add_one(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void busy(cudaStream_t s)
{
    spin<<<1, 1, 0, s>>>(2000000); /* about a millisecond */
}

static int syncs(void)
{
    cudaStream_t a, b;
    cudaEvent_t e;
    float *x;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    for (int i = 0; i < 10; i++) {
        busy(a);
        CHECK(cudaEventRecord(e, a));
        CHECK(cudaStreamWaitEvent(b, e, 0));
        cudaEventQuery(e);
        CHECK(cudaEventSynchronize(e));
        busy(a);
        CHECK(cudaStreamSynchronize(a));
        busy(a);
        CHECK(cudaDeviceSynchronize());
        busy(a);
        CHECK(cudaMalloc(&x, 1 << 20));
        CHECK(cudaFree(x));
    }
    puts("syncs");
    return 0;
}

static void *memory(int kind, size_t n)
{
    void *p = NULL;
    if (kind == 0)
        p = malloc(n);
    else if (kind == 1)
        CHECK(cudaMallocHost(&p, n));
    else if (kind == 2)
        CHECK(cudaMallocManaged(&p, n));
    else
        CHECK(cudaMalloc(&p, n));
    if (kind < 2)
        memset(p, 1, n);
    return p;
}

static int copies(void)
{
    static const size_t sizes[] = {4, 65536, 65537, MOST};
    cudaStream_t s;
    void *from[4], *to[4];
    CHECK(cudaStreamCreate(&s));
    for (int k = 0; k < 4; k++)
        from[k] = memory(k, MOST), to[k] = memory(k, MOST);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int n = 0; n < 4; n++) {
                busy(s);
                CHECK(cudaMemcpyAsync(to[j], from[i], sizes[n], cudaMemcpyDefault, s));
                CHECK(cudaStreamSynchronize(s));
                CHECK(cudaMemcpy(to[j], from[i], sizes[n], cudaMemcpyDefault));
            }
    puts("copies");
    return 0;
}

static int launches(long n)
{
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    double start = now_ns();
    for (long i = 0; i < n; i++)
        nothing<<<1, 1>>>();
    double end = now_ns();
    CHECK(cudaDeviceSynchronize());
    printf("%.0f\n", (end - start) / (double)n);
    return 0;
}

static int long_kernel(long ms)
{
    int khz = 1000000;
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    spin<<<1, 1>>>((long long)khz * ms);
    puts("long");
    fflush(stdout);
    _exit(0);
}

static int graph(int n, int k)
{
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t x;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < n; i++)
        nothing<<<1, 1, 0, s>>>();
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < k; i++)
        CHECK(cudaGraphLaunch(x, s));
    CHECK(cudaStreamSynchronize(s));
    puts("graph");
    return 0;
}

static void *one_thread(void *arg)
{
    cudaStream_t s;
    float *x;
    (void)arg;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMalloc(&x, 4096));
    for (int i = 0; i < PER_THREAD; i++)
        add_one<<<1, 1024, 0, s>>>(x);
    CHECK(cudaStreamSynchronize(s));
    return NULL;
}

static int threads(int n)
{
    pthread_t t[THREADS_MAX];
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, one_thread, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    puts("threads");
    return 0;
}

static int nccl(void)
{
#ifdef WITH_NCCL
    ncclComm_t c;
    cudaStream_t s;
    float *x, *y;
    int device = 0;
    CHECK(cudaMalloc(&x, 1 << 20));
    CHECK(cudaMalloc(&y, 1 << 20));
    CHECK(cudaStreamCreate(&s));
    if (ncclCommInitAll(&c, 1, &device) != ncclSuccess)
        return puts("no communicator"), 3;
    for (int i = 0; i < 5; i++) {
        ncclAllGather(x, y, 1000, ncclFloat, c, s);
        ncclReduceScatter(x, y, 1000, ncclFloat, ncclSum, c, s);
        ncclGroupStart();
        ncclSend(x, 500, ncclFloat, 0, c, s);
        ncclRecv(y, 500, ncclFloat, 0, c, s);
        ncclGroupEnd();
    }
    CHECK(cudaStreamSynchronize(s));
    ncclCommDestroy(c);
    puts("nccl");
    return 0;
#else
    return puts("built without NCCL"), 77;
#endif
}

#ifdef WITH_NCCL
static void exchange(float *x, float *y, size_t n, ncclComm_t c, cudaStream_t s)
{
    ncclSend(x, n, ncclFloat, 0, c, s);
    ncclRecv(y, n, ncclFloat, 0, c, s);
}

/* 500 numbers go over a, 700 over b, whichever is called first. */
static void group_of_two(float *x, float *y, ncclComm_t a, ncclComm_t b, int b_first, cudaStream_t s)
{
    ncclGroupStart();
    exchange(x, y, b_first ? 700 : 500, b_first ? b : a, s);
    exchange(x, y, b_first ? 500 : 700, b_first ? a : b, s);
    ncclGroupEnd();
}
#endif

static int groups(void)
{
#ifdef WITH_NCCL
    ncclComm_t a, b;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    float *x, *y;
    int device = 0;
    CHECK(cudaMalloc(&x, 1 << 20));
    CHECK(cudaMalloc(&y, 1 << 20));
    CHECK(cudaStreamCreate(&s));
    if (ncclCommInitAll(&a, 1, &device) != ncclSuccess || ncclCommInitAll(&b, 1, &device) != ncclSuccess)
        return puts("no communicator"), 3;
    for (int i = 0; i < 4; i++)
        group_of_two(x, y, a, b, i % 2, s);
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    group_of_two(x, y, a, b, 1, s);
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    ncclCommDestroy(a);
    ncclCommDestroy(b);
    puts("groups");
    return 0;
#else
    return puts("built without NCCL"), 77;
#endif
}

static int child(const char *self)
{
    launches(10);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl(self, self, "launches", "10", (char *)NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

#ifdef WITH_CUPTI
static void CUPTIAPI ignore(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user, (void)domain, (void)id, (void)data;
}
#endif

static int taken(void)
{
#ifdef WITH_CUPTI
    CUpti_SubscriberHandle h;
    if (cuptiSubscribe(&h, ignore, NULL) != CUPTI_SUCCESS)
        return puts("subscribed second"), 0;
    return launches(10);
#else
    return puts("built without CUPTI"), 77;
#endif
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "syncs";
    long n = argc > 2 ? atol(argv[2]) : 1000, k = argc > 3 ? atol(argv[3]) : 1;
    if (strcmp(mode, "syncs") == 0)
        return syncs();
    if (strcmp(mode, "copies") == 0)
        return copies();
    if (strcmp(mode, "launches") == 0)
        return launches(n);
    if (strcmp(mode, "long") == 0)
        return long_kernel(n);
    if (strcmp(mode, "graph") == 0)
        return graph((int)n, (int)k);
    if (strcmp(mode, "threads") == 0)
        return threads((int)n);
    if (strcmp(mode, "nccl") == 0)
        return nccl();
    if (strcmp(mode, "groups") == 0)
        return groups();
    if (strcmp(mode, "child") == 0)
        return child(argv[0]);
    if (strcmp(mode, "taken") == 0)
        return taken();
    return 2;
}
