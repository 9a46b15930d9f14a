/* idle.h - why a device did nothing: each idle ns of a lane under exactly one cause.
 *
 *   host    |- sync -|      |-- op: launch --|              |-- op: launch --|    wait for an event of stream 2
 *   device  ####|     bubble          |####|  launch: late and on its way |####|      event      |####
 *
 * In this order: inside a bubble (waits.h), or while the thread that launches the next work is blocked: sync, with the
 * call site. Launched already, and its stream had been told to wait for an event: event. The launching thread inside a
 * recorded row, or between two of its rows that lie at most IDLE_UNTRACED apart: launch, with the operator, else the
 * range. No work comes any more, or the thread is in nothing that the trace shows: none.
 */
#pragma once
#include "analyzer/trace.h"

enum idle_cause { IDLE_UNKNOWN, IDLE_SYNC, IDLE_LAUNCH, IDLE_EVENT, IDLE_NONE };
const char *idle_cause_name(enum idle_cause c); /* NULL for unknown: no host row of the rank is in the trace */

enum { IDLE_UNTRACED = 1000000 }; /* ns; programs run some code between their recorded rows */

struct idle_piece {
    int64_t start, end;
    uint32_t lane, gap; /* gap: number of the device gap it is a part of, within its lane */
    uint32_t site;      /* id in names; 0: none */
    uint32_t cause;     /* enum idle_cause */
};

struct idles {
    struct idle_piece *v; /* by lane, start; together the idle time of each lane, nothing twice */
    size_t n;
    struct intern names;
};

void idles_find(const struct trace *t, struct idles *out);
void idles_free(struct idles *x);
