/* nccl.h - as much of NCCL's interface as the stand-in has. Buffers are not touched. */
#pragma once
#include <stddef.h>

typedef struct fake_comm *ncclComm_t;
enum { ncclFloat32 = 7, ncclBfloat16 = 9 };

int ncclCommInit(ncclComm_t *c, int ranks, int rank, const char *name);
int ncclCommDestroy(ncclComm_t c);
int ncclGetVersion(int *version); /* FAKE_NCCL_VERSION, 22809 if unset: releases since 22602 launch by id, earlier ones by first use */
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllGather(size_t count, int type, ncclComm_t c, void *stream);
int ncclReduceScatter(size_t count, int type, ncclComm_t c, void *stream);
int ncclAllReduce(size_t count, int type, ncclComm_t c, void *stream);
int ncclSend(size_t count, int type, int peer, ncclComm_t c, void *stream);
int ncclRecv(size_t count, int type, int peer, ncclComm_t c, void *stream);
/* Calls of the plug-in that come when they should not: stops after the end, twice, of handles that never were. */
int ncclLateCalls(ncclComm_t c);
