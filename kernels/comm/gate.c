/* gate.c - see gate.h. */
#include "kernels/comm/gate.h"
#include "kernels/device/park.h"

enum { GATE_BROKEN = 1, GATE_ARRIVAL = 2 };

static void gate_wake(struct gate *g)
{
    atomic_fetch_add(&g->moved, 1);
    futex_wake(&g->moved, INT_MAX);
}

bool gate_pass(struct gate *g, int size)
{
    uint64_t state = atomic_load(&g->state);
    do {
        if (state & GATE_BROKEN)
            return false;
    } while (!atomic_compare_exchange_weak(&g->state, &state, state + GATE_ARRIVAL));
    uint64_t before = state / GATE_ARRIVAL, all = (before / (uint64_t)size + 1) * (uint64_t)size;
    if (before + 1 == all) {
        gate_wake(g);
        return true;
    }
    for (;;) {
        uint32_t moved = atomic_load(&g->moved);
        state = atomic_load(&g->state);
        if (state / GATE_ARRIVAL >= all || state & GATE_BROKEN)
            return state / GATE_ARRIVAL >= all;
        futex_wait(&g->moved, moved);
    }
}

void gate_break(struct gate *g)
{
    atomic_fetch_or(&g->state, GATE_BROKEN);
    gate_wake(g);
}
