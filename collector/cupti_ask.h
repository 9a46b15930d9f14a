/* cupti_ask.h - which records CUPTI is asked for, with which clock, into whose buffers; and what is said of those it refuses. */
#pragma once
#include "collector/cupti_bind.h"
#include "collector/options.h"
#include "collector/recorder.h"

/* Attributes, our clock (before any kind), buffers, kinds. What cannot be had is said and keeps nothing else away. true: CUPTI's
 * times are those of clock_now(). */
bool cupti_ask(const struct cupti *c, struct recorder *r, const struct record_options *o);

/* `what` is missing, for the call has failed: goes to the trace, with what is to be done. */
void cupti_missing(const struct cupti *c, struct recorder *r, const char *what, const char *call, int result);
