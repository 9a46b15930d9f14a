/* sim_cost.c - see sim_cost.h; and the machine that all of it is about. */
#include "kernels/device/sim_cost.h"
#include "kernels/device/sim.h"
#include "schemas/tracedata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct machine machine;

void sim_use_machine(const struct machine *m)
{
    machine = *m;
}

const struct machine *sim_machine(void)
{
    if (!*machine.name) {
        struct err e = {0};
        if (!machine_load(&machine, machine_files[0].name, &e))
            abort(); /* a shipped file that does not parse: the unit tests would have said so */
    }
    return &machine;
}

static double peak(const struct device *d)
{
    const struct machine *m = sim_machine();
    const double tflops[] = {[DEV_FP32] = m->peak_fp32_tflops, [DEV_BF16] = m->peak_bf16_tflops, [DEV_FP16] = m->peak_fp16_tflops};
    return tflops[d->number] * 1e3; /* flops a ns */
}

/* The share of the peak that a kernel's arithmetic reaches, by the family in its name; 0: its arithmetic is not what takes time. */
static double share_of(const char *name)
{
    const struct machine *m = sim_machine();
    const struct {
        const char *family;
        double share;
    } families[] = {{"gemm", m->gemm_share}, {"attention", m->attention_share}, {"gdn", m->scan_share}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strncmp(name, families[i].family, strlen(families[i].family)))
            return families[i].share;
    return 0;
}

/* splitmix64, from the seed and the rank; uniform in [-1, 1). */
static double draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static int64_t noisy(uint64_t *noise, double ns)
{
    double jitter = sim_machine()->jitter;
    return llround(jitter > 0 ? ns * (1 + jitter * draw(noise)) : ns);
}

int64_t sim_host_ns(int64_t ns, int rank)
{
    const struct machine *m = sim_machine();
    int64_t last = m->gpus_per_node - 1;
    return last > 0 ? llround((double)ns * (1 + m->host_skew * (double)(rank % m->gpus_per_node) / (double)last)) : ns;
}

double sim_eager_ops(const struct work *w)
{
    return w->kernel->cost ? w->kernel->cost(w->args).chunks * sim_machine()->eager_chunk_ops : 0;
}

uint64_t sim_noise(int rank)
{
    return (uint64_t)sim_machine()->jitter_seed * 1000003 + (uint64_t)rank;
}

/* Index tensors are 64-bit integers whatever bulk tensors are stored as. */
int64_t sim_kernel_ns(const struct device *d, const struct work *w, uint64_t *noise)
{
    const struct machine *m = sim_machine();
    struct cost c = w->kernel->cost ? w->kernel->cost(w->args) : (struct cost){0};
    double share = share_of(w->kernel->name), bytes = w->kernel->index || d->number == DEV_FP32 ? c.bytes : c.bytes / 2;
    double arithmetic = share > 0 ? c.flops / (peak(d) * share) : 0, memory = bytes / (m->memory_gbps * m->memory_share);
    return noisy(noise, fmax(m->kernel_min_ns, fmax(arithmetic, memory)));
}

int64_t sim_copy_ns(const struct work *w, uint64_t *noise)
{
    const struct machine *m = sim_machine();
    bool host = w->kind == WORK_COPY && w->copy_kind != COPY_DTOD;
    double moved = w->kind == WORK_COPY ? 2.0 * (double)w->bytes : (double)w->bytes;
    double transfer = host ? (double)w->bytes / m->host_link_gbps : moved / (m->memory_gbps * m->memory_share);
    return noisy(noise, fmax(m->kernel_min_ns, transfer));
}
