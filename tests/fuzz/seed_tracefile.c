/* seed_tracefile.c - writes seeds for fuzz_tracefile: small trace files with every table filled, and with small pages. */
#include "schemas/tracefile.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One event of every kind with its side row, keys of every sort, facts of every sort. */
static void fill(struct tracedata *d, struct err *e)
{
    uint32_t p = tracedata_process(d, 42, "host", 0), t = tracedata_thread(d, p, 43, "main"), s = tracedata_stream(d, p, 0, 7);
    uint32_t site = tracedata_site(d, "f", "a.c", 3);
    for (int kind = 0; kind < EV_NKINDS; kind++) {
        struct event ev = event_none((enum ev_kind)kind, 10 * kind, 10 * kind + 5);
        ev.name = intern_id(&d->strings, ev_kind_name((enum ev_kind)kind));
        ev.thread = t;
        ev.stream = s;
        ev.site = site;
        if (kind == EV_KERNEL)
            ev.detail = tracedata_kernel_row(d, (struct ev_kernel){.grid = {1, 2, 3}});
        if (kind == EV_COMM)
            ev.detail = tracedata_comm_row(d, (struct ev_comm){.communicator = ev.name, .peer = -1, .sequence = 1});
        if (kind == EV_MEMCPY || kind == EV_MEMSET)
            ev.detail = tracedata_copy_row(d, (struct ev_copy){COPY_HTOD, MEM_PAGEABLE, MEM_DEVICE});
        if (kind == EV_SYNC || kind == EV_RUNTIME)
            ev.detail = tracedata_sync_row(d, (struct ev_sync){SYNC_STREAM, 1, 7, -1});
        if (kind == EV_RANGE)
            ev.detail = tracedata_range_row(d, (struct ev_range){.index = 2});
        tracedata_event(d, &ev, e);
    }
    tracedata_meta(d, "backend", "cpu");
    tracedata_loss(d, "why", 3, 0, 9);
    ARRAY_PUSH(d->memory, d->nmemory, d->memory_cap, ((struct memory_row){5, 64, 0, 0, intern_id(&d->strings, "peak")}));
    ARRAY_PUSH(d->clocks, d->nclocks, d->clocks_cap, ((struct clock_row){intern_id(&d->strings, "realtime"), 1, 2, 3}));
}

static bool shrink(const char *from, const char *to)
{
    char sql[2048];
    sqlite3 *db = NULL;
    snprintf(sql, sizeof sql, "PRAGMA page_size = 512; VACUUM INTO '%s'", to);
    bool ok = sqlite3_open(from, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return ok;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct tracedata d;
    char path[1024], small[1024];
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/whole.db", argv[1]);
    snprintf(small, sizeof small, "%s/small.db", argv[1]);
    tracedata_init(&d);
    struct tracefile *f = tracefile_create(path, true, &e);
    if (f)
        fill(&d, &e);
    bool ok = f && tracefile_finish(f, &d, &e) && shrink(path, small);
    tracedata_free(&d);
    if (!ok)
        fprintf(stderr, "seed: %s\n", e.kind ? e.msg : "cannot shrink");
    return !ok;
}
