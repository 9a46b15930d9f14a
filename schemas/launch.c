/* launch.c - environment variables of the launchers, the more specific ones first. */
#include "schemas/launch.h"
#include "schemas/opt.h"

#include <stdlib.h>

static const struct {
    const char *rank, *local_rank, *world;
} launchers[] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"}, /* torchrun and the frameworks */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
};

static int32_t number(const char *variable)
{
    const char *s = getenv(variable);
    int64_t v;
    return s && opt_int(s, &v) && v >= 0 && v < INT32_MAX ? (int32_t)v : -1;
}

struct launch launch_env(void)
{
    struct launch l = {-1, -1, -1};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && l.rank < 0; i++)
        l = (struct launch){number(launchers[i].rank), number(launchers[i].local_rank), number(launchers[i].world)};
    return l.rank < 0 ? (struct launch){-1, -1, -1} : l;
}
