/* waitapi.h - which API calls block the host: the one list, for those who record and those who analyze.
 *
 * By name and memory kind, never by duration. cudaStreamWaitEvent makes the device wait, not the host; queries poll.
 */
#pragma once
#include "schemas/event.h"

#include <stdbool.h>
#include <stddef.h>

/* The blocking class of a host call's name and of the memory it touches. SYNC_NONE: does not block the host. `pageable`: the
 * copy it started touches pageable host memory. */
enum sync_class wait_class(const char *api, bool pageable);

/* The API's own name in a row's name, *n characters: without a "AscendCL@" before and behind it a _vNNNN and the _ptsz or _ptds
 * of programs with a default stream per thread. */
const char *wait_api(const char *name, size_t *n);
