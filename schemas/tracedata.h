/* tracedata.h - a trace in memory: strings, keys, events and their side rows.
 *
 * Every producer (importer, recorder) fills one of these; every analysis reads one. With `spill` set it is a window on a
 * stream instead: after SPILL_EVENTS events, spill() takes them away (into a trace file) and event numbers go on, so a
 * producer needs no second way of writing and memory stays bounded. Ids of strings and keys stay valid all along.
 *
 *   event.thread -> threads[id] -> processes[id]        ids are 1-based; entry 0 of each array is the "none" entry
 *   event.stream -> streams[id] -> processes[id]
 *   event.site   -> sites[id]
 *   event.detail -> syncs | kernels | comms | copies | ranges [id], by event.kind
 */
#pragma once
#include "schemas/err.h"
#include "schemas/event.h"
#include "schemas/intern.h"

struct processkey {
    int64_t pid;
    uint32_t host, name; /* string ids */
    int32_t rank;        /* -1 unknown */
};

struct threadkey {
    uint32_t process; /* id */
    uint32_t name;    /* string id */
    int64_t tid;
};

struct streamkey { /* stream numbers are unique per process and device only */
    uint32_t process;
    int32_t device;
    int64_t native;
};

struct sitekey {
    uint32_t function, file; /* string ids */
    int32_t line;            /* 0 unknown */
};

struct stackkey { /* a call stack: frames[first .. first + depth - 1], ids of sites, the innermost first */
    uint32_t first, depth;
};

struct ev_sync {         /* of EV_RUNTIME (the call blocks the host by its class) and of EV_SYNC */
    int32_t class;       /* enum sync_class */
    int32_t did_block;   /* 1, 0, -1 unknown */
    int64_t wait_stream; /* native number of the stream or event waited for; -1 none or unknown */
    int64_t wait_event;
    int64_t stack; /* id of the call stack that was taken; 0 none */
};

struct ev_kernel { /* of EV_KERNEL; 0 where unknown */
    int32_t grid[3], block[3];
    int32_t registers, static_shared, dynamic_shared;
    int64_t graph, graph_node; /* 0 none */
};

struct ev_comm {              /* of EV_COMM; an importer makes a kernel that carries collective data an EV_COMM */
    uint32_t communicator;    /* string id: the process group's name; "cp", "grad" ... in our runs */
    uint32_t function;        /* string id: all_gather, broadcast ... */
    uint32_t dtype;           /* string id */
    int32_t peer, group_size; /* -1 none */
    int64_t sequence;         /* -1 none */
    int64_t message_bytes;    /* size in the trace, -1 unknown; event.bytes holds what this rank sent, when known */
};

enum copy_kind { COPY_UNKNOWN, COPY_HTOD, COPY_DTOH, COPY_DTOD, COPY_HTOH, COPY_PTOP, COPY_OTHER };
enum mem_kind { MEM_UNKNOWN, MEM_PAGEABLE, MEM_PINNED, MEM_DEVICE, MEM_ARRAY, MEM_MANAGED };

struct ev_copy { /* of EV_MEMCPY (and EV_MEMSET: dst only); CUPTI numbering is converted at the edge */
    int32_t kind, src, dst;
};

enum range_flavour { RANGE_PUSH_POP, RANGE_START_END, RANGE_MARK };

struct ev_range {    /* of EV_RANGE; nesting follows from times within one thread for push/pop */
    uint32_t domain; /* string id, 0 the default domain */
    int32_t flavour; /* enum range_flavour */
    int64_t index;   /* N of "step#N" when given apart, -1 none (the name holds it too) */
};

struct memory_row {
    int64_t time, bytes;
    int32_t rank, device;
    uint32_t what; /* string id: "peak" ... */
};

struct clock_row {  /* one reading of another clock between two of the trace's clock, absolute ns */
    uint32_t clock; /* string id: "realtime" ... */
    int64_t before, other, after;
};

struct loss_row { /* what is missing, and why */
    uint32_t reason;
    int64_t count;      /* -1: not known how many */
    int64_t start, end; /* of the interval, relative to t0 */
};

struct meta_row {
    uint32_t key, value; /* string ids */
};

enum { SPILL_EVENTS = 1 << 16 };

struct tracedata {
    struct intern strings;
    int64_t t0; /* absolute ns of the trace's time zero, in the trace's own clock */

