/* kineto_rows.c - what is particular to each category of rows: one row of `cats` and at most one small function. */
#include "analyzer/json_text.h"
#include "analyzer/kineto.h"

#include <assert.h>
#include <string.h>

static bool starts(const struct json_value *v, const char *prefix)
{
    size_t n = strlen(prefix);
    return v->type == JSON_STRING && v->n >= n && memcmp(v->s, prefix, n) == 0;
}

static int32_t small(const struct json_value *v, int32_t none)
{
    int64_t i = json_int(v, none);
    return i >= INT32_MIN && i <= INT32_MAX ? (int32_t)i : none;
}

static uint32_t text_id(struct kineto *k, enum kineto_slot slot)
{
    return json_intern(&k->v[slot], &k->d->strings, &k->scratch, &k->feed->scan.repairs.bytes);
}

/* Bytes of an element, as c10 calls its types; 0 unknown. */
static int64_t element_size(const struct json_value *dtype)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"Float", 4},  {"BFloat16", 2},    {"Half", 2},         {"Double", 8},        {"Long", 8},   {"Int", 4},
                 {"Short", 2},  {"Byte", 1},        {"Char", 1},         {"Bool", 1},          {"UInt64", 8}, {"UInt32", 4},
                 {"UInt16", 2}, {"ComplexHalf", 4}, {"ComplexFloat", 8}, {"ComplexDouble", 16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (json_is(dtype, types[i].name))
            return types[i].bytes;
    return starts(dtype, "Float8") || starts(dtype, "QInt8") || starts(dtype, "QUInt8") ? 1 : 0;
}

/* The larger side: what a collective's size is in nccl-tests. */
static int64_t message_bytes(const struct kineto *k)
{
    int64_t in = json_int(&k->v[K_IN_ELEMENTS], -1), out = json_int(&k->v[K_OUT_ELEMENTS], -1), size = element_size(&k->v[K_DTYPE]), bytes;
    int64_t elements = in > out ? in : out;
    return elements >= 0 && size && !__builtin_mul_overflow(elements, size, &bytes) ? bytes : -1;
}

/* Source and destination of a send are not taken: exporters have written wrong ones. */
static void collective(struct kineto *k, struct event *ev)
{
    ev->kind = EV_COMM;
    ev->detail = tracedata_comm_row(k->d, (struct ev_comm){.communicator = text_id(k, K_GROUP),
                                                           .function = text_id(k, K_COLLECTIVE),
                                                           .dtype = text_id(k, K_DTYPE),
                                                           .peer = -1,
                                                           .group_size = small(&k->v[K_GROUP_SIZE], -1),
                                                           .sequence = json_int(&k->v[K_SEQUENCE], -1),
                                                           .message_bytes = message_bytes(k)});
}

static void kernel(struct kineto *k, struct event *ev)
{
    k->hip |= json_is(&k->v[K_KIND], "Dispatch Kernel"); /* roctracer's word */
    if (k->v[K_COLLECTIVE].type == JSON_STRING && k->v[K_COLLECTIVE].n) {
        collective(k, ev);
        return;
    }
    struct ev_kernel row = {.registers = small(&k->v[K_REGISTERS], 0), .dynamic_shared = small(&k->v[K_SHARED], 0)};
    int64_t graph = json_int(&k->v[K_GRAPH], 0), node = json_int(&k->v[K_GRAPH_NODE], 0);
    row.graph = graph > 0 ? graph : 0;
    row.graph_node = node > 0 ? node : 0;
    json_ints(&k->v[K_GRID], row.grid, 3);
    json_ints(&k->v[K_BLOCK], row.block, 3);
    if (row.grid[0] || row.block[0] || row.registers || row.graph)
        ev->detail = tracedata_kernel_row(k->d, row);
}

