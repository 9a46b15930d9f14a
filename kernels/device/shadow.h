/* shadow.h - a GPU's kernels held against the CPU's, launch by launch, whatever the mode that launches them.
 *
 *   arguments --words that are addresses of blocks--> the blocks, copied to the host
 *      GPU: the launch on the blocks            -> blocks after
 *      CPU: the kernel's body on the copies     -> copies after        compared where either has changed something
 *
 * What a kernel leaves in a block counts when somebody uses the block again; a block that is freed before was scratch.
 * Words are compared as bits, then as floats or doubles, whichever fits better: integers that differ fit neither.
 * Or, instead of comparing, every launch is waited for and timed. Results are kept by kernel, over all devices.
 */
#pragma once
#include "kernels/device/backend.h"
#include "kernels/device/blocks.h"

enum shadow_what { SHADOW_OFF, SHADOW_COMPARE, SHADOW_TIME };
void shadow_start(enum shadow_what what); /* before devices are opened */
enum shadow_what shadow_now(void);

struct shadow_row {
    const char *kernel;
    int64_t launches, compared; /* compared: blocks */
    double rel_l2, max_abs;     /* the worst block's */
    int64_t ns;
    double flops, bytes;
};
/* The rows so far, by name; their number. */
size_t shadow_rows(struct shadow_row *rows, size_t most);

/* For a backend. download() copies `bytes` of device memory, all work before done. */
struct shadow;
typedef void shadow_download(struct device *d, void *host, const void *block, size_t bytes);
struct shadow *shadow_open(struct device *d, const struct blocks *blocks, shadow_download *download); /* NULL: out of memory */
void shadow_close(struct shadow *x);
void shadow_before(struct shadow *x, const struct kernel *k, const void *args, size_t size);
void shadow_after(struct shadow *x, const struct kernel *k, const void *args, size_t size);
/* Other work that names blocks: the arguments of a collective, the addresses of a copy. */
void shadow_used(struct shadow *x, const void *args, size_t size);
void shadow_freed(struct shadow *x, const void *block);
void shadow_timed(const struct kernel *k, const void *args, int64_t ns);
