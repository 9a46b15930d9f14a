/* backend.h - what a device backend (device_*.c) provides, and what device.c keeps for all of them.
 *
 *   mode code -> device.h -> device.c, wait.c, note.c     ids, host rows, accounting: the same on every backend
 *                               |  struct device_ops
 *                            device_cpu.c (device_cuda.c, device_sim.c): memory, queues, time; emits the work events
 *
 * A backend executes struct work in stream order and emits one work event per kernel, copy, fill and collective, with the
 * work's correlation id; device.c emits the host's rows. Everything here is called by the device's own host thread
 * unless said otherwise.
 */
#pragma once
#include "kernels/device/device.h"
#include "schemas/activity.h"

enum work_kind { WORK_KERNEL, WORK_COPY, WORK_SET, WORK_COMM, WORK_RECORD, WORK_WAIT };

/* One entry of a stream. Pointers to args and comm are read during submit() only. */
struct work {
    enum work_kind kind;
    uint8_t copy_kind;           /* COPY: enum copy_kind */
    bool stage;                  /* COPY: src is host memory that may change once submit() returns */
    int value;                   /* SET */
    uint32_t size;               /* of args */
    int64_t correlation;         /* -1 none */
    const void *args;            /* KERNEL, COMM: copied */
    const struct kernel *kernel; /* KERNEL */
    void (*run)(void *args);     /* COMM */
    const struct activity *comm; /* COMM: its fields filled, but for times, place and correlation */
    void *dst;                   /* COPY, SET */
    const void *src;             /* COPY */
    int64_t bytes;               /* COPY, SET */
    void *event;                 /* RECORD, WAIT: the impl of the event at that time */
};

/* For communicators of ranks that are threads, on a device whose memory the host cannot touch. All are enqueued on the stream;
 * pointers may be into the memory of other ranks' devices. */
struct device_peer_ops {
    void (*copy)(struct stream *s, void *to, const void *from, size_t bytes);
    void (*clear)(struct stream *s, void *to, size_t bytes);
    /* to[i] = parts[0][i] + parts[1][i] + ...; `to` may be one of the parts. */
    void (*add)(struct stream *s, bool f64, void *to, const void *const *parts, int nparts, int64_t n);
    void (*mark)(struct stream *s, void **mark); /* marks the stream's work so far; *mark is NULL, or one to use again */
    void (*await)(struct stream *s, void *mark); /* what follows in the stream comes after the mark, another device's too */
    void (*mark_close)(void *mark);
};

struct device_ops {
    bool (*open)(struct device *d, struct err *e); /* sets d->impl */
    void (*close)(struct device *d);               /* after every stream */
    bool (*stream_open)(struct stream *s, struct err *e);
    void (*stream_close)(struct stream *s);                 /* after stream_wait */
    void *(*alloc)(struct device *d, size_t bytes);         /* as dev_alloc; NULL: out of memory */
    void *(*alloc_index)(struct device *d, size_t bytes);   /* as dev_alloc_index; NULL: alloc() does */
    size_t (*release)(struct device *d, void *block);       /* as dev_free; gives back the size that was asked for */
    bool (*submit)(struct stream *s, const struct work *w); /* false: out of memory */
    bool (*stream_busy)(struct stream *s);                  /* is there work that has not ended? */
    void (*stream_wait)(struct stream *s);                  /* until there is none */
    bool (*event_renew)(struct dev_event *ev);              /* sets ev->impl for a new record; false: out of memory */
    void (*event_close)(struct dev_event *ev);              /* records and waits in queues still happen; here and below ev->impl is set */
    bool (*event_done)(struct dev_event *ev);               /* the latest record */
    void (*event_wait)(struct dev_event *ev);
    int64_t (*event_time)(const struct dev_event *ev); /* of the latest record, once it is done */
    int64_t (*now)(struct device *d);
    void (*spend)(struct device *d, int64_t ns); /* the host works for so long; NULL: it really does */
    /* A host row begins with this correlation id, or ends (-1); only while somebody listens. NULL: nobody else sees the calls. */
    void (*host_row)(struct device *d, int64_t correlation);
    /* NULL: WORK_COMM's run() is called on the stream's worker, in its turn, and memory is the host's. Else it is called by the
     * host thread, within submit(), and enqueues. */
    const struct device_peer_ops *peer;
};

struct device_backend {
    const char *name, *what;
    bool (*available)(void);        /* can this machine run it? NULL: every one can */
    void (*why_not)(struct err *e); /* fails with the reason when it is not available */
    const struct device_ops *ops;
    bool modelled; /* time is virtual, one thread runs all ranks, bulk tensors have no storage */
};

extern const struct device_backend *const device_backends[]; /* every device_*.c, by name; ends with NULL */

enum { DEVICE_NEST_MAX = 64 };

struct open_note { /* a range or op that has begun */
    const char *name;
    const struct site *site;
    int64_t index, start;
};

struct device {
    const struct device_backend *backend;
    void *impl; /* the backend's */
    int rank, ordinal;
    int64_t host_cost; /* ns per op */
    enum dev_number number;
    bool eager;
    int64_t correlation_next, correlation_end; /* ids that are this device's to give */
    int64_t in_use, peak, peak_ever;           /* bytes as asked for */
    struct stream *streams;                    /* the default stream last */
    struct stream *standard;
    int next_number;
    struct open_note ranges[DEVICE_NEST_MAX], ops[DEVICE_NEST_MAX];
    int nranges, nops;
};

struct stream {
    struct device *d;
    void *impl; /* the backend's */
    int number;
    bool capturing;
    struct stream *next;
};

struct dev_event {
    struct device *d;
    void *impl; /* the backend's, of the latest record; NULL before the first */
};

/* Does anybody listen? One load; clocks are read only when somebody does. Any thread. */
bool activity_on(void);
/* To the subscriber, if there is one. Any thread. */
void activity_emit(const struct activity *a);
/* An event of `kind` with rank and device in place. Any thread. */
struct activity activity_of(const struct device *d, enum ev_kind kind, const char *name);

/* A host row around one API call: begin waits the emulated dispatch cost (when `op`) and reads the clock, end emits
 * the runtime row. */
struct api_call {
    struct device *d;
    int64_t start, correlation;
};
struct api_call api_begin(struct device *d, bool op);
void api_end(struct api_call *c, const char *name);
/* The same for a call that blocks the host; `stream` is the stream waited for, NULL several. */
void api_end_wait(struct api_call *c, const char *name, enum sync_class sync, bool did_block, const struct stream *stream, const struct site *site);
