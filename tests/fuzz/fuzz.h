/* fuzz.h - the properties of everything that reads traces, said once.
 *
 * Taken, or refused with a reason, and never half an output: ok iff there is no error iff the output exists. What was
 * taken holds together: every id leads to something, every time is within bounds, so analyses need not look.
 */
#pragma once
#include "analyzer/import.h"
#include "schemas/tracefile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLDS(x)                                                                                                                                     \
    do {                                                                                                                                             \
        if (!(x)) {                                                                                                                                  \
            fprintf(stderr, "does not hold: %s\n", #x);                                                                                              \
            abort();                                                                                                                                 \
        }                                                                                                                                            \
    } while (0)

static inline void fuzz_write(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

static inline bool fuzz_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static inline void holds_event(const struct tracedata *d, const struct event *ev)
{
    static const int64_t bound = INT64_C(1) << 62;
    HOLDS(ev->start < bound && ev->start > -bound && ev->end < bound && ev->end > -bound);
    HOLDS(ev->name < d->strings.n && ev->thread < d->nthreads && ev->stream < d->nstreams && ev->site < d->nsites && ev->kind >= 0);
    const size_t rows[] = {[EV_KERNEL] = d->nkernels, [EV_COMM] = d->ncomms,    [EV_MEMCPY] = d->ncopies, [EV_MEMSET] = d->ncopies,
                           [EV_SYNC] = d->nsyncs,     [EV_RUNTIME] = d->nsyncs, [EV_RANGE] = d->nranges,  [EV_NKINDS] = 0};
    HOLDS(ev->detail <= (ev->kind < EV_NKINDS ? rows[ev->kind] : 0));
}

static inline void holds_together(const struct tracedata *d)
{
    for (size_t i = 0; i < d->nthreads; i++)
        HOLDS(d->threads[i].process < d->nprocesses && d->threads[i].name < d->strings.n);
    for (size_t i = 0; i < d->nstreams; i++)
        HOLDS(d->streams[i].process < d->nprocesses);
    for (size_t i = 0; i < d->nprocesses; i++)
        HOLDS(d->processes[i].name < d->strings.n && d->processes[i].host < d->strings.n && d->processes[i].rank >= -1);
    for (size_t i = 0; i < d->ncomms; i++)
        HOLDS(d->comms[i].communicator < d->strings.n && d->comms[i].function < d->strings.n && d->comms[i].dtype < d->strings.n);
    for (size_t i = 0; i < d->nranges; i++)
        HOLDS(d->ranges[i].domain < d->strings.n);
    for (size_t i = 0; i < d->n; i++)
        holds_event(d, &d->ev[i]);
}

static inline void holds_reason(bool ok, const struct err *e, const char *path)
{
    HOLDS(ok == (e->kind == ERR_NONE));
    HOLDS(ok || (strncmp(e->msg, path, strlen(path)) == 0 && !strchr(e->msg, '\n')));
}

/* The file into memory. */
static inline bool fuzz_memory(const char *path)
{
    struct tracedata d;
    struct err e = {0};
    tracedata_init(&d);
    bool ok = import_open(path, false, &d, &e);
    holds_reason(ok, &e, path);
    if (ok)
        holds_together(&d);
    tracedata_free(&d);
    return ok;
}

/* The file into a trace file, which then loads and holds as many events. */
static inline void fuzz_file(const char *path, const char *out)
{
    struct tracedata d, back;
    struct err e = {0};
    char tmp[64];
    snprintf(tmp, sizeof tmp, "%s.tmp", out);
    unlink(out);
    tracedata_init(&d);
    struct tracefile *f = tracefile_create(out, false, &e);
    d.spill = tracefile_append;
    d.spill_ctx = f;
    bool ok = f && import_file(path, false, &d, &e);
    if (ok)
        ok = tracefile_finish(f, &d, &e);
    else
        tracefile_close(f);
    holds_reason(ok, &e, path);
    HOLDS(fuzz_exists(out) == ok && !fuzz_exists(tmp));
    if (ok) {
        tracedata_init(&back);
        HOLDS(tracefile_load(out, &back, &e));
        holds_together(&back);
        HOLDS((int64_t)back.n == d.first + (int64_t)d.n);
        tracedata_free(&back);
    }
    tracedata_free(&d);
}

/* Writing a file takes a hundred times as long as reading: one input in `every` goes all the way. */
static inline bool fuzz_turn(const uint8_t *data, size_t size, unsigned every)
{
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    return sum % every == 0;
}
