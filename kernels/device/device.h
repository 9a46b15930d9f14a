/* device.h - an accelerator as mode code sees it: memory, streams, launches, copies, waits, ranges.
 *
 *   host thread of a rank ----launch, copy_async----> stream (in order) ----> kernel, memcpy, memset, comm
 *                         <---- a wait really waits ----
 *
 * One device per rank; a host thread drives one device and only that one. Work is enqueued and the host runs ahead.
 * Backends (device_*.c, struct device_backend): `cpu` runs for real, a worker thread per stream; `cuda` on GPUs; `sim` models a machine.
 * Everything a device does is announced through schemas/activity.h: kernels, copies and fills with their times on the
 * stream, API calls as runtime rows (launch, copy, synchronise), host reads as op rows, ranges. Mode code never asks
 * which backend it runs on.
 *
 * Device memory is not for the host: mode code reads it only through the host-read ops (hostread.h) or dev_copy_*, even
 * where the cpu backend would let it peek. Kernel bodies run on the device and may.
 *
 * What one call announces (host rows are of the calling thread and share the correlation id of the work; on cuda the rows on
 * the stream are CUPTI's: cuda_module.h):
 *
 *   | call                 | host row (runtime)       | wait class | on the stream            |
 *   | dev_launch           | deviceLaunchKernel       |            | kernel, the kernel's name |
 *   | a collective         | deviceLaunchKernel       |            | comm, "group_function"   |
 *   | dev_set_async        | deviceMemsetAsync        |            | memset "Memset"          |
 *   | dev_copy_async       | deviceMemcpyAsync        |            | memcpy "Memcpy DtoD"     |
 *   | dev_upload_async     | deviceMemcpyAsync        |            | memcpy "Memcpy HtoD"     |
 *   | dev_upload           | deviceMemcpy             | copy       | memcpy "Memcpy HtoD"     |
 *   | dev_download         | deviceMemcpy             | copy       | memcpy "Memcpy DtoH"     |
 *   | dev_stream_sync      | deviceStreamSynchronize  | stream     |                          |
 *   | dev_device_sync      | deviceSynchronize        | device     |                          |
 *   | dev_event_sync       | deviceEventSynchronize   | event      |                          |
 *   | dev_event_record     | deviceEventRecord        |            |                          |
 *   | dev_stream_wait_event | deviceStreamWaitEvent   |            | sync "Stream Wait Event" |
 *
 * A wait blocked (did_block) when work of the stream, device or event was unfinished as the call was made; the copy of a
 * blocking copy is not counted as such. A range is one range row at its pop, a mark one of no length.
 *
 * No function here fails for reasons of the caller's data: misuse is an assert; running out of memory ends the program
 * with a line and status 3.
 */
#pragma once
#include "schemas/err.h"
#include "schemas/site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;    /* one accelerator, belongs to one rank */
struct stream;    /* an in-order queue of one device */
struct dev_event; /* a point in a stream */

/* What a kernel costs; for the simulator, `cpbench expect` and rates. */
struct cost {
    double flops, bytes;
    double chunks; /* of a scan: those that follow each other, over all its loops; 0 none. What eager small operators would loop over */
};

/* What can be launched. Static lifetime, one per kernel; `name` is what the trace shows. */
struct kernel {
    const char *name;
    void (*cpu)(const void *args);         /* runs the whole kernel on the calling thread */
    struct cost (*cost)(const void *args); /* NULL: not counted */
    bool index;                            /* works on index tensors (dev_alloc_index) only: runs on every backend, sim too */
};

enum { KERNEL_ARGS_MAX = 256 }; /* bytes; larger tables go through device memory */

/* ---- devices and streams ---- */

/* Backend by name: "cpu", "auto" (cuda when there is one, else cpu: said on stderr by the caller). NULL on failure. */
struct device *device_open(const char *backend, int rank, int ordinal, struct err *e);
const char *device_auto(void);       /* the backend that "auto" is here */
void device_close(struct device *d); /* drains every stream first; reports the memory peak; NULL is fine */
const char *device_backend_name(const struct device *d);
int device_rank(const struct device *d);
/* What bulk tensors are stored as on the machine that is modelled: rates and bytes follow it on sim, nothing elsewhere. */
enum dev_number { DEV_FP32, DEV_BF16, DEV_FP16 };
void device_number(struct device *d, enum dev_number number);
bool device_stores_narrow(const struct device *d); /* sim, and not DEV_FP32: whatever a kernel stores is rounded by that */
/* Emulated dispatch cost of a framework, in ns per op (--host-cost); 0 none. */
void device_host_cost(struct device *d, int64_t ns_per_op);
/* The host works for so long, by the clock of dev_now(). */
void dev_host_work(struct device *d, int64_t ns);
/* On sim: scans cost what a loop of small operators over their chunks would (--host-cost eager). */
void device_eager(struct device *d, bool eager);

struct stream *device_stream(struct device *d); /* the default stream, number 7 as in the frameworks' traces */
struct stream *stream_open(struct device *d);   /* a further stream (numbers from 13 up) */
void stream_close(struct stream *s);            /* drains it */
struct device *stream_device(const struct stream *s);
/* Marks the stream as being captured into a graph. What may not be captured asks and refuses; work is enqueued and runs as
 * ever on backends without graphs. */
