/* stack.h - call stacks of host waits, taken by the waiting thread where its call ends: each distinct stack once.
 *
 *   stack_capture() -> frames of the thread: native return addresses, and the lines of its Python interpreter in between
 *                   -> hash -> known: its number;   new: defined in the ring file, so that it outlives a kill
 *   recorder_emit_as(.stack = number) -> writer -> names of functions -> tables stack and frame, ev_sync.stack
 *
 * A source asks stack_due() with the time that the call took, so that cheap calls cost a load and a compare:
 *     as.stack = stack_due(end - start) ? stack_capture(r) : 0;
 */
#pragma once
#include "collector/recorder.h"

/* Before the first capture: what the options say (options.h). Once per process; without it no stack is due. */
void stack_start(struct recorder *r);

/* Is the stack of a call that took `ns` wanted? Any thread. */
bool stack_due(int64_t ns);

/* The number of the calling thread's stack, its innermost frame the caller of this function; 0: none could be taken.
 * Takes no lock that the program can hold, does not touch Python's lock, keeps errno; a stack seen before allocates nothing. */
uint32_t stack_capture(struct recorder *r);

void stack_forked(struct recorder *r); /* in a forked child */

/* Forgets all stacks, so that another recorder can be used: only where no thread can capture any more (tests). */
void stack_end(void);
