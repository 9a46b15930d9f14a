/* nsys_own.c - columns and the table that only our own export writes: what Nsight has no place for comes back with them. */
#include "analyzer/nsys.h"

#include <string.h>

static int32_t small(sqlite3_stmt *s, int column, int32_t none)
{
    int64_t v = nsys_int(s, column, none);
    return v >= 0 && v <= INT32_MAX ? (int32_t)v : none;
}

void nsys_own_rank(sqlite3_stmt *s, int at, struct event *ev)
{
    ev->rank = small(s, at, -1);
}

/* A kernel with a collective's name is one known as such. */
void nsys_own_comm(struct nsys *n, sqlite3_stmt *s, int at, struct event *ev)
{
    uint32_t function = nsys_string(n, s, at, false);
    if (!function)
        return;
    ev->kind = EV_COMM;
    ev->bytes = nsys_int(s, at + 7, -1);
    ev->detail = tracedata_comm_row(n->d, (struct ev_comm){.function = function,
                                                           .communicator = nsys_string(n, s, at + 1, false),
                                                           .dtype = nsys_string(n, s, at + 2, false),
                                                           .peer = small(s, at + 3, -1),
                                                           .group_size = small(s, at + 4, -1),
                                                           .sequence = nsys_int(s, at + 5, -1),
                                                           .message_bytes = nsys_int(s, at + 6, -1)});
}

void nsys_own_call(struct nsys *n, sqlite3_stmt *s, int at, struct event *ev)
{
    int32_t class = small(s, at, SYNC_NONE);
    if (class > SYNC_NONE && class <= SYNC_ALLOC)
        ev->detail = tracedata_sync_row(n->d, (struct ev_sync){.class = class,
                                                               .did_block = small(s, at + 1, -1),
                                                               .wait_stream = nsys_int(s, at + 2, -1),
                                                               .wait_event = nsys_int(s, at + 3, -1)});
}

/* A wait of a device that does not go by one of Nsight's names. */
void nsys_own_wait(struct nsys *n, sqlite3_stmt *s, int at, struct event *ev)
{
    int32_t class = small(s, at + 1, -1);
    if (class < 0)
        return;
    ev->name = nsys_string(n, s, at, false);
    n->d->syncs[ev->detail - 1].class = class <= SYNC_ALLOC ? class : SYNC_NONE;
}

const char *const nsys_own_columns[] = {"start",     "end",           "kind",   "globalTid",   "deviceId",     "streamId",
                                        "globalPid", "correlationId", "nameId", "callchainId", "cpscope_rank", NULL};

/* Framework operators, source frames and annotations of a device. */
bool nsys_own_row(struct nsys *n, sqlite3_stmt *s)
{
    static const enum ev_kind kinds[] = {EV_OP, EV_FRAME, EV_GPU_RANGE};
    const char *kind = (const char *)sqlite3_column_text(s, 2);
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++) {
        struct event ev;
        if (strcmp(kind, ev_kind_name(kinds[i])) != 0 || !nsys_timed(n, s, kinds[i], 1, &ev))
            continue;
        if (kinds[i] == EV_GPU_RANGE)
            nsys_place(n, s, 4, &ev);
        else
            ev.thread = nsys_thread(n, s, 3);
        ev.correlation = nsys_int(s, 7, -1);
        ev.name = nsys_string(n, s, 8, false);
        int64_t chain = nsys_int(s, 9, -1);
        ev.site = chain > 0 ? nsys_site(n, chain) : 0;
        nsys_own_rank(s, 10, &ev);
        return tracedata_event(n->d, &ev, n->e);
    }
    return true;
}

void nsys_own_facts(struct nsys *n)
{
    static const char prefix[] = "CPSCOPE_";
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(n->db, "SELECT name, value FROM META_DATA_EXPORT WHERE name GLOB 'CPSCOPE_*'", -1, &s, NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(s) == SQLITE_ROW) {
        const struct intern *t = &n->d->strings;
        uint32_t key = nsys_own_text(n, s, 0), value = nsys_own_text(n, s, 1);
        tracedata_meta(n->d, intern_str(t, key) + sizeof prefix - 1, intern_str(t, value));
    }
    sqlite3_finalize(s);
}
