/* cuda_module.h - what the module device_cuda.so offers to the program, which itself knows nothing of CUDA.
 *
 *   cpbench: device_cuda.c (ids, sizes, errors) ---dlopen---> lib/cpscope/device_cuda.so: cuda/module.c (streams, memory,
 *                                                             copies), *.cu (kernels by name) ---> libcudart, libcublas
 *
 * Nothing of the program is called from the module. A gpu is one rank's, used by its one host thread; several ranks may have
 * one on the same device. Functions that give `const char *` give NULL, or what went wrong: valid until the thread's next
 * call. Once a call has failed the device is of no use any more.
 *
 * Who announces what (schemas/activity.h) when the backend is cuda:
 *
 *   | host rows, op rows, ranges, marks      | the program, as on every backend: they carry the site and the sync class    |
 *   | kernels, copies, fills, stream waits   | CUPTI, through the collector: the program announces none                    |
 *   | the CUDA calls inside a host row       | nobody: they would be a second row of the same call. While somebody listens |
 *   |                                        | the module pushes the host row's correlation id as CUPTI external id of     |
 *   |                                        | kind CUSTOM2 around them, by which a collector knows them: it leaves them   |
 *   |                                        | and their waits out and joins their work to the host row                    |
 *   | a collective                           | the program describes it (ACT_COMM: name, group, function, sequence, bytes, |
 *   |                                        | correlation, no times); its times are those of the work in its host row:    |
 *   |                                        | NCCL's kernel, or the copies and sums of the ranks that are threads         |
 */
#pragma once
#include "kernels/device/backend.h"

#define CUDA_MODULE_SYMBOL "cpbench_device_cuda"

struct cuda_gpu;    /* one rank's use of a device */
struct cuda_lane;   /* a stream */
struct cuda_point;  /* the latest record of an event */
struct cuda_kernel; /* what computes a struct kernel: cuda_kernel.h */

struct cuda_module {
    const char *version; /* of the program that it was built with */
    /* Once in a process, before all else: the number of devices, and what they are ("NVIDIA H200", for the trace's meta). */
    const char *(*start)(int *devices, const char **what);
    const char *(*open)(int ordinal, struct cuda_gpu **gpu); /* makes the device the calling thread's */
    void (*close)(struct cuda_gpu *gpu);                     /* after its lanes */
    const char *(*lane_open)(struct cuda_gpu *gpu, struct cuda_lane **lane);
    void (*lane_close)(struct cuda_lane *lane);
    void *(*native)(struct cuda_lane *lane); /* its cudaStream_t */
    /* Stream-ordered in the gpu's first lane. alloc: NULL when out of memory. */
    void *(*alloc)(struct cuda_gpu *gpu, size_t bytes);
    const char *(*release)(struct cuda_gpu *gpu, void *block);
    const struct cuda_kernel *(*find)(const char *name); /* NULL: there is none */
    const char *(*launch)(struct cuda_lane *lane, const struct cuda_kernel *k, const void *args);
    const char *(*set)(struct cuda_lane *lane, void *dst, int value, size_t bytes);
    const char *(*copy)(struct cuda_lane *lane, void *dst, const void *src, size_t bytes); /* between devices too */
    /* Through pinned memory. upload: src may change at once. download: dst is filled by the next wait(). */
    const char *(*upload)(struct cuda_lane *lane, void *dst, const void *src, size_t bytes);
    const char *(*download)(struct cuda_lane *lane, void *dst, const void *src, size_t bytes);
    bool (*busy)(struct cuda_lane *lane);
    const char *(*wait)(struct cuda_lane *lane);
    /* to[i] = parts[0][i] + parts[1][i] + ... in that order; parts is host memory, `to` may be one of them. At most
     * CUDA_PARTS_MAX parts. */
    const char *(*add)(struct cuda_lane *lane, bool f64, void *to, const void *const *parts, int nparts, int64_t n);
    const char *(*point_open)(struct cuda_gpu *gpu, struct cuda_point **point);
    void (*point_close)(struct cuda_point *point);
    const char *(*record)(struct cuda_lane *lane, struct cuda_point *point);
    const char *(*await)(struct cuda_lane *lane, const struct cuda_point *point); /* of another device too */
    bool (*reached)(const struct cuda_point *point);
    const char *(*join)(const struct cuda_point *point); /* the host waits */
    int64_t (*time)(const struct cuda_point *point);     /* as clock_now() counts; once it is reached */
    void (*host_row)(int64_t correlation);               /* a host row begins; -1: it ends */
};

enum { CUDA_PARTS_MAX = 64 };

/* The cudaStream_t of a stream of the cuda backend; NULL: of another one. */
void *cuda_stream_native(const struct stream *s);
/* GPUs on this machine that the program can use; 0: none, or no module. */
int cuda_devices(void);
/* Why there are none; NULL: there are. */
const char *cuda_missing(void);
