/* ranges.h - the NVTX ranges of the stand-in for NCCL, where NVTX has payloads and FAKE_NCCL_RANGES is set. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Around a call of the interface: its name without "nccl"; one with a payload has bytes, and a peer unless that is negative. */
void ranges_call(const char *function);
void ranges_operation(const char *function, uint64_t comm, size_t bytes, int peer);
void ranges_end(void);
void ranges_end_made(uint64_t comm, int ranks, int rank); /* of the call that made a communicator */
