/* gpu.h - what the files of device_cuda.so share: a rank's gpu, its lanes (streams), points (records of events).
 *
 *   upload    src --memcpy--> | ring of pinned memory, in segments | --async--> device
 *   download  dst <-memcpy--- |         (at the next wait)          | <-async--- device
 */
#pragma once
#include "kernels/device/cuda_kernel.h"
#include "kernels/device/cuda_module.h"

/* Events tell times in float milliseconds since another event: good to some hundred ns within seconds, so there is a new
 * base every few of them, made while the host waits anyway. */
struct cuda_base {
    struct cuda_base *older;
    cudaEvent_t event;
    int64_t at; /* clock_now() */
};

struct cuda_gpu {
    int ordinal;
    struct cuda_lane *first; /* memory is given out and taken back in its order */
    struct cuda_base *base;  /* the latest */
};

enum { RING_SEGMENT = 1 << 20, RING_SEGMENTS = 8 };

struct cuda_lane {
    struct cuda_gpu *gpu;
    cudaStream_t stream;
    struct cuda_call call;
    void *workspace, *scratch;
    size_t scratch_bytes;
    unsigned char *ring;               /* [RING_SEGMENTS][RING_SEGMENT] */
    size_t ring_at;                    /* only grows */
    cudaEvent_t passed[RING_SEGMENTS]; /* the copies of a segment, once it is full */
    struct {
        void *dst;
        const void *src; /* in the ring */
        size_t bytes;    /* 0: none */
    } pending;           /* a download */
};

struct cuda_point {
    struct cuda_gpu *gpu;
    const struct cuda_base *base; /* of the time of its record */
    cudaEvent_t event;
};

/* Every table of a .cu; ends with NULL. Written by the Makefile. */
extern const struct cuda_kernel *const cuda_tables[];

/* NULL on success, else "what: the error's text", valid until the thread's next call. */
const char *cuda_said(const char *what, cudaError_t error);

const char *clock_open(struct cuda_gpu *gpu);
const char *clock_renew(struct cuda_gpu *gpu); /* the host has just waited: a new base if the last one is old */
void clock_close(struct cuda_gpu *gpu);

/* As in cuda_module.h. */
const char *lane_open(struct cuda_gpu *gpu, struct cuda_lane **lane);
void lane_close(struct cuda_lane *l);
void *lane_native(struct cuda_lane *l);
const char *lane_set(struct cuda_lane *l, void *dst, int value, size_t bytes);
const char *lane_copy(struct cuda_lane *l, void *dst, const void *src, size_t bytes);
const char *lane_upload(struct cuda_lane *l, void *dst, const void *src, size_t bytes);
const char *lane_download(struct cuda_lane *l, void *dst, const void *src, size_t bytes);
bool lane_busy(struct cuda_lane *l);
const char *lane_wait(struct cuda_lane *l);
const char *lane_add(struct cuda_lane *l, bool f64, void *to, const void *const *parts, int nparts, int64_t n);
const char *point_open(struct cuda_gpu *gpu, struct cuda_point **point);
void point_close(struct cuda_point *p);
const char *point_record(struct cuda_lane *l, struct cuda_point *p);
const char *point_await(struct cuda_lane *l, const struct cuda_point *p);
bool point_reached(const struct cuda_point *p);
const char *point_join(const struct cuda_point *p);
int64_t point_time(const struct cuda_point *p);

/* Sums of parts[0 .. nparts - 1], enqueued: add.cu. */
struct cuda_parts {
    const void *part[CUDA_PARTS_MAX];
    int n;
};
#ifdef __cplusplus
extern "C"
#endif
    void
    cuda_add(struct cuda_call *c, bool f64, void *to, const struct cuda_parts *parts, int64_t n);