    struct event *ev;
    size_t n, cap;
    int64_t first; /* number of ev[0] in the stream: 0 unless spilled */

    struct processkey *processes;
    size_t nprocesses, processes_cap; /* counts include entry 0 */
    struct threadkey *threads;
    size_t nthreads, threads_cap;
    struct streamkey *streams;
    size_t nstreams, streams_cap;
    struct sitekey *sites;
    size_t nsites, sites_cap;
    struct stackkey *stacks;
    size_t nstacks, stacks_cap;
    uint32_t *frames; /* of all stacks */
    size_t nframes, frames_cap;

    struct ev_sync *syncs;
    size_t nsyncs, syncs_cap;
    struct ev_kernel *kernels;
    size_t nkernels, kernels_cap;
    struct ev_comm *comms;
    size_t ncomms, comms_cap;
    struct ev_copy *copies;
    size_t ncopies, copies_cap;
    struct ev_range *ranges;
    size_t nranges, ranges_cap;

    struct memory_row *memory;
    size_t nmemory, memory_cap;
    struct clock_row *clocks;
    size_t nclocks, clocks_cap;
    struct loss_row *loss;
    size_t nloss, loss_cap;
    struct meta_row *meta;
    size_t nmeta, meta_cap;

    struct hashkeys *index; /* of threads, streams, processes and sites by value */
    struct recent *recent;  /* kernel and copy rows that came lately */

    bool (*spill)(struct tracedata *d, void *ctx, struct err *e); /* NULL: everything stays in memory */
    void *spill_ctx;
};

void tracedata_init(struct tracedata *d);
void tracedata_free(struct tracedata *d);

/* An event with every "none" in place. */
struct event event_none(enum ev_kind kind, int64_t start, int64_t end);

/* Appends; false only when spilling fails. Events come in any order. The caller has set ev->detail from one of the
 * *_row functions below, if at all. */
bool tracedata_event(struct tracedata *d, const struct event *ev, struct err *e);

/* Ids of keys, made at first use. A thread or stream is identified by the values given (name is not part of it; the
 * first non-empty name stays). */
uint32_t tracedata_process(struct tracedata *d, int64_t pid, const char *host, int32_t rank);
uint32_t tracedata_thread(struct tracedata *d, uint32_t process, int64_t tid, const char *name);
uint32_t tracedata_stream(struct tracedata *d, uint32_t process, int32_t device, int64_t native);
uint32_t tracedata_site(struct tracedata *d, const char *function, const char *file, int32_t line);

/* A new stack of these sites, the innermost first. */
uint32_t tracedata_stack(struct tracedata *d, const uint32_t *sites, size_t n);

/* Side rows; the value for event.detail. Kernel and copy rows that equal a recent one share its number: launches repeat. */
uint32_t tracedata_sync_row(struct tracedata *d, struct ev_sync row);
uint32_t tracedata_kernel_row(struct tracedata *d, struct ev_kernel row);
uint32_t tracedata_comm_row(struct tracedata *d, struct ev_comm row);
uint32_t tracedata_copy_row(struct tracedata *d, struct ev_copy row);
uint32_t tracedata_range_row(struct tracedata *d, struct ev_range row);

/* Details of an event, NULL when it has none or is of another kind.
 * RUNTIME, SYNC -> sync; KERNEL -> kernel; COMM -> comm; MEMCPY, MEMSET -> copy; RANGE -> range. */
const struct ev_sync *ev_sync_of(const struct tracedata *d, const struct event *ev);
const struct ev_kernel *ev_kernel_of(const struct tracedata *d, const struct event *ev);
const struct ev_comm *ev_comm_of(const struct tracedata *d, const struct event *ev);
const struct ev_copy *ev_copy_of(const struct tracedata *d, const struct event *ev);
const struct ev_range *ev_range_of(const struct tracedata *d, const struct event *ev);

/* Facts of the trace as a whole. Setting a key again replaces its value. */
void tracedata_meta(struct tracedata *d, const char *key, const char *value);
void tracedata_metaf(struct tracedata *d, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
const char *tracedata_meta_get(const struct tracedata *d, const char *key); /* NULL: not in this trace */
void tracedata_loss(struct tracedata *d, const char *reason, int64_t count, int64_t start, int64_t end);
