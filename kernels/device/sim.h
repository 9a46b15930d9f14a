/* sim.h - the sim device as its communicator sees it: the clocks of a rank, and the machine that all ranks are modelled on.
 *
 * One process models one machine. Ranks run one at a time (fiber.h), so nothing here is locked.
 */
#pragma once
#include "kernels/device/device.h"
#include "kernels/device/machine.h"

/* The machine of all sim devices opened from now on; copied. The first shipped one when never called. */
void sim_use_machine(const struct machine *m);
const struct machine *sim_machine(void);

/* The open sim device of a rank. */
struct device *sim_device(int rank);

/* The host's clock of a rank's device, in virtual ns since the devices were opened, and setting it forward. */
int64_t sim_host_clock(const struct device *d);
void sim_host_until(struct device *d, int64_t clock);

/* A collective's turn in its stream (the `run` of dev_enqueue_comm, which must not give way): when it started, and saying when
 * it ends, then or in another one's turn. Its arguments stay until then. */
int64_t sim_comm_start(const struct stream *s);
void sim_comm_end(struct stream *s, int64_t end);
/* To be called after ends that were given outside of any turn: what follows from them. */
void sim_comm_ended(void);
