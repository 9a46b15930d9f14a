/* nvtx.h - our ranges for other tools: the same ranges and marks as NVTX in domain "cpscope", where the build machine had
 * the NVTX headers and a tool listens. Our own recorder has them through the activity callback and skips this domain. */
#pragma once
#include <stdint.h>

void nvtx_push(const char *name, int64_t index); /* index -1: none, else "name#index" */
void nvtx_pop(void);
void nvtx_mark(const char *text);
