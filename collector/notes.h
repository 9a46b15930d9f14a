/* notes.h - what sources tell about the recording itself, on its way to the writer: losses by reason, readings of clocks.
 *
 * Both are bounded: a reason is one row whatever it counts, and after each CLOCKS_STRIDE readings of clocks only every other
 * one is taken, so that a day of one a second leaves some 2,000 of them.
 */
#pragma once
#include "schemas/tracedata.h"

enum { LOSSES_MAX = 64, CLOCKS_STRIDE = 256, CLOCKS_WAITING = 64 };

struct notes {
    struct note_loss {
        const char *reason;
        int64_t count, start, end;
    } losses[LOSSES_MAX];
    struct note_clock {
        const char *clock;
        int64_t reading[3];
    } clocks[CLOCKS_WAITING]; /* not yet fed */
    size_t nlosses, nclocks;
    int64_t readings, taken, every; /* seen, taken; one in every+1 is taken */
};

/* Texts are static; times absolute ns of clock_now(). */
void notes_lost(struct notes *n, const char *reason, int64_t count, int64_t start, int64_t end);
void notes_clock(struct notes *n, const char *clock, const int64_t reading[3]);

/* Puts the losses as they are now and the readings not yet fed into *d. */
void notes_feed(struct notes *n, struct tracedata *d);
