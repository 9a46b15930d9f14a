/* sim_cost.h - how long a modelled device works: rates of a machine over what a kernel says that it costs.
 *
 *   kernel: max(kernel_min_ns, flops / (peak of the number type * share of the family), bytes / (memory rate * share))
 *   copy:   max(kernel_min_ns, bytes / link rate), on the device read and written: 2 bytes / (memory rate * share)
 *
 * Times are ns, noise included: a kernel's time is drawn from +- the machine's jitter by a generator whose state the
 * caller keeps. The hosts of a node's ranks are not equally fast: what calls and ops cost the first is more by the share host_skew
 * for the last, and evenly between for the others. So a rank's collectives wait for the slower ones.
 */
#pragma once
#include "kernels/device/backend.h"

int64_t sim_kernel_ns(const struct device *d, const struct work *w, uint64_t *noise);
int64_t sim_copy_ns(const struct work *w, uint64_t *noise); /* WORK_COPY, WORK_SET */
int64_t sim_host_ns(int64_t ns, int rank);                  /* of a call or an op that costs the first rank's host `ns` */
double sim_eager_ops(const struct work *w);                 /* small operators that a scan would be; 0: no scan */
uint64_t sim_noise(int rank);                               /* the state to start with */
