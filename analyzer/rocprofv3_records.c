/* rocprofv3_records.c - records of a rocprofv3 file: one small function a kind, a row of a table each. */
#include "analyzer/rocprofv3.h"

#include <string.h>

static const struct json_key correlation_rows[] = {{"internal", SDK_CORRELATION}, {0}}, agent_rows[] = {{"handle", SDK_AGENT}, {0}},
                             queue_rows[] = {{"handle", SDK_QUEUE}, {0}},
                             grid_rows[] = {{"x", SDK_GRID_X}, {"y", SDK_GRID_Y}, {"z", SDK_GRID_Z}, {0}},
                             group_rows[] = {{"x", SDK_GROUP_X}, {"y", SDK_GROUP_Y}, {"z", SDK_GROUP_Z}, {0}},
                             source_rows[] = {{"handle", SDK_SOURCE}, {0}}, destination_rows[] = {{"handle", SDK_DESTINATION}, {0}};

void sdk_keys_init(struct sdk *x)
{
    const struct json_key dispatch[] = {{"agent_id", 0, &x->keys[SDK_IN_AGENT]},
                                        {"queue_id", 0, &x->keys[SDK_IN_QUEUE]},
                                        {"kernel_id", SDK_KERNEL},
                                        {"workgroup_size", 0, &x->keys[SDK_IN_GROUP]},
                                        {"grid_size", 0, &x->keys[SDK_IN_GRID]},
                                        {"group_segment_size", SDK_LDS},
                                        {0}};
    const struct json_key record[] = {{"kind", SDK_KIND},
                                      {"operation", SDK_OPERATION},
                                      {"thread_id", SDK_THREAD},
                                      {"start_timestamp", SDK_START},
                                      {"end_timestamp", SDK_END},
                                      {"bytes", SDK_BYTES},
                                      {"correlation_id", 0, &x->keys[SDK_IN_CORRELATION]},
                                      {"dispatch_info", 0, &x->keys[SDK_IN_DISPATCH]},
                                      {"src_agent_id", 0, &x->keys[SDK_IN_SOURCE]},
                                      {"dst_agent_id", 0, &x->keys[SDK_IN_DESTINATION]},
                                      {0}};
    memcpy(x->dispatch_rows, dispatch, sizeof dispatch);
    memcpy(x->record_rows, record, sizeof record);
    const struct json_key *const rows[SDK_NKEYS] = {correlation_rows, agent_rows,       queue_rows,       grid_rows,     group_rows,
                                                    source_rows,      destination_rows, x->dispatch_rows, x->record_rows};
    for (int i = 0; i < SDK_NKEYS; i++)
        json_keys_init(&x->keys[i], rows[i]);
}

static uint32_t named(const struct idmap *m, int64_t key)
{
    uint32_t id = idmap_get(m, key);
    return id ? id - 1 : 0;
}

static int64_t number(const struct sdk *x, enum sdk_slot s)
{
    return json_int(&x->v[s], -1);
}

static uint32_t operation(const struct sdk *x)
{
    return named(&x->names.operations, (int64_t)((uint64_t)number(x, SDK_KIND) << 32 | (uint32_t)number(x, SDK_OPERATION)));
}

static int32_t size(const struct sdk *x, enum sdk_slot s)
{
    int64_t v = number(x, s);
    return v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
}

static bool start(struct sdk *x, enum ev_kind kind, struct event *ev)
{
    if (!rows_between(&x->r, kind, json_int(&x->v[SDK_START], INT64_MIN), json_int(&x->v[SDK_END], INT64_MIN), ev))
        return false;
    ev->correlation = number(x, SDK_CORRELATION);
    return true;
}

static bool dispatch(struct sdk *x)
{
    struct event ev;
    if (!start(x, EV_KERNEL, &ev))
        return true;
    rows_on_device(&x->r, &ev, x->names.pid, number(x, SDK_AGENT), number(x, SDK_QUEUE));
    ev.name = named(&x->names.kernels, number(x, SDK_KERNEL));
    ev.detail = tracedata_kernel_row(x->r.d, (struct ev_kernel){.grid = {size(x, SDK_GRID_X), size(x, SDK_GRID_Y), size(x, SDK_GRID_Z)},
                                                                .block = {size(x, SDK_GROUP_X), size(x, SDK_GROUP_Y), size(x, SDK_GROUP_Z)},
                                                                .dynamic_shared = size(x, SDK_LDS)});
    return rows_add(&x->r, &ev);
}

/* A copy is on the GPU that it comes from or goes to. */
static bool copy(struct sdk *x)
{
    struct event ev;
    if (!start(x, EV_MEMCPY, &ev))
        return true;
    int64_t from = number(x, SDK_SOURCE), to = number(x, SDK_DESTINATION);
    bool gpu_from = idmap_get(&x->names.gpus, from) != 0;
    rows_on_device(&x->r, &ev, x->names.pid, gpu_from ? from : to, -1);
    ev.name = operation(x);
    ev.bytes = number(x, SDK_BYTES);
    enum copy_kind way = rows_copy_kind(rows_str(&x->r, ev.name));
    ev.detail = way ? tracedata_copy_row(x->r.d, (struct ev_copy){.kind = way}) : 0;
    return rows_add(&x->r, &ev);
}

static bool call(struct sdk *x)
{
    struct event ev;
    if (!start(x, EV_RUNTIME, &ev))
        return true;
    rows_on_thread(&x->r, &ev, x->names.pid, number(x, SDK_THREAD));
    ev.name = operation(x);
    return rows_add(&x->r, &ev);
}

/* The text of a marker is kept under its correlation id; without one it is no range, but a call of the markers' library. */
static bool marker(struct sdk *x)
{
    struct event ev;
    uint32_t name = named(&x->names.markers, number(x, SDK_CORRELATION));
    bool ok = start(x, EV_RANGE, &ev);
    if (!ok || !name)
        return true;
    rows_on_thread(&x->r, &ev, x->names.pid, number(x, SDK_THREAD));
    ev.name = name;
    ev.correlation = -1;
    if (ev.start == ev.end)
        ev.detail = tracedata_range_row(x->r.d, (struct ev_range){.flavour = RANGE_MARK, .index = -1});
    return rows_add(&x->r, &ev);
}

static const struct record_kind {
    const char *key;
    bool (*record)(struct sdk *x);
} record_kinds[] = {{"kernel_dispatch", dispatch},
                    {"memory_copy", copy},
                    {"hip_api", call},
                    {"hsa_api", call},
                    {"rccl_api", call},
                    {"marker_api", marker},
                    {"rocdecode_api", call},
                    {"rocjpeg_api", call},
                    {0}};

static enum json_step one_record(struct sdk *x, int64_t n, const char *key)
{
    (void)n, (void)key;
    if (json_peek(x->feed) != '{')
        return json_skip(x->feed);
    enum json_step rc = json_next_object(x->feed, &x->keys[SDK_IN_RECORD], x->v, SDK_SLOTS);
    if (rc == JSON_OK && !x->kind->record(x))
        return JSON_BAD;
    return rc;
}

static enum json_step one_list(struct sdk *x, int64_t n, const char *key)
{
    (void)n;
    x->kind = record_kinds;
    while (x->kind->key && strcmp(x->kind->key, key) != 0)
        x->kind++;
    return x->kind->key ? sdk_each(x, '[', one_record) : json_skip(x->feed);
}

enum json_step sdk_records(struct sdk *x)
{
    return sdk_each(x, '{', one_list);
}
