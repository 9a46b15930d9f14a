/* grid.cc - a launch on the stand-in: blocks one after another, the threads of a block as coroutines.
 *
 *   scheduler --resume--> carrier A: thread 0 ... barrier --> scheduler --resume--> carrier B: thread 1 ...
 *
 * A carrier is a stack. It runs threads to their ends one after another, so a kernel without barriers is a plain loop on one
 * carrier; only threads that wait keep theirs.
 */
#include "cuda_runtime.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

__thread dim3 threadIdx, blockIdx, blockDim, gridDim;

enum { THREADS_MAX = 1024, WARP = 32, STACK_BYTES = 256 << 10, SHARED_MAX = 232448 };
enum state { NEW, READY, AT_BARRIER, IN_WARP, DONE };

struct carrier {
    jmp_buf at;
    ucontext_t start;
    bool started;
};

struct warp {
    unsigned arrived, mask, vote[2];
    uint64_t value[2][WARP];
    unsigned turn;
};

struct block {
    struct block *next; /* of those not in use */
    jmp_buf scheduler;
    struct carrier carriers[THREADS_MAX];
    unsigned char *stacks;
    int idle[THREADS_MAX], nidle; /* carriers */
    enum state state[THREADS_MAX];
    int carrier_of[THREADS_MAX];
    struct warp warps[THREADS_MAX / WARP];
    int n, fresh, done, waiting; /* threads of the block; not begun; ended; at the barrier */
    int current;                 /* thread */
    bool reverse;
    void (*body)(void *);
    void *ctx;
    alignas(128) unsigned char shared[SHARED_MAX];
};

static __thread struct block *b;

[[noreturn]] static void wrong(const char *what)
{
    fprintf(stderr, "cuda stand-in: %s (block %u, thread %d of %d)\n", what, blockIdx.x, b->current, b->n);
    abort();
}

static void become(int thread)
{
    b->current = thread;
    threadIdx = dim3(thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / (blockDim.x * blockDim.y));
}

static int next_fresh()
{
    int k = b->n - b->fresh--;
    return b->reverse ? b->n - 1 - k : k;
}

static void carry(int number)
{
    for (;;) {
        while (b->fresh) {
            become(next_fresh());
            b->carrier_of[b->current] = number;
            b->body(b->ctx);
            b->state[b->current] = DONE;
            b->done++;
        }
        b->idle[b->nidle++] = number;
        if (!_setjmp(b->carriers[number].at))
            _longjmp(b->scheduler, 1);
    }
}

static void give_way(enum state why)
{
    struct carrier *mine = &b->carriers[b->carrier_of[b->current]];
    b->state[b->current] = why;
    if (!_setjmp(mine->at))
        _longjmp(b->scheduler, 1);
}

static void enter(int carrier)
{
    struct carrier *c = &b->carriers[carrier];
    if (_setjmp(b->scheduler))
        return;
    if (c->started)
        _longjmp(c->at, 1);
    c->started = true;
    getcontext(&c->start);
    c->start.uc_stack.ss_sp = b->stacks + (size_t)carrier * STACK_BYTES;
    c->start.uc_stack.ss_size = STACK_BYTES;
    makecontext(&c->start, (void (*)())carry, 1, carrier);
    setcontext(&c->start);
}

/* Resumes the threads that can go on; false when there are none. */
static bool resume_ready()
{
    bool any = false;
    for (int k = 0; k < b->n; k++) {
        int t = b->reverse ? b->n - 1 - k : k;
        if (b->state[t] != READY)
            continue;
        any = true;
        become(t);
        enter(b->carrier_of[t]);
    }
    return any;
}

static void release_barrier()
{
    for (int t = 0; t < b->n; t++)
        if (b->state[t] == AT_BARRIER)
            b->state[t] = READY;
    b->waiting = 0;
}

