/* cupti_abi.h - what we need of CUPTI's binary interface, in our own words: kinds, records, callbacks, calls.
 *
 * Source: CUPTI's documentation and releases 11 to 13. Records stand 8-aligned one behind the other; a later release only adds
 * fields at the end, so each record here is read as far as the one found reaches (cupti_records.h). tests/unit/test_cupti.c
 * holds these layouts against the headers of a toolkit where there is one.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum cupti_result {
    CUPTI_OK = 0,
    CUPTI_BAD_PARAMETER = 1,
    CUPTI_MAX_LIMIT = 12,
    CUPTI_NOT_COMPATIBLE = 14,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_INVALID_KIND = 21,
    CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    CUPTI_OTHER_SUBSCRIBER = 39,
    CUPTI_UNKNOWN = 999,
};

enum cupti_kind {
    CUPTI_MEMCPY = 1,
    CUPTI_MEMSET = 2,
    CUPTI_DRIVER = 4,
    CUPTI_RUNTIME = 5,
    CUPTI_DEVICE = 8,
    CUPTI_CONTEXT = 9,
    CUPTI_CONCURRENT_KERNEL = 10,
    CUPTI_OVERHEAD = 17,
    CUPTI_MEMCPY2 = 22,
    CUPTI_CUDA_EVENT = 36,
    CUPTI_STREAM = 37,
    CUPTI_SYNCHRONIZATION = 38,
    CUPTI_EXTERNAL_CORRELATION = 39,
    CUPTI_INTERNAL_LAUNCH = 48,
    CUPTI_NKINDS = 64, /* room for newer ones */
};

enum cupti_sync_type { CUPTI_SYNC_EVENT = 1, CUPTI_SYNC_STREAM_WAIT = 2, CUPTI_SYNC_STREAM = 3, CUPTI_SYNC_CONTEXT = 4 };
enum cupti_overhead {
    CUPTI_OVERHEAD_COMPILER = 1,
    CUPTI_OVERHEAD_FLUSH = 1 << 16,
    CUPTI_OVERHEAD_INSTRUMENTATION = 2 << 16,
    CUPTI_OVERHEAD_RESOURCE = 3 << 16,
    CUPTI_OVERHEAD_MODULE_LOADING = 4 << 16,
    CUPTI_OVERHEAD_FUNCTION_LOADING = 5 << 16,
    CUPTI_OVERHEAD_QUEUE_FULL = 6 << 16,
    CUPTI_OVERHEAD_BUFFER_REQUEST = 7 << 16,
    CUPTI_OVERHEAD_UVM = 8 << 16,
};
enum { CUPTI_EXTERNAL_CUSTOM2 = 5 };                       /* a kind of external ids: that of our own devices (schemas/activity.h) */
enum { CUPTI_OBJECT_THREAD = 2, CUPTI_NONE = 0xffffffff }; /* CUPTI_NONE: of a stream or event that is none */

/* ---- records ---- */
#define CUPTI_RECORD struct __attribute__((packed, aligned(8)))

CUPTI_RECORD cupti_record
{
    uint32_t kind;
};

CUPTI_RECORD cupti_kernel
{
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t cache_requested, cache_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, pad;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shared_limit, graph;
};

CUPTI_RECORD cupti_memcpy
{
    uint32_t kind;
    uint8_t copy_kind, src_kind, dst_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t correlation, runtime_correlation, pad;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
};

CUPTI_RECORD cupti_memcpy2 /* from one device to another */
{
    uint32_t kind;
    uint8_t copy_kind, src_kind, dst_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t src_device, src_context, dst_device, dst_context;
    uint32_t correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
};

CUPTI_RECORD cupti_memset
{
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t correlation;
    uint16_t flags, memory_kind;
    uint32_t pad;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
};

CUPTI_RECORD cupti_sync
{
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
    uint64_t event_sync; /* of one recording of the event; absent before release 12.9 */
};

CUPTI_RECORD cupti_event /* a recording of an event */
{
    uint32_t kind, correlation, context, stream, event, pad, device, pad2;
    void *reserved;
    uint64_t device_time, event_sync;
};

CUPTI_RECORD cupti_api
{
    uint32_t kind, cbid;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};

CUPTI_RECORD cupti_external
{
    uint32_t kind, external_kind;
    uint64_t external;
    uint32_t correlation, reserved;
};

CUPTI_RECORD cupti_overhead_record
{
    uint32_t kind, overhead, object_kind;
    uint32_t process, thread, object_pad;
    uint64_t start, end;
    uint32_t correlation, reserved; /* from 12.6 on */
    void *data;                     /* from 13.0 on: ours to free */
};

CUPTI_RECORD cupti_device
{
    uint32_t kind, flags;
    uint64_t bandwidth, memory;
    uint32_t constant, l2, warp, clock, engines, multiprocessors;
    uint32_t limits[14];
    uint32_t major, minor, id, ecc;
    uint8_t uuid[16];
    const char *name;
};

CUPTI_RECORD cupti_context
{
    uint32_t kind, context, device;
    uint16_t api, null_stream; /* api: 2 = through MPS */
};

/* ---- callbacks ---- */

enum cupti_domain { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2, CUPTI_DOMAIN_RESOURCE = 3, CUPTI_DOMAIN_STATE = 6 };
enum { CUPTI_NODE_CREATED = 13, CUPTI_NODE_CLONED = 20 }; /* of the resource domain */
enum { CUPTI_STATE_FATAL = 1, CUPTI_CALL_ENTER = 0, CUPTI_CALL_EXIT = 1 };

struct cupti_call { /* of the API domains */
    int site;       /* CUPTI_CALL_ENTER, CUPTI_CALL_EXIT */
    const char *function;
    const void *params;
    void *result;
    const char *symbol; /* of a launch: the kernel */
    void *context;
    uint32_t context_id;
    uint64_t *data; /* one word kept between enter and exit */
    uint32_t correlation;
};

struct cupti_state { /* of the state domain */
    int result;
    const char *message;
};

struct cupti_resource { /* of the resource domain */
    void *context, *handle;
    const void *about; /* of nodes: a struct cupti_graph */
};

struct cupti_graph {
    void *graph, *original_graph;
    void *node, *original_node;
    int type; /* of the node */
};
enum { CUPTI_NODE_KERNEL = 0 };

typedef void cupti_callback_fn(void *user, int domain, uint32_t cbid, const void *data);
typedef void cupti_request_fn(uint8_t **buffer, size_t *size, size_t *records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
typedef uint64_t cupti_clock_fn(void);

enum cupti_attribute { CUPTI_ATTR_ZEROED = 5, CUPTI_ATTR_PER_THREAD = 9 };
enum { CUPTI_THREAD_ID_SYSTEM = 1, CUPTI_NULL_BUFFER_API = 27 /* the first API version that takes "no buffer" for an answer */ };
