/* activity.h - how a device of ours reports what it did, as CUPTI does for a GPU.
 *
 *   kernels/device ---activity()---> the one subscriber (libcpscope.so), if there is one
 *
 * The program that contains the devices (cpbench) exports activity_subscribe's symbol CPSCOPE_SUBSCRIBE_SYMBOL; the
 * collector finds it with dlsym and subscribes. Without a subscriber a report costs one load and one branch.
 *
 * Who reports what, once, where CUPTI sees the same calls (a device on CUDA: kernels/device/device_cuda.c):
 *
 *   | row                             | from   | joined by                                                           |
 *   | API call that the device makes, | device | while somebody listens, its correlation is CUPTI's external id of   |
 *   | with wait class, site, rank     |        | kind CUSTOM2 in that thread; CUDA calls inside and their waits have |
 *   |                                 |        | no row of their own                                                 |
 *   | op, range, mark, memory peak    | device |                                                                     |
 *   | kernel, copy, fill, a stream's  | CUPTI  | the row that its call was in gives it rank and correlation; the     |
 *   | wait for an event               |        | collector may renumber both sides alike                             |
 *   | collective                      | both   | ACT_COMM says name, group, function, sequence, bytes, and is        |
 *   |                                 |        | reported inside its row; times, device and stream are of the work   |
 *   |                                 |        | in that row, which has no rows of its own: first start to last end  |
 *   | CUDA call outside of any row    | CUPTI  | (memory, streams)                                                   |
 *
 * Of such a device: row and collective are reported by the thread that makes the calls, the row after its id was taken back; `device` is
 * CUDA's ordinal; `stream` is the device's own number, for which the collector has CUPTI's. A collective whose row has no work (a send
 * that the receiver copies) is a comm row without length at the end of its row. Where there is no CUPTI, or it does not look at
 * kernels, a collective is an op row as long as its API call.
 *
 * Reports come from any thread, concurrently. `name`, `group`, `function` and `site` have static lifetime unless
 * `transient` is set: then the subscriber copies `name` and `text` before it returns. Everything else is copied always.
 */
#pragma once
#include "schemas/event.h"
#include "schemas/site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum activity_what {
    ACT_EVENT,  /* an event of `kind` */
    ACT_META,   /* key `name`, value `text`: what the program says of itself (backend, shape, world size ...); transient */
    ACT_MEMORY, /* `name` (e.g. "peak"), `bytes` on (rank, device) at `start` */
    /* A collective as its program calls it, kind EV_COMM, without times: CUPTI has them (above). */
    ACT_COMM,
};

struct activity {
    int64_t start, end; /* clock_now() on cpu and cuda; virtual ns on sim */
    int64_t correlation, bytes;
    const char *name;
    const char *text;     /* of a mark or of ACT_META; NULL otherwise */
    const char *group;    /* comm: "cp" the mode's collectives, "tp", "grad" parameter gradients, loss, norm */
    const char *function; /* comm: all_gather, all_to_all_v ... */
    const struct site *site;
    int64_t sequence;             /* comm: number of the collective in its communicator; range: its index ("layer#3"), -1 none */
    int32_t rank, device, stream; /* -1: none. stream is the device's own number; of a host wait: the one waited for */
    int32_t peer, group_size;     /* comm; -1: none */
    int32_t thread;               /* whose host row it is; 0: that of the reporting thread */
    uint8_t what, kind;
    uint8_t sync_class; /* runtime rows that block the host: enum sync_class */
    int8_t did_block;   /* 1 the host really waited, 0 it did not, -1 not known */
    uint8_t copy_kind;  /* memcpy: enum copy_kind of tracedata.h; 0 not known */
    bool transient;
    bool modelled; /* times are virtual ns from 0, not clock_now() */
};

/* A report with every "none" in place. */
#define ACTIVITY_NONE                                                                                                                                \
    (struct activity)                                                                                                                                \
    {                                                                                                                                                \
        .correlation = -1, .bytes = -1, .sequence = -1, .rank = -1, .device = -1, .stream = -1, .peer = -1, .group_size = -1, .did_block = -1        \
    }

typedef void activity_fn(void *ctx, const struct activity *a); /* may not fail, block or call back into the device */

#define CPSCOPE_SUBSCRIBE_SYMBOL "cpscope_activity_subscribe"
/* Version of struct activity; a subscriber of another version is refused (returns false) and must stand aside. */
#define ACTIVITY_VERSION 2
typedef bool activity_subscribe_fn(int version, activity_fn *fn, void *ctx); /* fn NULL: unsubscribe */
