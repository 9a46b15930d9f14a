/* cupti_calls.h - API calls of the host, as CUPTI calls back at their start and end, on the calling thread.
 *
 *   cudaMemcpyAsync(            id 17   start --.
 *       cuMemcpyHtoDAsync(      id 18 -> 17     |   inner calls only say which id stands for the outer one
 *       )                                       |
 *   )                                   end ----'   one row, with the stack when it took long
 *
 * A call whose class depends on the memory that it copies (wait_class) waits for its copy's record, where the class matters here: it
 * has a stack, or only calls that wait are recorded.
 */
#pragma once
#include "collector/cupti_bind.h"
#include "collector/recorder.h"

struct calls_want {
    bool rows;     /* every call of interest, not the host's waits alone */
    bool launches; /* which launch a kernel came from */
};

struct calls_failed {
    const char *call; /* of CUPTI */
    int result;
};

/* Looks the calls up and asks for their callbacks. false: *failed is the first that failed. */
bool calls_start(struct recorder *r, const struct cupti *c, void *subscriber, struct calls_want want, struct calls_failed *failed);

/* An API callback, of any thread. */
void calls_back(int domain, uint32_t cbid, const struct cupti_call *call);

/* From the parser: call `id` copied from or to that memory. */
void calls_copied(uint32_t id, bool pageable);

/* At the end: calls whose copy was never seen are emitted without class; how many. */
int64_t calls_rest(void);
void calls_forked(void);
