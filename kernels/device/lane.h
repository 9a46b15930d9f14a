/* lane.h - a stream of a modelled device: when its works end.
 *
 *   works    | 0 | 1 | 2 | comm 3 |  4  |  5  | comm 6 | ...      a ring of the depth of a hardware queue
 *            '-- ends known -'  '---- ends follow from the peers of 3 and 6 ----'
 *
 * The host runs ahead of a collective whose peers have not come, as on a real machine: works behind it are kept as times at
 * which they are ready and how long they take, and get their ends when the collective has its own. So a rank gives way only
 * where its host must know an end: in a wait, or when the ring is full. A collective's turn comes when the works before it
 * have ended; what happens in its turn is up to the communicator (comm_sim.c), which says when it ends.
 *
 * Times are virtual ns.
 */
#pragma once
#include "kernels/device/device.h"

struct lane;

struct lane *lane_open(int64_t depth, int64_t clock); /* nothing ends before `clock`; NULL: out of memory */
void lane_close(struct lane *l);                      /* settled */

/* How long the host must wait for room: until the oldest work of a full ring has ended, else 0. May give way. */
int64_t lane_room(struct lane *l);
/* A work that takes `ns`, from `ready` on or from the end of the one before it. There is room. */
void lane_push(struct lane *l, int64_t ready, int64_t ns);
/* A collective: run(args) is called in its turn, args copied (size <= COMM_ARGS_MAX), by whichever rank brings that about. It must not give way. args
 * are its own until lane_comm_end(). False: out of memory. */
bool lane_push_comm(struct lane *l, int64_t ready, void (*run)(void *args), const void *args, size_t size);
/* Gives way until all ends are known. */
void lane_settle(struct lane *l);
/* When all works end; settled. */
int64_t lane_end(const struct lane *l);

/* Of the collective whose turn it is or was last: when it started; and that it ends. lane_move() is to follow. */
int64_t lane_comm_start(const struct lane *l);
void lane_comm_end(struct lane *l, int64_t end);
/* Lanes whose collectives have got an end go on, and those whose turns that brings about, and so on. Does nothing inside a run(). */
void lane_move(void);
