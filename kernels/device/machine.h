/* machine.h - what a modelled machine costs: the constants of the sim device and its communicator, from a machine file.
 *
 * A machine file (kernels/machines/NAME) has a line `key = value` for each constant below, by the field's name; # starts
 * a comment. Times are ns, rates as named. All of it is a model: nothing here was measured by this program.
 *
 *   an op:   host   |launch_ns + host cost of the framework|
 *            stream      ...launch_latency_ns| max(kernel_min_ns, flops / rate, bytes / rate) |
 *   a wait:  host   |------ until the stream has drained ------| sync_ns |
 */
#pragma once
#include "schemas/err.h"
#include "schemas/keyvalue.h"

#include <stddef.h>
#include <stdint.h>

struct machine {
    char name[64];
    int64_t gpus_per_node;
    /* rates at their best, and the share of them that kernels of a family reach */
    double peak_fp32_tflops, peak_bf16_tflops, peak_fp16_tflops, memory_gbps;
    double gemm_share, attention_share, scan_share, memory_share;
    /* the host, in ns: of its own API calls, of an op and of a collective under --host-cost framework */
    double eager_chunk_ops; /* small operators of one chunk of a scan where it is a loop of them (--host-cost eager) */
    double launch_ns, framework_op_ns, framework_comm_ns, sync_ns, copy_ns, host_link_gbps;
    double framework_nograd_share; /* of these of the framework, where it keeps nothing for a backward: the forward before a recompute */
    double framework_layer_ns;     /* of a layer's pass, forward or backward, beyond its ops: modules, launchers, all that is Python */
    double framework_slowdown;     /* by which a profiler with stacks makes ops, layers and what lies between steps dearer; 1 none */
    double framework_step_ns;      /* of a training step outside its micro-batches: data, clipping, logging; with --host-cost framework */
    int64_t queue_depth;           /* launches that the host may be ahead of a stream */
    /* the stream, in ns */
    double launch_latency_ns, kernel_min_ns;
    /* links, each way: within a node, between nodes; ns before the first byte, and of every further hop of a ring */
    double nvlink_gbps, nvlink_start_ns, nvlink_hop_ns, ib_gbps, ib_start_ns, ib_hop_ns;
    /* noise: a kernel's time is drawn from +- this share of it; 0 off */
    double jitter;
    int64_t jitter_seed;
    double host_skew; /* the share by which the host of a node's last rank is slower than the first's, see sim_cost.h; 0: all are alike */
};

/* A shipped machine by name, or a file. ERR_USAGE when it is neither, and with file:line when a key is unknown, given twice or
 * missing, or its value is not a number in its range; ERR_FAIL when the file cannot be read. */
bool machine_load(struct machine *m, const char *name_or_file, struct err *e);
/* The same from text; `from` is what messages call it. */
bool machine_parse(struct machine *m, const char *text, const char *from, struct err *e);

/* One constant by its name, for calibration: NULL when there is none of that name or it is not a real number. */
double *machine_constant(struct machine *m, const char *name);
/* Sets one to the value, or to the end of its range that is nearest. */
void machine_set(struct machine *m, const char *name, double value);
/* The constants by number, whole ones too: name, NULL past the last; and value. */
const char *machine_key(size_t i);
double machine_value(const struct machine *m, const char *name);
/* The text of a machine file with these constants; malloc'ed. */
char *machine_text(const struct machine *m);

/* Machines that the program carries: name and text of each file under kernels/machines; ends with a NULL name. */
extern const struct keyvalue_text machine_files[];
