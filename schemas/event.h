/* event.h - one event of a trace, as it is kept in memory.
 *
 * Times are integer nanoseconds relative to the trace's t0 (tracedata.h), half open [start, end); they may be negative.
 * Absent is not zero: -1 in rank, device, correlation and bytes, and 0 in name, site, thread, stream and detail, mean
 * "not in this trace".
 */
#pragma once
#include <stdint.h>

enum ev_kind {
#define EVENT(id, name, class) EV_##id,
#include "schemas/events.def"
#undef EVENT
    EV_NKINDS
};

enum ev_class { EV_WORK, EV_WAIT, EV_HOST, EV_NOTE };

struct event {
    int64_t start, end;
    int64_t correlation; /* joins a host call and what it started; unique per process only */
    int64_t bytes;       /* copies and fills: moved; comm: sent by this rank */
    uint32_t name;       /* string id */
    uint32_t site;       /* id of a struct site: the call site that came with the event */
    uint32_t thread;     /* id of a struct threadkey */
    uint32_t stream;     /* id of a struct streamkey */
    uint32_t detail;     /* 1-based index into the side array of its kind (tracedata.h) */
    int32_t rank;
    int32_t device; /* the ordinal in its process; rank is not device */
    int32_t kind;   /* enum ev_kind */
};

const char *ev_kind_name(enum ev_kind k);

/* Unknown kinds are notes. Asked of every row: inline. */
static inline enum ev_class ev_kind_class(enum ev_kind k)
{
    static const uint8_t classes[] = {
#define EVENT(id, name, class) EV_##class,
#include "schemas/events.def"
#undef EVENT
    };
    return (unsigned)k < EV_NKINDS ? (enum ev_class)classes[k] : EV_NOTE;
}

/* Host waits of the wait ledger (struct ev_sync.class). Numbers are stored. */
enum sync_class { SYNC_NONE, SYNC_STREAM, SYNC_EVENT, SYNC_DEVICE, SYNC_COPY, SYNC_ALLOC };
const char *sync_class_name(enum sync_class c); /* "stream" "event" "device" "copy" "alloc"; "" for none */
