/* mailbox.h - where one thread shows another what it may read: a box per ordered pair, one message at a time.
 *
 *   sender    EMPTY -> FULL  (mail_post)  ... until EMPTY again (mail_wait)
 *   receiver           FULL -> TAKING, reads the sender's buffer, -> EMPTY  (mail_take)
 *
 * Waiting is sleeping. A box can be broken for good: then nobody takes a message any more and nobody waits for one to be
 * taken, but a receiver that has begun to read still ends before its sender goes on.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mailbox {
    _Atomic uint32_t state; /* sleepers sleep on it */
    const void *data;       /* the sender's, while FULL or TAKING */
};

void mail_post(struct mailbox *box, const void *data);
/* Returns when the message has been taken; at once when the box is broken. The buffer is the sender's own again. */
void mail_wait(struct mailbox *box);
/* Waits for the message and begins to take it: the buffer may be read until mail_taken(). NULL: the box is broken. */
const void *mail_take(struct mailbox *box);
void mail_taken(struct mailbox *box);
void mail_break(struct mailbox *box); /* any thread, more than once */
