/* fiber.c - ucontext stacks and a queue of those that can go on. */
#include "kernels/device/fiber.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 256 * 1024 };

enum fiber_state { FIBER_READY, FIBER_WAITING, FIBER_DONE };

struct fiber {
    ucontext_t context;
    enum fiber_state state;
    void *fake_stack; /* the address sanitizer's */
};

struct fibers {
    ucontext_t scheduler;
    void *fake_stack;
    const void *own_stack; /* the scheduler's, as the address sanitizer knows it */
    size_t own_size;
    struct fiber *v;
    unsigned char *stacks; /* n of STACK_BYTES, each with a page at its low end that may not be touched */
    int *ready;            /* a ring of n */
    int n, first, count, current, left;
    void (*body)(int i, void *ctx);
    void *ctx;
};

static _Thread_local struct fibers *running;

static void push(struct fibers *f, int i)
{
    f->ready[(f->first + f->count++) % f->n] = i;
}

/* ---- switching, with what the address sanitizer must hear of it ---- */

static void arrive(struct fibers *f)
{
#ifdef WITH_ASAN
    struct fiber *me = &f->v[f->current];
    const void **own = f->own_stack ? NULL : &f->own_stack;
    __sanitizer_finish_switch_fiber(me->fake_stack, own, own ? &f->own_size : NULL);
#else
    (void)f;
#endif
}

static void leave(struct fibers *f)
{
    struct fiber *me = &f->v[f->current];
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(me->state == FIBER_DONE ? NULL : &me->fake_stack, f->own_stack, f->own_size);
#endif
    swapcontext(&me->context, &f->scheduler);
}

static void resume(struct fibers *f, int i)
{
    f->current = i;
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(&f->fake_stack, f->stacks + (size_t)i * STACK_BYTES, STACK_BYTES);
#endif
    swapcontext(&f->scheduler, &f->v[i].context);
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(f->fake_stack, NULL, NULL);
#endif
}

static void start(void)
{
    struct fibers *f = running;
    int me = f->current;
    arrive(f);
    f->body(me, f->ctx);
    f->v[me].state = FIBER_DONE;
    f->left--;
    leave(f);
}

/* ---- what fibers call ---- */

int fiber_self(void)
{
    return running->current;
}

void fiber_wait(void)
{
    struct fibers *f = running;
    f->v[f->current].state = FIBER_WAITING;
    leave(f);
    arrive(f);
}

void fiber_wake(int i)
{
    struct fibers *f = running;
    if (!f || f->v[i].state != FIBER_WAITING)
        return;
    f->v[i].state = FIBER_READY;
    push(f, i);
}

/* ---- life ---- */

static bool prepare(struct fibers *f)
{
    f->v = calloc((size_t)f->n, sizeof *f->v);
    f->ready = calloc((size_t)f->n, sizeof *f->ready);
    f->stacks = mmap(NULL, (size_t)f->n * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!f->v || !f->ready || f->stacks == MAP_FAILED)
        return false;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < f->n; i++) {
        unsigned char *stack = f->stacks + (size_t)i * STACK_BYTES;
        if (mprotect(stack, page, PROT_NONE) != 0 || getcontext(&f->v[i].context) != 0)
            return false;
        f->v[i].context.uc_stack.ss_sp = stack;
        f->v[i].context.uc_stack.ss_size = STACK_BYTES;
        f->v[i].context.uc_link = NULL; /* a fiber leaves by leave(), never by its end */
        makecontext(&f->v[i].context, start, 0);
        push(f, i);
    }
    return true;
}

static void discard(struct fibers *f)
{
    if (f->stacks != MAP_FAILED)
        munmap(f->stacks, (size_t)f->n * STACK_BYTES);
    free(f->v);
    free(f->ready);
}

bool fibers_run(int n, void (*body)(int i, void *ctx), bool (*stuck)(void *ctx), void *ctx)
{
    assert(n > 0 && !running);
    struct fibers f = {.n = n, .left = n, .body = body, .ctx = ctx};
    bool ok = prepare(&f);
    running = &f;
    while (ok && f.left) {
        ok = f.count || (stuck && stuck(ctx) && f.count);
        if (!ok)
            break;
        int i = f.ready[f.first];
        f.first = (f.first + 1) % f.n;
        f.count--;
        resume(&f, i);
    }
    running = NULL;
    discard(&f);
    return ok;
}
