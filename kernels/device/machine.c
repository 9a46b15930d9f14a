/* machine.c - machine files: a table of the constants, read and written by it. */
#include "kernels/device/machine.h"
#include "schemas/keyvalue.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct key {
    const char *name;
    size_t offset;
    bool whole; /* int64_t, else double */
    double low, high;
} keys[] = {
#define WHOLE(field, low, high)                                                                                                                      \
    {                                                                                                                                                \
#field, offsetof(struct machine, field), true, low, high                                                                                     \
    }
#define REAL(field, low, high)                                                                                                                       \
    {                                                                                                                                                \
#field, offsetof(struct machine, field), false, low, high                                                                                    \
    }
    WHOLE(gpus_per_node, 1, 1 << 20),
    REAL(peak_fp32_tflops, 1e-6, 1e6),
    REAL(peak_bf16_tflops, 1e-6, 1e6),
    REAL(peak_fp16_tflops, 1e-6, 1e6),
    REAL(memory_gbps, 1e-3, 1e6),
    REAL(gemm_share, 1e-6, 1),
    REAL(attention_share, 1e-6, 1),
    REAL(scan_share, 1e-6, 1),
    REAL(memory_share, 1e-6, 1),
    REAL(eager_chunk_ops, 0, 1e4),
    REAL(launch_ns, 0, 1e9),
    REAL(framework_op_ns, 0, 1e9),
    REAL(framework_comm_ns, 0, 1e9),
    REAL(sync_ns, 0, 1e9),
    REAL(copy_ns, 0, 1e9),
    REAL(host_link_gbps, 1e-3, 1e6),
    REAL(framework_nograd_share, 0, 1),
    REAL(framework_layer_ns, 0, 1e9),
    REAL(framework_step_ns, 0, 1e11),
    REAL(framework_slowdown, 0.1, 1000),
    WHOLE(queue_depth, 1, 1 << 16),
    REAL(launch_latency_ns, 0, 1e9),
    REAL(kernel_min_ns, 0, 1e9),
    REAL(nvlink_gbps, 1e-3, 1e6),
    REAL(nvlink_start_ns, 0, 1e9),
    REAL(nvlink_hop_ns, 0, 1e9),
    REAL(ib_gbps, 1e-3, 1e6),
    REAL(ib_start_ns, 0, 1e9),
    REAL(ib_hop_ns, 0, 1e9),
    REAL(jitter, 0, 0.9),
    WHOLE(jitter_seed, 0, 1e15),
    REAL(host_skew, 0, 10),
};
enum { NKEYS = sizeof keys / sizeof *keys };

static const struct key *find(const char *name)
{
    for (size_t i = 0; i < NKEYS; i++)
        if (!strcmp(keys[i].name, name))
            return &keys[i];
    return NULL;
}

double *machine_constant(struct machine *m, const char *name)
{
    const struct key *k = find(name);
    return k && !k->whole ? (double *)(void *)((char *)m + k->offset) : NULL;
}

void machine_set(struct machine *m, const char *name, double value)
{
    const struct key *k = find(name);
    double *at = k ? machine_constant(m, name) : NULL;
    if (at)
        *at = fmin(k->high, fmax(k->low, value));
}

const char *machine_key(size_t i)
{
    return i < NKEYS ? keys[i].name : NULL;
}

double machine_value(const struct machine *m, const char *name)
{
    const struct key *k = find(name);
    const void *at = (const char *)m + k->offset;
    return k->whole ? (double)*(const int64_t *)at : *(const double *)at;
}

/* ---- reading ---- */

struct reader {
    struct machine *m;
    const char *from;
    int line;
    bool seen[NKEYS], named;
};

static bool set_number(struct reader *r, const struct key *k, const char *value, struct err *e)
{
    char *end;
    double v = strtod(value, &end);
    if (end == value || *end || !isfinite(v) || v < k->low || v > k->high || (k->whole && v != floor(v)))
        return fail(e, ERR_USAGE, "%s:%d: %s = %s: want a %s from %.10g to %.10g", r->from, r->line, k->name, value,
                    k->whole ? "whole number" : "number", k->low, k->high);
    void *at = (char *)r->m + k->offset;
    if (k->whole)
        *(int64_t *)at = (int64_t)v;
    else
        *(double *)at = v;
    return true;
}

static bool set(struct reader *r, const char *key, const char *value, struct err *e)
{
    bool name = !strcmp(key, "name");
    const struct key *k = name ? NULL : find(key);
    if (!k && !name)
        return fail(e, ERR_USAGE, "%s:%d: %s: not a constant of a machine", r->from, r->line, key);
    bool *seen = name ? &r->named : &r->seen[k - keys];
    if (*seen)
        return fail(e, ERR_USAGE, "%s:%d: %s: given twice", r->from, r->line, key);
    *seen = true;
    if (!name)
        return set_number(r, k, value, e);
    if (!*value || strlen(value) >= sizeof r->m->name)
        return fail(e, ERR_USAGE, "%s:%d: name: want 1 to %zu characters", r->from, r->line, sizeof r->m->name - 1);
    memcpy(r->m->name, value, strlen(value) + 1);
    return true;
}

static bool take(void *ctx, const struct keyvalue *kv, struct err *e)
{
    struct reader *r = ctx;
    r->line = kv->line;
    return kv->key ? set(r, kv->key, kv->value, e) : fail(e, ERR_USAGE, "%s:%d: [%s]: a machine has no sections", kv->from, kv->line, kv->section);
}

static bool complete(const struct reader *r, struct err *e)
{
    if (!r->named)
        return fail(e, ERR_USAGE, "%s: name is missing", r->from);
    for (size_t i = 0; i < NKEYS; i++)
        if (!r->seen[i])
            return fail(e, ERR_USAGE, "%s: %s is missing", r->from, keys[i].name);
    return true;
}

bool machine_parse(struct machine *m, const char *text, const char *from, struct err *e)
{
    struct reader r = {.m = m, .from = from};
    *m = (struct machine){0};
    return keyvalue_each(text, from, take, &r, e) && complete(&r, e);
}

bool machine_load(struct machine *m, const char *name_or_file, struct err *e)
{
    char *text = keyvalue_load(name_or_file, machine_files, "machine", e);
    bool ok = text && machine_parse(m, text, name_or_file, e);
    free(text);
    return ok;
}

/* ---- writing ---- */

char *machine_text(const struct machine *m)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "%-22s = %s\n", "name", m->name);
    for (size_t i = 0; i < NKEYS; i++) {
        const void *at = (const char *)m + keys[i].offset;
        if (keys[i].whole)
            fprintf(f, "%-22s = %lld\n", keys[i].name, (long long)*(const int64_t *)at);
        else
            fprintf(f, "%-22s = %.17g\n", keys[i].name, *(const double *)at);
    }
    fclose(f);
    return text;
}
