/* waits.h - the two ledgers of host-device syncs, and what a wait costs.
 *
 *   host     |--launch--| |------ blocking call ------|        |--launch--|
 *   device      |### work ###########|  (idle)            (idle) ...|### next work of that thread
 *                        blocked:     |---------------|
 *                        stall:              |-- idle -|   blocked and the device idle: a lower bound
 *                        bubble:      drain |------------------------| next: idle only, an upper bound
 *
 * wait ledger: outermost host-blocking API calls, told by API and memory kind, never by how long they took.
 * op ledger: framework operators that read back (item, is_nonzero, nonzero, boolean index), each counted.
 */
#pragma once
#include "analyzer/sites.h"
#include "schemas/waitapi.h"

struct wait {
    uint32_t event;                          /* number in the file's d.ev */
    uint32_t api;                            /* id in waits.names: without a _vNNNN suffix */
    uint32_t site;                           /* id in waits.names */
    uint32_t rank;                           /* entry of trace.ranks */
    int8_t class;                            /* enum sync_class; op ledger: enum op_class */
    int8_t did_block;                        /* 1, 0; -1 not known */
    bool outside;                            /* touches no window; only from waits_find_all() */
    bool has_device;                         /* a device's rows are there: stall and bubble mean something */
    int64_t blocked_ns, stall_ns, bubble_ns; /* clipped to the rank's window; op ledger: self time */
    uint32_t lane;                           /* wait ledger: entry of trace.lanes that the bubble is on */
    int64_t bubble_start, bubble_end;        /* the stretch whose idle time bubble_ns is; bubbles of a lane do not overlap; equal: none */
};

enum op_class { OP_NONE, OP_ITEM, OP_IS_NONZERO, OP_NONZERO };
const char *op_class_name(enum op_class c);

struct waits {
    struct wait *v; /* by rank, thread, start */
    size_t n;
    struct intern names;
    bool recorded; /* some file records such calls: none found means none there */
};

void waits_find(const struct trace *t, enum site_by by, struct waits *w); /* wait ledger */
/* With the calls outside the window, which cost nothing. launched: by file, what launches_find() says of it, in `a`. */
void waits_find_all(const struct trace *t, enum site_by by, struct waits *w, uint32_t **launched, struct arena *a);
void waits_find_ops(const struct trace *t, enum site_by by, struct waits *w); /* op ledger */
void waits_free(struct waits *w);

/* Fills in stall_ns, bubble_ns, did_block (where the recording does not say) and has_device of the waits v[0 .. n-1] of
 * one rank, which are by thread and start. launched: from launches_find() of the rank's file. */
void waits_cost(const struct trace *t, uint32_t rank, const uint32_t *launched, struct wait *v, size_t n);
