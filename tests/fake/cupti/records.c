/* records.c - kinds, records and buffers of the stand-in for CUPTI: what the runtime did waits here until it is asked for. */
#include "fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
    struct waiting *next;
    int64_t due;
    size_t size;
    union {
        uint64_t bytes[32];
        struct cupti_record head;
        struct cupti_kernel kernel;
    };
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static cupti_request_fn *request;
static cupti_complete_fn *complete;
static bool kinds[CUPTI_NKINDS];
static struct waiting *first, **last = &first;
static size_t dropped;

static size_t stride_of(size_t size)
{
    return fake_fault("short_records") ? (size / 2 + 7) / 8 * 8 : fake_fault("long_records") ? size + 24 : size;
}

void fake_record(const void *record, size_t have, size_t size, int64_t due)
{
    uint32_t kind = *(const uint32_t *)record;
    struct waiting *w = calloc(1, sizeof *w);
    if (!w || !kinds[kind] || !request) {
        free(w);
        return;
    }
    w->due = due;
    w->size = stride_of(size);
    memcpy(w->bytes, record, have < size ? have : size);
    if (fake_fault("unknown_kind"))
        w->head.kind = 54;
    pthread_mutex_lock(&lock);
    if (fake_fault("reversed_order")) {
        w->next = first;
        first = w;
        last = w->next ? last : &w->next;
    } else {
        *last = w;
        last = &w->next;
    }
    pthread_mutex_unlock(&lock);
}

/* A still-running piece of work is handed out once, without an end. */
static void unfinished(struct waiting *w)
{
    if (w->head.kind == CUPTI_CONCURRENT_KERNEL)
        w->kernel.end = 0;
}

/* The next record that is to be delivered now, taken out of the list; NULL: none. */
static struct waiting *take(uint32_t forced)
{
    int64_t now = fake_now();
    struct waiting *w = NULL;
    pthread_mutex_lock(&lock);
    for (struct waiting **p = &first; *p; p = &(*p)->next)
        if ((*p)->due <= now || forced) {
            w = *p;
            *p = w->next;
            last = *p ? last : p;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (w && w->due > now)
        unfinished(w);
    return w;
}

static int per_buffer(void)
{
    const char *n = getenv("FAKE_RECORDS_PER_BUFFER");
    return n ? atoi(n) : INT32_MAX;
}

/* Delivers what is due, in buffers of at most so many records. Without lock: the callbacks are the collector's. */
void fake_deliver(uint32_t forced)
{
    uint8_t *buffer = NULL;
    size_t size = 0, used = 0, most;
    int n = 0, limit = per_buffer();
    struct waiting *w;
    if (!request)
        return;
    while ((w = take(forced))) {
        if (buffer && (used + w->size > size || n >= limit)) {
            complete(NULL, 0, buffer, size, used);
            buffer = NULL;
        }
        if (!buffer) {
            request(&buffer, &size, &most);
            used = 0, n = 0;
        }
        if (!buffer)
            dropped++;
        else {
            memcpy(buffer + used, w->bytes, w->size < sizeof w->bytes ? w->size : sizeof w->bytes);
            used += w->size, n++;
        }
        free(w);
    }
    if (buffer)
        complete(NULL, 0, buffer, size, used);
}

/* ---- the interface ---- */

API int cuptiActivityRegisterCallbacks(cupti_request_fn *r, cupti_complete_fn *c)
{
    RETURN_IF_FAULT("cuptiActivityRegisterCallbacks", -1);
    request = r;
    complete = c;
    return CUPTI_OK;
}

static void describe_device(void)
{
    struct cupti_device d = {.kind = CUPTI_DEVICE, .id = FAKE_DEVICE, .name = "stand-in", .major = 9, .memory = 1 << 30, .multiprocessors = 132};
    fake_record(&d, sizeof d, 184, 0);
}

static void describe_context(void)
{
    struct cupti_context c = {.kind = CUPTI_CONTEXT, .context = FAKE_CONTEXT, .device = FAKE_DEVICE, .api = 1};
    fake_record(&c, sizeof c, 32, 0);
}

API int cuptiActivityEnable(int kind)
{
    RETURN_IF_FAULT("cuptiActivityEnable", kind);
    kinds[kind] = true;
    if (kind == CUPTI_DEVICE)
        describe_device();
    if (kind == CUPTI_CONTEXT)
        describe_context();
    return CUPTI_OK;
}

API int cuptiActivityDisable(int kind)
{
    kinds[kind] = false;
    return CUPTI_OK;
}

static size_t size_of(uint32_t kind)
{
    static const uint16_t sizes[CUPTI_NKINDS] = {
        [CUPTI_MEMCPY] = 96,          [CUPTI_MEMSET] = 88,  [CUPTI_DEVICE] = 184,    [CUPTI_CONTEXT] = 32,         [CUPTI_CONCURRENT_KERNEL] = 216,
        [CUPTI_OVERHEAD] = 56,        [CUPTI_MEMCPY2] = 96, [CUPTI_CUDA_EVENT] = 56, [CUPTI_SYNCHRONIZATION] = 56, [54] = 64,
        [CUPTI_INTERNAL_LAUNCH] = 40,
    };
    return kind < CUPTI_NKINDS ? sizes[kind] : 0;
}

API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct cupti_record **record)
{
    RETURN_IF_FAULT("cuptiActivityGetNextRecord", -1);
    uint8_t *at = *record ? (uint8_t *)*record + stride_of(size_of((*record)->kind)) : buffer;
    if (at + sizeof(uint32_t) > buffer + valid)
        return CUPTI_MAX_LIMIT;
    uint32_t kind = ((struct cupti_record *)at)->kind;
    if (!size_of(kind) || fake_fault("bad_kind"))
        return CUPTI_INVALID_KIND;
    if (at + stride_of(size_of(kind)) > buffer + valid)
        return CUPTI_MAX_LIMIT; /* a truncated last record */
    *record = (struct cupti_record *)at;
    return CUPTI_OK;
}

API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
    static bool told;
    (void)context, (void)stream;
    RETURN_IF_FAULT("cuptiActivityGetNumDroppedRecords", -1);
    *n = dropped + (fake_fault("drops") && !told ? 7 : 0);
    told = true;
    dropped = 0;
    return CUPTI_OK;
}
