/* mailbox.c - the states of a box in one word; its bit BROKEN is set once and stays. */
#include "kernels/comm/mailbox.h"
#include "kernels/device/park.h"

#include <stddef.h>

enum { EMPTY, FULL, TAKING, PHASE = 3, BROKEN = 4 };

/* From phase to phase, BROKEN as it is; false when the box was in another phase. */
static bool move(struct mailbox *box, uint32_t from, uint32_t to)
{
    uint32_t state = atomic_load(&box->state);
    while ((state & PHASE) == from)
        if (atomic_compare_exchange_weak(&box->state, &state, (state & ~(uint32_t)PHASE) | to)) {
            futex_wake(&box->state, INT_MAX);
            return true;
        }
    return false;
}

void mail_post(struct mailbox *box, const void *data)
{
    box->data = data;
    move(box, EMPTY, FULL);
}

void mail_wait(struct mailbox *box)
{
    for (;;) {
        uint32_t state = atomic_load(&box->state);
        if ((state & PHASE) == EMPTY || (state == (FULL | BROKEN) && move(box, FULL, EMPTY)))
            return;
        if (state != (FULL | BROKEN))
            futex_wait(&box->state, state);
    }
}

const void *mail_take(struct mailbox *box)
{
    for (;;) {
        uint32_t state = atomic_load(&box->state), full = FULL;
        if (state & BROKEN)
            return NULL;
        if (state == FULL && atomic_compare_exchange_strong(&box->state, &full, TAKING))
            return box->data;
        if (state != FULL)
            futex_wait(&box->state, state);
    }
}

void mail_taken(struct mailbox *box)
{
    move(box, TAKING, EMPTY);
}

void mail_break(struct mailbox *box)
{
    atomic_fetch_or(&box->state, BROKEN);
    futex_wake(&box->state, INT_MAX);
}
