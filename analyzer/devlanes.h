/* devlanes.h - which lanes of a Chrome trace are a device's, told by the names of processes and threads.
 *
 *   process "/device:TPU:0"    thread "XLA Ops"    work       the process says which device, and the thread whether
 *                              thread "Steps"      a note     its rows are work: streams, where any is named so; else
 *   process "GPU 1"            thread 7            work       the operators of XLA; else all but what only annotates
 */
#pragma once
#include "analyzer/idmap.h"

#include <stdbool.h>

enum lane_kind { LANE_HOST, LANE_CALLS, LANE_NOTES, LANE_DEVICE };

struct devlanes { /* zeroed: nothing named yet */
    struct idmap processes, threads, holds;
    bool hip, devices;
};

struct devlane {
    enum lane_kind kind;
    int32_t device; /* of LANE_NOTES and LANE_DEVICE */
};

/* A process_name row, a thread_name row; `lane` is openrows_lane(pid, tid), s[0 .. n-1] the name. */
void devlanes_process(struct devlanes *x, int64_t pid, const char *s, size_t n);
void devlanes_thread(struct devlanes *x, int64_t pid, int64_t lane, const char *s, size_t n);

/* A process that is called by a text instead of a number; what a process_name row says stands above it. */
void devlanes_called(struct devlanes *x, int64_t pid, const char *s, size_t n);

struct devlane devlanes_find(const struct devlanes *x, int64_t pid, int64_t lane);
void devlanes_free(struct devlanes *x);
