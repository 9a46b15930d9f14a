/* work.c - streams of the stand-in. A stream is a time until which it is busy; a kernel takes a microsecond a block, a copy a
 * nanosecond a byte, after what its stream has before it. A synchronisation sleeps until then. */
#include "work.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { BLOCK_NS = 1000 };

struct fake_stream fake_null_stream = {.id = NULL_STREAM};
static __thread uint32_t inner, outer; /* ids of the latest call inside a call */

struct fake_stream *fake_stream_of(cudaStream_t s)
{
    return s ? s : &fake_null_stream;
}

int64_t fake_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The stretch that work of `ns` gets on a stream. */
void fake_occupy(struct fake_stream *s, int64_t ns, int64_t *from, int64_t *to)
{
    int64_t busy = atomic_load(&s->busy_until);
    do {
        *from = fake_later(busy, fake_now());
        *to = *from + ns;
    } while (!atomic_compare_exchange_weak(&s->busy_until, &busy, *to));
}

void fake_sleep_until(int64_t time)
{
    int64_t left;
    while ((left = time - fake_now()) > 0) {
        struct timespec t = {left / 1000000000, left % 1000000000};
        nanosleep(&t, NULL);
    }
}

/* What the records of the device say by mistake, on demand. */
void fake_spoil(uint64_t *from, uint64_t *to)
{
    const uint64_t kept = *from, hour = 3600000000000, year = 365 * 24 * hour;
    if (fake_fault("zero_times"))
        *from = *to = 0;
    if (fake_fault("reversed_times")) {
        *from = *to;
        *to = kept;
    }
    uint64_t off = fake_fault("early_times") ? -hour : fake_fault("late_times") ? hour : fake_fault("another_clock") ? 50 * year : 0;
    off = fake_fault("negative_times") ? UINT64_C(1) << 63 : off;
    *from += off;
    *to += off;
    *to += fake_fault("endless") ? year : 0;
}

/* The id that a trace must show: that of the outermost call. */
static uint32_t shown(uint32_t id)
{
    return id == inner ? outer : id;
}

void fake_kernel(struct fake_stream *s, const char *name, struct fake_shape shape, uint32_t id, uint32_t graph, uint64_t node)
{
    int64_t from, to;
    dim3 grid = shape.grid, block = shape.block;
    fake_occupy(s, (int64_t)BLOCK_NS * grid.x * grid.y * grid.z, &from, &to);
    struct cupti_kernel k = {.kind = CUPTI_CONCURRENT_KERNEL,
                             .registers = 32,
                             .start = (uint64_t)from,
                             .end = (uint64_t)to,
                             .device = FAKE_DEVICE,
                             .context = FAKE_CONTEXT,
                             .stream = s->id,
                             .grid = {(int)grid.x, (int)grid.y, (int)grid.z},
                             .block = {(int)block.x, (int)block.y, (int)block.z},
                             .static_shared = 16,
                             .dynamic_shared = (int)shape.shared,
                             .correlation = id,
                             .name = name,
                             .graph = graph,
                             .graph_node = node};
    if (strncmp(name, "nccl", 4) == 0)
        fake_log("collective %s %lld %lld 0 %u %u\n", name, (long long)from, (long long)to, s->id, shown(id));
    else
        fake_log("kernel %s %llu %llu %u %u %u %d,%d,%d %d,%d,%d 32 16 %zu %u %llu\n", name, (unsigned long long)k.start, (unsigned long long)k.end,
                 0, s->id, shown(id), k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], shape.shared, graph,
                 (unsigned long long)node);
    fake_spoil(&k.start, &k.end);
    fake_record(&k, sizeof k, 216, to);
}

void fake_copy(struct fake_stream *s, int kind, int src, int dst, size_t n, uint32_t id, int64_t *end)
{
    int64_t from, to;
    fake_occupy(s, (int64_t)n, &from, &to);
    struct cupti_memcpy m = {.kind = CUPTI_MEMCPY,
                             .copy_kind = (uint8_t)kind,
                             .src_kind = (uint8_t)src,
                             .dst_kind = (uint8_t)dst,
                             .bytes = n,
                             .start = (uint64_t)from,
                             .end = (uint64_t)to,
                             .device = FAKE_DEVICE,
                             .context = FAKE_CONTEXT,
                             .stream = s->id,
                             .correlation = id};
    fake_log("memcpy %d %d %d %zu %llu %llu 0 %u %u\n", kind, src, dst, n, (unsigned long long)from, (unsigned long long)to, s->id, shown(id));
    fake_spoil(&m.start, &m.end);
    fake_record(&m, sizeof m, 96, to);
    *end = to;
}

/* Waits, and says so as CUPTI does. */
void fake_wait(uint32_t type, struct fake_stream *s, const struct fake_event *e, int64_t until, uint32_t id)
{
    struct cupti_sync r = {.kind = CUPTI_SYNCHRONIZATION,
                           .type = type,
                           .start = (uint64_t)fake_now(),
                           .correlation = id,
                           .context = FAKE_CONTEXT,
                           .stream = s ? s->id : (uint32_t)CUPTI_NONE,
                           .event = e ? e->id : (uint32_t)CUPTI_NONE,
                           .event_sync = e ? e->sync : 0};
    if (type != CUPTI_SYNC_STREAM_WAIT)
        fake_sleep_until(until);
    r.end = (uint64_t)fake_now();
    fake_log("sync %u %llu %llu %d %d %u %lld\n", type, (unsigned long long)r.start, (unsigned long long)r.end, s ? (int)s->id : -1,
             e ? (int)e->id : -1, id,
             e                           ? (long long)e->stream->id
             : type == CUPTI_SYNC_STREAM ? (long long)s->id
                                         : -1LL);
    fake_record(&r, sizeof r, 56, 0);
}

/* The runtime calls the driver inside its own call; FAKE_FAULT inner_ids: the device's records bear the inner call's id. */
uint32_t fake_inner_call(const char *function, uint32_t id)
{
    struct fake_call c;
    fake_enter(&c, CUPTI_DOMAIN_DRIVER, function, NULL);
    fake_leave(&c);
    inner = c.cb.correlation;
    outer = id;
    return fake_fault("inner_ids") ? inner : outer;
}

void fake_fill(struct fake_stream *s, void *p, int value, size_t n, uint32_t id)
{
    int64_t from, to;
    memset(p, value, n);
    fake_occupy(s, (int64_t)n, &from, &to);
    struct cupti_memset m = {.kind = CUPTI_MEMSET,
                             .value = (uint32_t)value,
                             .bytes = n,
                             .start = (uint64_t)from,
                             .end = (uint64_t)to,
                             .device = FAKE_DEVICE,
                             .context = FAKE_CONTEXT,
                             .stream = s->id,
                             .correlation = id,
                             .memory_kind = (uint16_t)fake_memory_kind(p)};
    fake_log("memset %d %zu %lld %lld 0 %u %u\n", m.memory_kind, n, (long long)from, (long long)to, s->id, id);
    fake_spoil(&m.start, &m.end);
    fake_record(&m, sizeof m, 88, to);
}
