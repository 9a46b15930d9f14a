/* gate.h - where all ranks of a group meet, again and again; one that waits sleeps. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* `state` counts arrivals since the start; its lowest bit says broken, and then it
 * counts no further, so every rank comes to the same answer from one look at it. */
struct gate {
    _Atomic uint64_t state;
    _Atomic uint32_t moved; /* what sleepers sleep on */
};

/* True when all `size` ranks have come; false when the gate was broken before that, on every rank that had come or comes. */
bool gate_pass(struct gate *g, int size);
void gate_break(struct gate *g); /* for good; any thread, more than once */
