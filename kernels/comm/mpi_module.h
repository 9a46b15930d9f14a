/* mpi_module.h - what the module comm_mpi.so offers to the program, which itself knows nothing of MPI.
 *
 *   cpbench: comm_mpi.c (loader, streams) ---dlopen---> lib/cpscope/comm_mpi.so: mpi/module.c ---> libmpi
 *
 * Nothing of the program is called from the module. Transfers may be made by several threads at once, on one handle by one
 * at a time; each returns when the rank's own part is done, and leaves early, false, once *broken is set.
 */
#pragma once
#include "kernels/comm/backend.h"

#define MPI_MODULE_SYMBOL "cpbench_comm_mpi"

struct mpi_handle; /* this rank's end of one group */

struct mpi_module {
    const char *version; /* of the program that it was built with */
    /* Starts MPI, once in a process. NULL, or what is wrong: static. */
    const char *(*start)(int *rank, int *size);
    void (*stop)(void); /* collective; frees all handles */
    /* A group of the ranks of `part`. Collective over all ranks of the program. NULL: out of memory, or broken meanwhile. Lives until
     * stop(). */
    struct mpi_handle *(*open)(const atomic_bool *broken, struct comm_part part);
    bool (*transfer)(struct mpi_handle *h, const struct collective *x);
    bool (*barrier)(struct mpi_handle *h);
};
