/* work.h - what the stand-in's runtime has of a device: streams, and the records of what they did. */
#pragma once
#include "fake.h"
#include "runtime.h"

enum { NODES = 64, RANGES = 1024, NULL_STREAM = 7, PAGEABLE = 1, PINNED = 2, DEVICE = 3, HTOD = 1, DTOH = 2, DTOD = 8 };

struct fake_stream {
    uint32_t id; /* first: cupti.c reads it */
    _Atomic int64_t busy_until;
    struct fake_graph *capture;
};

struct fake_event {
    uint32_t id;
    uint64_t sync; /* of its last recording */
    struct fake_stream *stream;
    _Atomic int64_t time;
};

struct fake_graph { /* kernels one behind the other */
    uint32_t id;
    size_t n;
    struct node {
        uint64_t id; /* first: cupti.c reads it */
        const char *name;
        int blocks;
    } nodes[NODES];
};

extern struct fake_stream fake_null_stream;

/* Around the body of a call of the runtime. */
#define BEGIN(function, params)                                                                                                                      \
    struct fake_call call;                                                                                                                           \
    if (fake_ready() != cudaSuccess)                                                                                                                 \
        return cudaErrorInsufficientDriver;                                                                                                          \
    fake_enter(&call, CUPTI_DOMAIN_RUNTIME, function, params)
#define END                                                                                                                                          \
    fake_leave(&call);                                                                                                                               \
    return cudaSuccess

int fake_ready(void);                /* of the first call: loads the injection; an error without a driver */
int fake_memory_kind(const void *p); /* PAGEABLE, PINNED, DEVICE */

struct fake_stream *fake_stream_of(cudaStream_t s); /* the null stream for NULL */
int64_t fake_later(int64_t a, int64_t b);

/* The stretch that work of `ns` gets on a stream. */
void fake_occupy(struct fake_stream *s, int64_t ns, int64_t *from, int64_t *to);
void fake_sleep_until(int64_t time);
void fake_spoil(uint64_t *from, uint64_t *to); /* as FAKE_FAULT wants times */

/* The driver's call inside the runtime's with correlation id `id`; the id that the device's records bear. */
uint32_t fake_inner_call(const char *function, uint32_t id);

struct fake_shape {
    dim3 grid, block;
    size_t shared;
};
void fake_kernel(struct fake_stream *s, const char *name, struct fake_shape shape, uint32_t id, uint32_t graph, uint64_t node);
void fake_copy(struct fake_stream *s, int kind, int src, int dst, size_t n, uint32_t id, int64_t *end);
void fake_fill(struct fake_stream *s, void *p, int value, size_t n, uint32_t id);
void fake_wait(uint32_t type, struct fake_stream *s, const struct fake_event *e, int64_t until, uint32_t id);
