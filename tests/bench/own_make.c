/* own_make.c - a trace file of ours of the size asked for, as a recorder would write it; the same bytes every time.
 *
 *   own_make EVENTS FILE [RANK [WORLD]]
 *
 * One host thread that launches kernels and sometimes waits for one of two streams; every collective has its sequence
 * number, so that files of different ranks match. Of a hundred rows about 29 are operators, 29 launches, 29 device rows,
 * 10 source frames, 2 ranges, 1 a wait.
 */
#include "schemas/marker.h"
#include "schemas/tracefile.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAMES = 300, OPS = 60, FRAMES = 900, STEPS = 10 };

struct make {
    struct tracedata d;
    struct err e;
    uint32_t thread, stream[2], kernel[NAMES], op[OPS], frame[FRAMES], site[40], launch, wait, gather;
    int32_t rank, world;
    int64_t now, device, correlation, sequence;
    uint64_t state;
};

static unsigned rnd(struct make *m, unsigned n)
{
    m->state = m->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(m->state >> 33) % n;
}

static uint32_t name(struct make *m, const char *fmt, int i)
{
    char s[160];
    snprintf(s, sizeof s, fmt, i, i % 40);
    return intern_id(&m->d.strings, s);
}

static void keys(struct make *m)
{
    struct tracedata *d = &m->d;
    uint32_t process = tracedata_process(d, 100 + m->rank, "host", m->rank);
    m->thread = tracedata_thread(d, process, 100 + m->rank, "main");
    for (int i = 0; i < 2; i++)
        m->stream[i] = tracedata_stream(d, process, m->rank % 8, 7 + i);
    for (int i = 0; i < NAMES; i++)
        m->kernel[i] = name(m, "void at::native::vectorized_elementwise_kernel<4, at::native::f%d, at::detail::Array<char*, 2> >", i);
    for (int i = 0; i < OPS; i++)
        m->op[i] = name(m, "aten::op_%d", i);
    for (int i = 0; i < FRAMES; i++)
        m->frame[i] = name(m, "model/block_%2$d.py(%1$d): forward_%1$d", i);
    for (int i = 0; i < 40; i++) {
        char s[32];
        snprintf(s, sizeof s, "site_%d", i);
        m->site[i] = tracedata_site(d, s, "model.py", 10 + i);
    }
    m->launch = intern_id(&d->strings, "cudaLaunchKernel");
    m->wait = intern_id(&d->strings, "cudaStreamSynchronize");
    m->gather = intern_id(&d->strings, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
}

static void add(struct make *m, struct event ev)
{
    ev.rank = m->rank;
    tracedata_event(&m->d, &ev, &m->e);
}

static void host(struct make *m, enum ev_kind kind, uint32_t what, int64_t start, int64_t end, int64_t correlation, uint32_t site)
{
    struct event ev = event_none(kind, start, end);
    ev.name = what;
    ev.thread = m->thread;
    ev.correlation = correlation;
    ev.site = site;
    add(m, ev);
}

static void device(struct make *m, int i, int64_t length)
{
    bool comm = i % 32 == 31;
    m->device = m->device > m->now ? m->device : m->now + 3000;
    struct event ev = event_none(comm ? EV_COMM : EV_KERNEL, m->device, m->device + length);
    ev.name = comm ? m->gather : m->kernel[i % NAMES];
    ev.stream = m->stream[comm];
    ev.device = m->rank % 8;
    ev.correlation = m->correlation;
    if (comm)
        ev.detail = tracedata_comm_row(&m->d, (struct ev_comm){.communicator = name(m, "cp", 0),
                                                               .function = name(m, "all_gather", 0),
                                                               .peer = -1,
                                                               .group_size = m->world,
                                                               .sequence = m->sequence++,
                                                               .message_bytes = 1 << 20});
    else
        ev.detail = tracedata_kernel_row(&m->d, (struct ev_kernel){.grid = {1 + i % 64, 1, 1}, .block = {128, 1, 1}, .registers = 16 + i % 40});
    m->device += comm ? length / 2 : length + 200;
    add(m, ev);
}

/* An operator with its launch and kernel; now and then a frame around it, a wait or a range behind it. */
static void work(struct make *m, int i)
{
    int64_t begin = m->now;
    m->correlation++;
    if (i % 3 == 0)
        host(m, EV_FRAME, m->frame[i % FRAMES], begin, begin + 6000, -1, 0);
    host(m, EV_OP, m->op[i % OPS], begin + 100, begin + 5900, -1, 0);
    host(m, EV_RUNTIME, m->launch, begin + 1000, begin + 4000, m->correlation, 0);
    device(m, i, 500 + rnd(m, 8500));
    m->now += 6000;
    if (i % 16 == 0)
        host(m, EV_RANGE, name(m, "layer_%d", i / 16 % 24), begin, m->now, -1, 0);
    if (i % 30 == 29) {
        int64_t until = m->device > m->now + 2000 ? m->device : m->now + 2000;
        struct event ev = event_none(EV_RUNTIME, m->now, until);
        ev.name = m->wait;
        ev.thread = m->thread;
        ev.correlation = ++m->correlation;
        ev.site = m->site[i / 30 % 40];
        ev.detail = tracedata_sync_row(&m->d, (struct ev_sync){SYNC_STREAM, 1, 7, -1});
        add(m, ev);
        m->now = until + 500;
    }
}

static bool make(struct make *m, int64_t events, struct tracefile *f)
{
    m->d.spill = tracefile_append;
    m->d.spill_ctx = f;
    tracedata_meta(&m->d, "source_format", "cpscope");
    tracedata_meta(&m->d, "backend", "cuda");
    keys(m);
    int64_t made = 0, begin = 0;
    for (int i = 0, step = 0; made < events && m->e.kind == ERR_NONE; i++) {
        work(m, i);
        made = m->d.first + (int64_t)m->d.n;
        if (made * STEPS >= events * (step + 1)) {
            host(m, EV_RANGE, name(m, MARK_STEP "#%d", step++), begin, m->now, -1, 0);
            begin = m->now;
        }
    }
    return m->e.kind == ERR_NONE && tracefile_finish(f, &m->d, &m->e);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: own_make EVENTS FILE [RANK [WORLD]]\n");
        return 2;
    }
    struct make m = {.rank = argc > 3 ? atoi(argv[3]) : 0, .world = argc > 4 ? atoi(argv[4]) : 8, .state = 7};
    m.state += (uint64_t)m.rank;
    tracedata_init(&m.d);
    struct tracefile *f = tracefile_create(argv[2], true, &m.e);
    bool ok = f && make(&m, atoll(argv[1]), f);
    tracedata_free(&m.d);
    if (!ok)
        fprintf(stderr, "own_make: %s\n", m.e.msg);
    return !ok;
}