static int32_t memory_kind(const char *s, size_t n)
{
    static const struct {
        const char *name;
        enum mem_kind kind;
    } kinds[] = {{"Pageable", MEM_PAGEABLE}, {"Pinned", MEM_PINNED},   {"Device", MEM_DEVICE},
                 {"Array", MEM_ARRAY},       {"Managed", MEM_MANAGED}, {"Unified", MEM_MANAGED}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, s, n) == 0)
            return kinds[i].kind;
    return MEM_UNKNOWN;
}

static int32_t direction(const struct json_value *name)
{
    static const struct {
        const char *word;
        enum copy_kind kind;
    } ways[] = {{"HtoD", COPY_HTOD},
                {"DtoH", COPY_DTOH},
                {"DtoD", COPY_DTOD},
                {"HtoH", COPY_HTOH},
                {"PtoP", COPY_PTOP},
                {"HostToDevice", COPY_HTOD},
                {"DeviceToHost", COPY_DTOH},
                {"DeviceToDevice", COPY_DTOD},
                {"CopyHostToDevice", COPY_HTOD},
                {"CopyDeviceToHost", COPY_DTOH},
                {"CopyDeviceToDevice", COPY_DTOD}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (memmem(name->s, name->n, ways[i].word, strlen(ways[i].word)))
            return ways[i].kind;
    return COPY_UNKNOWN;
}

/* The memory kinds in "Memcpy HtoD (Pageable -> Device)" and "Memset (Device)". */
static void between_parentheses(const struct json_value *name, int32_t *src, int32_t *dst)
{
    const char *open = name->n ? memchr(name->s, '(', name->n) : NULL, *end = name->s + name->n;
    const char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
    if (!close)
        return;
    const char *arrow = memmem(open, (size_t)(close - open), " -> ", 4);
    if (arrow)
        *src = memory_kind(open + 1, (size_t)(arrow - open - 1));
    const char *to = arrow ? arrow + 4 : open + 1;
    *dst = memory_kind(to, (size_t)(close - to));
}

static void copy(struct kineto *k, struct event *ev)
{
    struct ev_copy row = {0};
    if (k->v[K_NAME].type == JSON_STRING) {
        row.kind = ev->kind == EV_MEMCPY ? direction(&k->v[K_NAME]) : COPY_UNKNOWN;
        between_parentheses(&k->v[K_NAME], &row.src, &row.dst);
    }
    ev->bytes = json_int(&k->v[K_BYTES], -1);
    if (row.kind || row.src || row.dst)
        ev->detail = tracedata_copy_row(k->d, row);
}

/* A wait as the device's side saw it. -1 in the file means unknown. */
static void sync(struct kineto *k, struct event *ev)
{
    static const struct {
        const char *name;
        enum sync_class class;
    } kinds[] = {{"Stream Sync", SYNC_STREAM}, {"Event Sync", SYNC_EVENT}, {"Context Sync", SYNC_DEVICE}, {"Stream Wait Event", SYNC_NONE}};
    const struct json_value *kind = k->v[K_SYNC_KIND].type == JSON_STRING ? &k->v[K_SYNC_KIND] : &k->v[K_NAME];
    struct ev_sync row = {.class = SYNC_NONE, .did_block = -1};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_is(kind, kinds[i].name))
            row.class = kinds[i].class;
    row.wait_stream = json_int(&k->v[K_WAIT_STREAM], -1);
    row.wait_event = json_int(&k->v[K_WAIT_EVENT], -1);
    if (row.class == SYNC_STREAM && row.wait_stream < 0)
        row.wait_stream = json_int(&k->v[K_STREAM], -1);
    ev->detail = tracedata_sync_row(k->d, row);
}

static void runtime(struct kineto *k, struct event *ev)
{
    bool hip = starts(&k->v[K_NAME], "hip"), cuda = starts(&k->v[K_NAME], "cu");
    k->hip |= hip;
    k->cuda |= cuda;
    if (!k->runtime_process && ev->thread)
        k->runtime_process = k->d->threads[ev->thread].process;
}

/* Traces of 2021 file annotations under operators. */
static void operator_row(struct kineto *k, struct event *ev)
{
    if (starts(&k->v[K_NAME], "ProfilerStep#"))
        ev->kind = EV_RANGE;
}

