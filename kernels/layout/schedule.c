/* schedule.c - modular arithmetic on ranks. */
#include "kernels/layout/schedule.h"

#include <inttypes.h>

static int modulo(int x, int n)
{
    return ((x % n) + n) % n;
}

int ring_owner(int n, int window, int rank, int k)
{
    int w = modulo(rank / window - k / window, n / window);
    return w * window + modulo(rank - k % window, window);
}

int ring_holder(int n, int window, int owner, int k)
{
    int w = modulo(owner / window + k / window, n / window);
    return w * window + modulo(owner + k % window, window);
}

int ring_neighbour(int n, int window, int rank, bool across, int steps)
{
    return across ? modulo(rank + steps * window, n) : rank / window * window + modulo(rank + steps, window);
}

int usp_group_rank(int ulysses, int group, int i)
{
    return group * ulysses + i;
}

int usp_ring_rank(int ulysses, int group, int i)
{
    return i * ulysses + group;
}

int64_t *usp_shard_rows(struct arena *a, int64_t T, int ulysses, int ring, int rank, struct err *e)
{
    if (ulysses < 1 || ring < 1 || rank < 0 || rank >= ulysses * ring || T % (2 * ring) || T % ((int64_t)ulysses * ring)) {
        fail(e, ERR_USAGE, "%" PRId64 " tokens, Ulysses groups of %d, rings of %d, rank %d: do not fit together", T, ulysses, ring, rank);
        return NULL;
    }
    int64_t chunk = T / (2 * ring), rows = T / ((int64_t)ulysses * ring), g = rank / ulysses, first = rank % ulysses * rows;
    int64_t *out = arena_array(a, int64_t, rows);
    for (int64_t i = 0; i < rows; i++) {
        int64_t at = first + i; /* in the ring's shard */
        out[i] = at < chunk ? g * chunk + at : (2 * ring - 1 - g) * chunk + at - chunk;
    }
    return out;
}

int prefix_rounds(int n)
{
    int rounds = 0;
    while ((1 << rounds) < n)
        rounds++;
    return rounds;
}
