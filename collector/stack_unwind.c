/* stack_unwind.c - return addresses by the unwinder of gcc, as far as they are not those of the thread's last walk.
 *
 *   last walk    a0 a1 a2 | b0 b1 ... main      each with the place in the stack where it stands
 *   this walk    c0 c1    | b0 b1 ... main      from the first place that is one of the last walk's: the rest is known
 *
 * A step of the unwinder costs some 0.2 us, and between two waits of a thread most of its stack stays as it is. How large a frame
 * is, is a property of the code: an address and its place tell where the next one stands. So where all addresses of the last walk
 * from some place on still stand in theirs, they are what the unwinder would find. (A frame of varying size could hide another
 * only if every address that it covers were left in its place.)
 *
 * Source: the unwinder's interface is that of the Itanium C++ ABI, level 1; it is looked up at run time, as glibc does, for programs
 * without it. On machines whose calls do not put the address below the caller's frame nothing is kept.
 */
#include "collector/stack_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unwind.h>

enum { WALKS = 256, FRAMES = NATIVE_FRAMES + 2 };

struct frame {
    uint64_t pc, place;
};

struct walk { /* the last one of a thread */
    uint64_t low;
    size_t n;
    struct frame v[FRAMES];
};

/* By the bounds of the thread's stack. `busy`: somebody is at it; who finds that goes without. */
static struct walk walks[WALKS];
static atomic_flag busy[WALKS];

static struct {
    __typeof__(_Unwind_Backtrace) *walk;
    __typeof__(_Unwind_GetIP) *ip;
    __typeof__(_Unwind_GetCFA) *cfa;
} unwinder;

void unwind_prepare(void)
{
    void *lib = dlopen("libgcc_s.so.1", RTLD_LAZY);
    if (!lib)
        return;
    *(void **)&unwinder.ip = dlsym(lib, "_Unwind_GetIP");
    *(void **)&unwinder.cfa = dlsym(lib, "_Unwind_GetCFA");
    *(void **)&unwinder.walk = dlsym(lib, "_Unwind_Backtrace");
}

void unwind_forked(void)
{
    for (size_t i = 0; i < WALKS; i++)
        atomic_flag_clear(&busy[i]);
}

__attribute__((no_sanitize("address", "thread"))) static bool stands(const struct frame *f)
{
    return *(const uint64_t *)(uintptr_t)f->place == f->pc;
}

/* From which frame on the walk is still there; frames below `from` are gone, and not looked at. */
static size_t still_there(const struct walk *w, uint64_t from, uint64_t high)
{
    size_t i = w->n;
    if (!i || w->v[i - 1].place + sizeof(uint64_t) > high)
        return i;
    while (i && w->v[i - 1].place >= from && stands(&w->v[i - 1]))
        i--;
    return i;
}

struct unwinding {
    const struct walk *last;
    struct frame now[FRAMES];
    size_t n, at;  /* last->v[at ..] is still there, and not yet passed */
    uint64_t from; /* what stands below is ours */
};

static void take_rest(struct unwinding *u)
{
    for (; u->at < u->last->n && u->n < FRAMES; u->at++)
        u->now[u->n++] = u->last->v[u->at];
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    struct unwinding *u = arg;
    struct frame f = {unwinder.ip(context), unwinder.cfa(context) - sizeof(uint64_t)};
    if (f.place < u->from)
        return _URC_NO_REASON;
    while (u->at < u->last->n && u->last->v[u->at].place < f.place)
        u->at++;
    if (u->at < u->last->n && u->last->v[u->at].place == f.place)
        take_rest(u);
    else if (f.pc && u->n < FRAMES) {
        u->now[u->n++] = f;
        return _URC_NO_REASON;
    }
    return _URC_END_OF_STACK;
}

/* Only a walk that came to its end and whose addresses all stand where they should. */
static void keep(struct walk *w, const struct unwinding *u, struct thread_stack s)
{
    uint64_t below = s.low;
    bool whole = u->n < FRAMES;
    for (size_t i = 0; i < u->n && whole; i++) {
        const struct frame *f = &u->now[i];
        whole = f->place >= below && f->place + sizeof(uint64_t) <= s.high && f->place % sizeof(uint64_t) == 0 && stands(f);
        below = f->place + 1;
    }
    w->low = s.low;
    w->n = whole ? u->n : 0;
    memcpy(w->v, u->now, w->n * sizeof *w->v);
}

/* With the thread's last walk. */
static void walk(struct unwinding *u, struct walk *w, struct thread_stack s)
{
    if (w->low != s.low)
        w->n = 0;
    u->last = w;
    u->at = still_there(w, u->from, s.high);
    if (u->at == 0 && w->n && w->v[0].place == u->from) {
        take_rest(u);
        return;
    }
    unwinder.walk(step, u);
    keep(w, u, s);
}

/* Begins with the address of return to its caller, which stands above the frame pointer. */
__attribute__((noinline)) size_t unwind_walk(uint64_t *pcs, size_t most, struct thread_stack s)
{
    static const struct walk none;
    struct unwinding u;
    u.n = u.at = 0;
    u.last = &none;
    u.from = (uint64_t)(uintptr_t)__builtin_frame_address(0) + sizeof(uint64_t);
    size_t i = (s.low >> 12) * 0x9e3779b97f4a7c15u >> 56;
    bool own = u.from >= s.low && u.from < s.high; /* else it runs on a stack that it made itself */
    if (!unwinder.walk)
        return 0;
    if (own && !atomic_flag_test_and_set_explicit(&busy[i], memory_order_acquire)) {
        walk(&u, &walks[i], s);
        atomic_flag_clear_explicit(&busy[i], memory_order_release);
    } else
        unwinder.walk(step, &u);
    size_t n = u.n < most ? u.n : most;
    for (size_t k = 0; k < n; k++)
        pcs[k] = u.now[k].pc;
    return n;
}
