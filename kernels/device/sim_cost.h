/* sim_cost.h - how long a modelled device works: rates of a machine over what a kernel says that it costs.
 *
 *   kernel: max(kernel_min_ns, flops / (peak of the number type * share of the family), bytes / (memory rate * share))
 *   copy:   max(kernel_min_ns, bytes / link rate), on the device read and written: 2 bytes / (memory rate * share)
 *
 * Times are ns, noise included: a kernel's time is drawn from +- the machine's jitter by a generator whose state the
 * caller keeps. Of what the host's calls and ops take, the share host_jitter is drawn anew each time, from an exponential
 * distribution of the same mean: most are short, few are long, and ranks drift apart.
 */
#pragma once
#include "kernels/device/backend.h"

int64_t sim_kernel_ns(const struct device *d, const struct work *w, uint64_t *noise);
int64_t sim_copy_ns(const struct work *w, uint64_t *noise); /* WORK_COPY, WORK_SET */
int64_t sim_host_ns(int64_t ns, uint64_t *noise);           /* of a call or an op that costs the host `ns` on average */
double sim_eager_ops(const struct work *w);                 /* small operators that a scan would be; 0: no scan */
uint64_t sim_noise(int rank);                               /* the state to start with */
