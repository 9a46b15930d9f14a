/* links.c - see links.h. */
#include "kernels/comm/links.h"
#include "kernels/device/sim.h"

#include <math.h>

struct link {
    double gbps, start_ns, hop_ns;
};

static int64_t node_of(struct comm_part p, int number)
{
    return (p.first + (int64_t)number * p.stride) / sim_machine()->gpus_per_node;
}

/* How many of the ranks share a node with any one of them, itself too. */
static int neighbours(struct comm_part p)
{
    int64_t here = (sim_machine()->gpus_per_node + p.stride - 1) / p.stride;
    return node_of(p, 0) == node_of(p, p.size - 1) || here > p.size ? p.size : (int)here;
}

/* The slowest link that the ranks of a group need. */
static struct link link_of(struct comm_part p)
{
    const struct machine *m = sim_machine();
    return neighbours(p) == p.size ? (struct link){m->nvlink_gbps, m->nvlink_start_ns, m->nvlink_hop_ns}
                                   : (struct link){m->ib_gbps, m->ib_start_ns, m->ib_hop_ns};
}

/* All-to-all: what goes to ranks of the own node and what leaves it go at once. */
double links_exchange_ns(struct comm_part p, double bytes)
{
    const struct machine *m = sim_machine();
    struct link l = link_of(p);
    double outside = (double)(p.size - neighbours(p)) / (p.size - 1);
    double wire = fmax(bytes * (1 - outside) / m->nvlink_gbps, bytes * outside / m->ib_gbps);
    return l.start_ns + l.hop_ns * log2(p.size) + wire;
}

/* Every rank gets `bytes` from each other one, in a ring, or over a tree where that is sooner. */
double links_gather_ns(struct comm_part p, double bytes)
{
    struct link l = link_of(p);
    return l.start_ns + fmin(l.hop_ns * (p.size - 1), 4 * l.hop_ns * log2(p.size)) + bytes * (p.size - 1) / l.gbps;
}

double links_message_ns(struct comm_part p, int from, int to, double bytes)
{
    const struct machine *m = sim_machine();
    bool far = node_of(p, from) != node_of(p, to);
    return (far ? m->ib_start_ns : m->nvlink_start_ns) + bytes / (far ? m->ib_gbps : m->nvlink_gbps);
}
