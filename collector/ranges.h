/* ranges.h - ranges that are open: a stack per thread, shared by the sources that push and pop.
 *
 * An owner (an NVTX domain, our own C API) pops only what it pushed. A range is emitted when it ends; what is open when its
 * thread ends, or at the end of the recording, ends there, and that is said.
 */
#pragma once
#include "collector/recorder.h"

/* `name` and `domain` are kept texts (text.h). The depth of the new range in its owner's stack, from 0; negative: not kept
 * (out of memory, or called from a signal handler inside another call). */
int ranges_push(struct recorder *r, const void *owner, const char *domain, const char *name);

/* Ends the innermost range of the owner; the depth it had, negative when there is none. */
int ranges_pop(struct recorder *r, const void *owner);

/* How many bytes the owner's innermost range of the calling thread is about. */
void ranges_bytes(const void *owner, int64_t bytes);

/* The name of the calling thread's innermost open range; NULL: none. */
const char *ranges_innermost(void);

/* Ends every open range of every thread, now. Callable more than once. */
void ranges_end(struct recorder *r);

void ranges_forked(void); /* in a forked child: the open ranges are the parent's */
