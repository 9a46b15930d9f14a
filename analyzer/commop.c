/* commop.c - names of collectives.
 *
 * Letters only, lower case, are compared: "ncclDevKernel_AllReduce_Sum" holds "allreduce". Longer words stand first.
 */
#include "analyzer/commop.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *word, *op;
} ops[] = {
    {"alltoallv", "all_to_all_v"},
    {"alltoall", "all_to_all"},
    {"allreduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"broadcast", "broadcast"},
    {"sendrecv", "send_recv"},
    {"collectivepermute", "send_recv"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"barrier", "barrier"},
    {"reduce", "reduce"},
    {"send", "send"},
    {"recv", "recv"},
};

const char *commop_of(const char *name)
{
    char letters[128];
    size_t n = 0;
    for (; *name && n < sizeof letters - 1; name++)
        if (isalpha((unsigned char)*name))
            letters[n++] = (char)tolower((unsigned char)*name);
    letters[n] = '\0';
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strstr(letters, ops[i].word))
            return ops[i].op;
    return NULL;
}

double commop_bus_factor(const char *op, int n)
{
    static const char *const shared[] = {"all_gather", "reduce_scatter", "all_to_all", "all_to_all_v"};
    static const char *const whole[] = {"broadcast", "reduce", "send_recv", "send", "recv"};
    if (n < 2)
        return 0;
    if (strcmp(op, "all_reduce") == 0)
        return 2.0 * (n - 1) / n;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strcmp(op, shared[i]) == 0)
            return (double)(n - 1) / n;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(op, whole[i]) == 0)
            return 1;
    return 0;
}
