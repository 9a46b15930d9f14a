/* nccl_module.h - what the module comm_nccl.so offers to the program, which itself knows nothing of NCCL.
 *
 *   cpbench: comm_nccl.c (groups, ids) ---dlopen---> lib/cpscope/comm_nccl.so: nccl/module.c ---> libnccl
 *
 * Nothing of the program is called from the module. Functions that give `const char *` give NULL, or what went wrong: valid
 * until the thread's next call. A handle is used by its rank's host thread, whose device (cuda_module.h) is the current one;
 * only abort() may come from anywhere.
 */
#pragma once
#include "kernels/comm/backend.h"

#define NCCL_MODULE_SYMBOL "cpbench_comm_nccl"

enum { NCCL_ID_BYTES = 128 };

struct nccl_id {
    unsigned char bytes[NCCL_ID_BYTES];
};

struct nccl_handle; /* a rank's end of a group */

struct nccl_module {
    const char *version;                   /* of the program that it was built with */
    const char *(*id)(struct nccl_id *id); /* of a group to be: made by one of its ranks, who tells the others */
    /* Collective over the group, whose name NCCL gets too. */
    const char *(*open)(const struct nccl_id *id, int size, int rank, const char *group, struct nccl_handle **h);
    void (*close)(struct nccl_handle *h); /* what is enqueued still runs; collective */
    void (*abort)(struct nccl_handle *h); /* what waits ends; the handle then is only closed */
    /* Enqueues on a cudaStream_t. */
    const char *(*transfer)(struct nccl_handle *h, void *stream, const struct collective *x);
    const char *(*barrier)(struct nccl_handle *h); /* of the host threads */
};
