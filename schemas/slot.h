/* slot.h - an event between the thread that had it and the trace file; how it stands in a ring: packed.h. */
#pragma once
#include "schemas/activity.h"
#include "schemas/tracedata.h"

/* What an event of its kind says beyond struct activity. Texts stay as they are until the recording ends. */
union emit_more {
    struct ev_kernel kernel; /* EV_KERNEL */
    struct ev_copy copy;     /* EV_MEMCPY, EV_MEMSET; the activity's copy_kind is not looked at */
    struct ev_sync sync;     /* EV_SYNC, EV_RUNTIME; the activity's sync_class, did_block and stream are not looked at */
    struct {
        const char *dtype;     /* NULL: not known */
        int64_t message_bytes; /* -1: not known */
    } comm;                    /* EV_COMM */
};

/* A report about another thread, a range of another flavour (enum range_flavour), or one with more to say. */
struct emit_as {
    int32_t tid; /* 0: the calling thread */
    int32_t flavour;
    const union emit_more *more; /* copied; NULL: nothing more */
    uint32_t stack;              /* of a host wait: from stack_capture() (collector/stack.h); 0: none */
};

struct slot {
    int64_t start, end, correlation, bytes, sequence;
    const char *name, *text, *group, *function;
    const struct site *site;
    int32_t rank, device, stream, peer, group_size;
    int32_t tid;    /* of the thread that the event belongs to */
    uint32_t stack; /* number of a stack (ringfile.h); 0 none */
    uint8_t what, kind, sync_class, copy_kind, flavour;
    int8_t did_block;
    bool transient;
    bool heap; /* name and text are one malloc'ed piece, at the first of them: too long for a chunk */
    bool more; /* `beyond` says something */
    union emit_more beyond;
};

static inline const union emit_more *slot_more(const struct slot *s)
{
    return s->more ? &s->beyond : NULL;
}