static const struct kineto_cat cats[] = {
    {"kernel", EV_KERNEL, kernel},
    {"mtia_ccp_events", EV_KERNEL, kernel}, /* the profiler's own list has them as kernels, and hpu_op as calls */
    {"gpu_memcpy", EV_MEMCPY, copy},
    {"memcpy", EV_MEMCPY, copy},
    {"gpu_memset", EV_MEMSET, copy},
    {"memset", EV_MEMSET, copy},
    {"cuda_sync", EV_SYNC, sync},
    {"cuda_runtime", EV_RUNTIME, runtime},
    {"cuda_driver", EV_RUNTIME, runtime},
    {"runtime", EV_RUNTIME, runtime},
    {"driver", EV_RUNTIME, runtime},
    {"glow_runtime", EV_RUNTIME, runtime},
    {"hpu_op", EV_RUNTIME, runtime},
    {"hip_runtime", EV_RUNTIME, runtime},
    {"xpu_runtime", EV_RUNTIME, runtime},
    {"xpu_driver", EV_RUNTIME, runtime},
    {"mtia_runtime", EV_RUNTIME, runtime},
    {"privateuse1_runtime", EV_RUNTIME, runtime},
    {"privateuse1_driver", EV_RUNTIME, runtime},
    {"cpu_op", EV_OP, NULL},
    {"operator", EV_OP, operator_row},
    {"user_annotation", EV_RANGE, NULL},
    {"gpu_user_annotation", EV_GPU_RANGE, NULL},
    {"python_function", EV_FRAME, NULL},
    {"overhead", EV_OVERHEAD, NULL},
};

void kineto_cats_init(struct kineto *k)
{
    static_assert(sizeof cats / sizeof *cats < sizeof k->cat_rows / sizeof *k->cat_rows, "cat_rows is too short");
    for (size_t i = 0; i < sizeof cats / sizeof *cats; i++)
        k->cat_rows[i] = (struct json_key){.name = cats[i].name, .slot = (int)i};
    json_keys_init(&k->cats, k->cat_rows);
}

static bool lower(const char *s, size_t n, char low[32])
{
    for (size_t i = 0; i < n && n <= 32; i++)
        low[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 32 : s[i]);
    return n <= 32;
}

const struct kineto_cat *kineto_cat_find(struct kineto *k, const struct json_value *cat)
{
    char low[32];
    if (cat->type != JSON_STRING || !lower(cat->s, cat->n, low))
        return NULL;
    const struct json_key *row = json_keys_find(&k->cats, low, cat->n);
    return row ? &cats[row->slot] : NULL;
}

/* The whole recording, ranges that a counter was read in, records of events. */
bool kineto_cat_is_no_row(const struct json_value *cat)
{
    static const char *const names[] = {"trace", "cuda_profiler_range", "cuda_event"};
    char low[32];
    bool fits = cat->type == JSON_STRING && lower(cat->s, cat->n, low);
    for (size_t i = 0; fits && i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == cat->n && memcmp(names[i], low, cat->n) == 0)
            return true;
    return false;
}

bool kineto_is_cat(const char *name, size_t n)
{
    char low[32];
    bool fits = n && lower(name, n, low);
    for (size_t i = 0; fits && i < sizeof cats / sizeof *cats; i++)
        if (strlen(cats[i].name) == n && memcmp(cats[i].name, low, n) == 0)
            return true;
    return false;
}

bool kineto_names_cat(const char *text, size_t n)
{
    static const char key[] = "\"cat\"";
    const char *end = text + n;
    for (const char *p = text; (p = memmem(p, (size_t)(end - p), key, sizeof key - 1));) {
        p += sizeof key - 1;
        while (p < end && *p && strchr(" :\t\r\n", *p))
            p++;
        const char *close = p < end && *p == '"' ? memchr(p + 1, '"', (size_t)(end - p - 1)) : NULL;
        if (close && kineto_is_cat(p + 1, (size_t)(close - p - 1)))
            return true;
    }
    return false;
}
