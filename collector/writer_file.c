/* writer_file.c - see writer_file.h. */
#include "collector/writer_file.h"
#include "schemas/clock.h"
#include "schemas/mask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The command line of this process, masked; a recorded child has another one than what was asked for. */
static void own_command(struct tracedata *d)
{
    char text[16384];
    const char *argv[1024];
    size_t n = 0;
    struct arena a = {0};
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return;
    text[got] = '\0';
    for (char *p = text; p < text + got && n < 1024; p += strlen(p) + 1)
        argv[n++] = p;
    tracedata_meta(d, "process_command", mask_command(&a, argv, n));
    arena_free(&a);
}

static void clock_pair(struct tracedata *d, const int64_t reading[3])
{
    struct clock_row c = {intern_id(&d->strings, "realtime"), reading[0], reading[1], reading[2]};
    ARRAY_PUSH(d->clocks, d->nclocks, d->clocks_cap, c);
}

static void number(struct tracedata *d, const char *key, int64_t v)
{
    if (v >= 0)
        tracedata_metaf(d, key, "%lld", (long long)v);
}

/* What the options leave out, so that its absence is not read as zero. */
static void left_out(const struct recorder *r, struct tracedata *d)
{
    char names[256] = "";
    for (int k = 0, n = 0; k < EV_NKINDS && n < (int)sizeof names; k++)
        if (!recorder_wants(r, k))
            n += snprintf(names + n, sizeof names - (size_t)n, "%s%s", n ? " " : "", ev_kind_name(k));
    if (*names)
        tracedata_meta(d, "not_recorded", names);
}

struct tracefile *writer_file_open(const struct recorder *r, struct tracedata *d, struct err *e)
{
    ringfile_facts(r->pool.base, d);
    own_command(d);
    left_out(r, d);
    return tracefile_record(r->path, true, e);
}

bool writer_file_simulated(const struct tracedata *d)
{
    const char *backend = tracedata_meta_get(d, "backend");
    return backend && strcmp(backend, "sim") == 0;
}

/* The events that are there already were taken as of the real clock. */
void writer_file_virtual(struct tracedata *d)
{
    for (size_t i = 0; i < d->n; i++) {
        d->ev[i].start += d->t0;
        d->ev[i].end += d->t0;
    }
    for (size_t i = 0; i < d->nmemory; i++)
        d->memory[i].time += d->t0;
    d->t0 = 0;
}

/* ns of N emits with two readings of the clock each. */
static int64_t time_emits(struct ring *g, struct pool *p, int n)
{
    struct activity a = ACTIVITY_NONE;
    a.name = "calibration";
    int64_t began = clock_now();
    for (int i = 0; i < n; i++) {
        a.start = clock_now();
        a.end = clock_now();
        ring_put(g, p, &a, &(struct emit_as){0});
    }
    return clock_now() - began;
}

/* ns of one emit, on warm memory as in the measured program: the shortest of some turns, for others may run in between.
 * -1: no memory. */
static double emit_cost(void)
{
    enum { N = 500, TURNS = 9 };
    struct pool p;
    struct ring g = {0};
    int64_t least = INT64_MAX;
    if (!pool_open(&p, (size_t)1 << 20, NULL))
        return -1;
    for (int turn = 0; turn < TURNS; turn++) { /* the first one touches the memory */
        int64_t took = time_emits(&g, &p, N);
        least = took < least ? took : least;
        ring_drop(&g, &p);
    }
    pool_close(&p);
    return (double)least / N;
}

void writer_file_costs(const struct recorder *r, struct tracedata *d, int64_t threads)
{
    int64_t reading[3], events = atomic_load(&r->events);
    struct rusage use;
    recorder_clocks(reading);
    double wall = (double)(reading[0] - r->t0), cost = emit_cost();
    if (!writer_file_simulated(d))
        clock_pair(d, reading);
    getrusage(RUSAGE_THREAD, &use);
    number(d, "record_events", events);
    number(d, "record_lost", atomic_load(&r->lost));
    number(d, "record_threads", threads);
    number(d, "record_wall_ns", reading[0] - r->t0);
    number(d, "record_writer_cpu_ns",
           (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * INT64_C(1000000000) + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000);
    if (cost >= 0)
        tracedata_metaf(d, "record_cost_ns_per_event", "%.1f", cost);
    if (cost >= 0 && wall > 0 && threads > 0)
        tracedata_metaf(d, "record_cost_pct", "%.4f", 100.0 * (double)events * cost / (wall * (double)threads));
}