static void run_block()
{
    b->fresh = b->n;
    b->done = b->waiting = 0;
    memset(b->warps, 0, sizeof b->warps);
    for (int t = 0; t < b->n; t++)
        b->state[t] = NEW;
    while (b->done < b->n) {
        if (b->fresh)
            enter(b->idle[--b->nidle]);
        else if (resume_ready())
            continue;
        else if (b->waiting && b->waiting == b->n - b->done)
            release_barrier();
        else
            wrong("threads wait for others that will not come");
    }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *unused;

static struct block *make_block()
{
    struct block *made = (struct block *)aligned_alloc(128, (sizeof *made + 127) / 128 * 128);
    void *stacks = mmap(NULL, (size_t)THREADS_MAX * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!made || stacks == MAP_FAILED)
        abort();
    memset((void *)made, 0, offsetof(struct block, shared));
    made->stacks = (unsigned char *)stacks;
    for (int i = 0; i < THREADS_MAX; i++)
        made->idle[made->nidle++] = THREADS_MAX - 1 - i;
    const char *order = getenv("STANDIN_ORDER");
    made->reverse = order && strcmp(order, "reverse") == 0;
    return made;
}

/* Stacks are used again by whatever thread launches next. */
static struct block *take_block()
{
    pthread_mutex_lock(&lock);
    struct block *taken = unused;
    if (taken)
        unused = taken->next;
    pthread_mutex_unlock(&lock);
    return taken ? taken : make_block();
}

static void put_block(struct block *used)
{
    pthread_mutex_lock(&lock);
    used->next = unused;
    unused = used;
    pthread_mutex_unlock(&lock);
}

void standin_grid(dim3 grid, dim3 block, size_t shared, void (*body)(void *), void *ctx)
{
    b = take_block();
    b->n = (int)(block.x * block.y * block.z);
    b->body = body;
    b->ctx = ctx;
    gridDim = grid;
    blockDim = block;
    if (b->n < 1 || b->n > THREADS_MAX || shared > SHARED_MAX || grid.x == 0 || grid.y == 0 || grid.z == 0)
        wrong("a launch that no GPU takes");
    standin_touch();
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = dim3(x, y, z);
                memset(b->shared, 0xff, shared);
                run_block();
            }
    standin_leave();
    put_block(b);
}

void *standin_shared()
{
    return b->shared;
}

int standin_lane()
{
    return b->current % WARP;
}

void standin_block_barrier()
{
    b->waiting++;
    give_way(AT_BARRIER);
}

/* One meeting of the lanes of a mask. Two sets of values, so that a lane that has gone on to the next meeting does not write
 * over what a slower one still reads. */
static const struct warp *meet(unsigned mask, uint64_t value, int predicate, unsigned *turn)
{
    int me = b->current, lane = me % WARP, first = me - lane;
    struct warp *w = &b->warps[me / WARP];
    if (b->n - first < WARP)
        mask &= (1u << (b->n - first)) - 1;
    *turn = w->turn % 2;
    if (!w->arrived) {
        w->mask = mask;
        w->vote[*turn] = 0;
    }
    if (w->mask != mask || !(mask >> lane & 1))
        wrong("lanes of a warp meet with different masks");
    w->arrived |= 1u << lane;
    w->value[*turn][lane] = value;
    w->vote[*turn] |= (unsigned)(predicate != 0) << lane;
    if (w->arrived != mask) {
        give_way(IN_WARP);
        return w;
    }
    w->arrived = 0;
    w->turn++;
    for (int i = 0; i < WARP; i++)
        if (mask >> i & 1 && i != lane)
            b->state[first + i] = READY;
    return w;
}

uint64_t standin_exchange(unsigned mask, uint64_t value, int from)
{
    unsigned turn;
    return meet(mask, value, 0, &turn)->value[turn][from];
}

unsigned standin_ballot(unsigned mask, int predicate)
{
    unsigned turn;
    return meet(mask, 0, predicate, &turn)->vote[turn];
}