void dev_capture_begin(struct stream *s);
void dev_capture_end(struct stream *s);
bool dev_capturing(const struct stream *s);

/* ---- memory ----
 * Stream-ordered: dev_free(p) may be called while work that uses p is still enqueued on the default stream; the memory
 * is reused only for work enqueued later on that stream. 64-byte aligned, not cleared. Allocation never waits. */
void *dev_alloc(struct device *d, size_t bytes);
/* Index tensors: what the host may read, or what decides what it reads. They have storage on every backend; what dev_alloc()
 * gives has none on sim, where only sizes count: copies and fills of it move nothing, and reading it back gives zeros. */
void *dev_alloc_index(struct device *d, size_t bytes);
/* n floats that hold values of the device's number format: on a modelled device, where they take no room, they count at its
 * size; on others they take, and count, four bytes each. */
void *dev_alloc_rows(struct device *d, int64_t n);
bool device_has_storage(const struct device *d); /* false: filling and reading bulk tensors is a waste */
void dev_free(struct device *d, void *p);        /* NULL is fine */
int64_t dev_memory_peak(const struct device *d); /* bytes in use at most since the last call of dev_memory_reset_peak */
void dev_memory_reset_peak(struct device *d);

/* ---- work ---- */

/* Enqueues a kernel; args are copied (size <= KERNEL_ARGS_MAX). Emits a runtime row "deviceLaunchKernel" and, when it ran, a kernel event. */
void dev_launch(struct stream *s, const struct kernel *k, const void *args, size_t size);
#define DEV_LAUNCH(s, k, ...) dev_launch((s), &(k), &(__VA_ARGS__), sizeof(__VA_ARGS__))

void dev_set_async(struct stream *s, void *dst, int value, size_t bytes);        /* a memset event */
void dev_copy_async(struct stream *s, void *dst, const void *src, size_t bytes); /* device to device */
/* The same for n floats of dev_alloc_rows(), to 0 or between two of them: bytes as they count there. */
void dev_clear_rows(struct stream *s, float *rows, int64_t n);
void dev_copy_rows(struct stream *s, float *dst, const float *src, int64_t n);
/* Host to device; the bytes are staged before the call returns, so src may be reused. Blocking form (pageable memory,
 * like cudaMemcpy): returns when the copy is done; a wait-ledger row of class copy at `site`. */
void dev_upload_async(struct stream *s, void *dst, const void *src, size_t bytes);
void dev_upload(struct stream *s, void *dst, const void *src, size_t bytes, const struct site *site);
/* Device to host, always blocking: everything before it in the stream is done when it returns. One wait-ledger row. */
void dev_download(struct stream *s, void *dst, const void *src, size_t bytes, const struct site *site);

/* ---- waits: each is one wait-ledger row at `site` ---- */
void dev_stream_sync(struct stream *s, const struct site *site); /* class stream */
void dev_device_sync(struct device *d, const struct site *site); /* class device: all streams */

/* ---- events ---- */
struct dev_event *dev_event_open(struct device *d);
void dev_event_close(struct dev_event *ev);
void dev_event_record(struct dev_event *ev, struct stream *s);
void dev_stream_wait_event(struct stream *s, struct dev_event *ev); /* the device waits, the host does not */
void dev_event_sync(struct dev_event *ev, const struct site *site); /* class event */
/* When the stream reached the latest record, as dev_now() counts; valid once a wait has covered it. 0: never recorded. */
int64_t dev_event_time(const struct dev_event *ev);

/* ---- ranges and marks (markers of schemas/marker.h); names have static lifetime ---- */
void dev_range_push(struct device *d, const char *name, int64_t index); /* index -1: none, else shown as "name#index" */
void dev_range_pop(struct device *d);
void dev_mark(struct device *d, const char *text); /* copied */

/* A fact of the run for the trace's meta table (shape, backend ...); both are copied. Before the device exists, too. */
void dev_meta(const char *key, const char *value);

/* A range for the rest of the block. */
struct dev_range {
    struct device *d;
};
static inline void dev_range_end(struct dev_range *r)
{
    dev_range_pop(r->d);
}
#define DEV_RANGE_CAT2(a, b) a##b
#define DEV_RANGE_CAT(a, b) DEV_RANGE_CAT2(a, b)
#define DEV_RANGE(dev, name, index)                                                                                                                  \
    __attribute__((cleanup(dev_range_end), unused)) struct dev_range DEV_RANGE_CAT(range_, __LINE__) = {(dev)};                                      \
    dev_range_push((dev), (name), (index))

/* Time as the device tells it: clock_now() where it is real, the host's virtual clock on sim. */
int64_t dev_now(struct device *d);

/* ---- for communicators and host-read ops ---- */

enum { COMM_ARGS_MAX = 96 }; /* bytes */

/* Enqueues `run(args)` on the stream's worker as a comm event; used by comm_*.c only. `a` has the comm fields filled. */
struct activity;
void dev_enqueue_comm(struct stream *s, const struct activity *a, void (*run)(void *args), const void *args, size_t size);

/* An op row of the op ledger around what the host does between the two calls (nested ops nest). */
void dev_op_begin(struct device *d, const char *name, const struct site *site);
void dev_op_end(struct device *d);

/* Ends the program with a line and status 3; `bytes` is what was wanted. */
__attribute__((noreturn)) void dev_out_of_memory(const struct device *d, size_t bytes);
