/* fake.h - a CUDA runtime and a CUPTI that stand in for the real ones, for tests of the collector. Both are one shared object
 * with two names (libcudart.so.13, libcupti.so.13), as the collector looks for CUPTI beside the loaded runtime.
 *
 *   program --> runtime.c: streams that are busy until a time; launches, copies, waits --enter/exit--> cupti.c --> the collector
 *                                   '--------- records, with the times of the collector's clock ------>'
 *
 * Nothing is computed on a device; copies copy. FAKE_LOG names a file that gets one line per record and per call, which is what
 * a trace must hold. FAKE_FAULT is a list of words (fault()), FAKE_FAIL one of calls that fail: "cuptiSubscribe=39,...".
 */
#pragma once
#include "collector/cupti_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_CONTEXT = 1, FAKE_DEVICE = 0 };

/* ---- cupti.c, records.c ---- */
int64_t fake_now(void);            /* by the clock that the collector gave, else CLOCK_REALTIME */
bool fake_fault(const char *word); /* is it in FAKE_FAULT? */
void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint32_t fake_next_correlation(void);

struct fake_call {
    int domain;
    uint32_t cbid;
    struct cupti_call cb;
    uint64_t data;
    int64_t before;
};

/* Around every call of an API; `params` begins with the first parameter. The correlation id is in c->cb.correlation. */
void fake_enter(struct fake_call *c, int domain, const char *function, const void *params);
void fake_leave(struct fake_call *c);

/* A record of `have` bytes, in CUPTI `size`, that is whole at `due` (fake_now's time); copied. One of a kind that is not enabled goes
 * nowhere. */
void fake_record(const void *record, size_t have, size_t size, int64_t due);

/* Hands out what is due, all of it when forced (what still runs: without an end), in buffers of at most FAKE_RECORDS_PER_BUFFER. */
void fake_deliver(uint32_t forced);

/* The result that FAKE_FAIL gives the call; `n` distinguishes calls of one name ("cuptiActivityEnable:10=15"), -1 none. */
int fake_result(const char *call, int n);
#define API __attribute__((visibility("default")))
#define RETURN_IF_FAULT(call, n)                                                                                                                     \
    do {                                                                                                                                             \
        int fault_result = fake_result(call, n);                                                                                                     \
        if (fault_result != CUPTI_OK)                                                                                                                \
            return fault_result;                                                                                                                     \
    } while (0)

int fake_flushing(void); /* is somebody in a flush? -1: nobody would */

/* A node of a graph was created (CUPTI_NODE_CREATED) or cloned; a node begins with its 64-bit id. */
void fake_node(uint32_t what, void *node, void *original);

/* ---- launches.c ---- */
/* A launch through the driver, as NCCL does it: a kernel of so many blocks on a stream. Its correlation id. */
uint32_t fake_driver_launch(const char *kernel, int blocks, void *stream);
bool fake_capturing(void *stream);
