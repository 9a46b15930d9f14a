/* stack.c - see stack.h. A stack is known by a hash of all its frames; what is new is defined under a lock. */
#include "collector/stack.h"
#include "collector/options.h"
#include "collector/recorder_parts.h"
#include "collector/stack_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 1024 };

/* A frame: a return address (b = 0), or code object and instruction. */
struct raw {
    uint64_t a, b;
};

/* Numbers by hash, open addressing; looked up without the lock, so a table that was replaced stays. */
struct numbers {
    struct numbers *older;
    size_t n, cap;
    struct number {
        _Atomic uint64_t hash; /* 0 free; set after `number` */
        uint32_t number;
    } v[];
};

static _Atomic int64_t threshold = INT64_MAX;
static bool python;
static _Atomic(struct recorder *) untold; /* the recorder, until its trace says the threshold */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct numbers *) stacks;
static struct numbers *frames; /* under the lock */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint64_t hash_of(const struct raw *v, size_t n)
{
    uint64_t h = n + 1;
    for (size_t i = 0; i < n; i++)
        h = mix(mix(h, v[i].a), v[i].b);
    return h ? h : 1;
}

static struct number *place(struct numbers *t, uint64_t hash)
{
    for (size_t i = (size_t)hash & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
        uint64_t h = atomic_load_explicit(&t->v[i].hash, memory_order_acquire);
        if (!h || h == hash)
            return &t->v[i];
    }
}

static uint32_t number_of(struct numbers *t, uint64_t hash)
{
    struct number *at = t ? place(t, hash) : NULL;
    return at && atomic_load_explicit(&at->hash, memory_order_acquire) ? at->number : 0;
}

/* The table with room for one more; NULL: no memory. */
static struct numbers *with_room(struct numbers *t)
{
    if (t && (t->n + 1) * 2 <= t->cap)
        return t;
    size_t cap = t ? t->cap * 2 : FIRST_CAP;
    struct numbers *larger = calloc(1, sizeof *larger + cap * sizeof larger->v[0]);
    if (!larger)
        return NULL;
    *larger = (struct numbers){.older = t, .n = t ? t->n : 0, .cap = cap};
    for (size_t i = 0; t && i < t->cap; i++)
        if (t->v[i].hash) {
            struct number *at = place(larger, t->v[i].hash);
            at->number = t->v[i].number;
            atomic_store(&at->hash, t->v[i].hash);
        }
    return larger;
}

static void set_number(struct numbers *t, uint64_t hash, uint32_t number)
{
    struct number *at = place(t, hash);
    at->number = number;
    atomic_store_explicit(&at->hash, hash, memory_order_release);
    t->n++;
}

/* ---- definitions, under the lock ---- */

static void define_module(void *defs, uint64_t from, uint64_t last, uint64_t bias, const char *path)
{
    defs_put(defs, DEF_MODULE, from, (int64_t)last, (int64_t)bias, (struct def_tail){.text = {path}});
}

static bool define_frame(struct defs *d, const struct raw *f, uint32_t number)
{
    static struct python_text t;
    if (!f->b) {
        if (!native_known(f->a))
            native_modules(define_module, d);
        return defs_put(d, DEF_FRAME, number, (int64_t)f->a, 1, (struct def_tail){0});
    }
    return python_describe((struct python_frame){f->a, f->b}, &t) &&
           defs_put(d, DEF_FRAME, number, t.line, 0, (struct def_tail){.text = {t.function, t.file}});
}

/* 0: it cannot be told what the frame is. */
static uint32_t frame_number(struct defs *d, const struct raw *f)
{
    uint64_t hash = hash_of(f, 1);
    uint32_t number = number_of(frames, hash);
    struct numbers *t = number ? NULL : with_room(frames);
    if (!t)
        return number;
    frames = t;
    number = (uint32_t)t->n + 1;
    if (!define_frame(d, f, number))
        return 0;
    set_number(t, hash, number);
    return number;
}

static uint32_t define_stack(struct defs *d, const struct raw *v, size_t n, uint64_t hash)
{
    uint32_t numbers[STACK_DEEPEST], number = number_of(atomic_load(&stacks), hash);
    struct numbers *t = number ? NULL : with_room(atomic_load(&stacks));
    size_t depth = 0;
    if (!t || t->n >= STACKS_MAX - 1)
        return number;
    atomic_store_explicit(&stacks, t, memory_order_release);
    for (size_t i = 0; i < n; i++) {
        uint32_t frame = frame_number(d, &v[i]);
        if (frame)
            numbers[depth++] = frame;
    }
    number = (uint32_t)t->n + 1;
    if (!defs_put(d, DEF_STACK, number, (int64_t)depth, 0, (struct def_tail){.bytes = numbers, .n = depth * sizeof *numbers}))
        return 0;
    set_number(t, hash, number);
    return number;
}

/* ---- the walk ---- */

/* Native frames from the one that returns to `from` out to the interpreter, then its lines; what called the interpreter is of no
 * interest. */
__attribute__((always_inline)) static inline size_t walk(struct raw *v, size_t most, uint64_t from)
{
    uint64_t pcs[NATIVE_FRAMES];
    struct python_frame lines[PYTHON_FRAMES];
    size_t nlines = python ? python_walk(lines, PYTHON_FRAMES) : 0, n = 0, first = 0;
    size_t npcs = native_walk(pcs, NATIVE_FRAMES);
    while (first < npcs && pcs[first] != from)
        first++;
    for (size_t i = first < npcs ? first : 0; i < npcs && n < most && !(nlines && native_same(pcs[i], python_code())); i++)
        v[n++] = (struct raw){pcs[i], 0};
    for (size_t i = 0; i < nlines && n < most; i++)
        v[n++] = (struct raw){lines[i].code, lines[i].instruction};
    return n;
}

/* An interpreter may come later, with a library: it is looked for at captures 0, 1, 2, 4, 8 ... until there is one. */
static void prepare_python(struct recorder *r)
{
    static _Atomic bool settled;
    static _Atomic unsigned captures;
    const char *why = NULL;
    if (atomic_load_explicit(&settled, memory_order_relaxed))
        return;
    unsigned k = atomic_fetch_add(&captures, 1);
    if (k & (k - 1))
        return;
    pthread_mutex_lock(&lock);
    if (!settled && python_prepare(&why))
        atomic_store(&settled, true);
    pthread_mutex_unlock(&lock);
    if (why)
        recorder_degraded(r, why);
}

/* Before the first stack. */
static void prepare(struct recorder *r)
{
    pthread_mutex_lock(&lock);
    if (!native_known((uint64_t)(uintptr_t)&stack_capture)) { /* another thread may have been here */
        native_prepare();
        native_modules(define_module, &r->defs);
    }
    pthread_mutex_unlock(&lock);
}

/* In the frame of its caller: each one costs the unwinder a step. */
__attribute__((always_inline)) static inline uint32_t capture(struct recorder *r, uint64_t from)
{
    struct raw v[STACK_DEEPEST];
    if (!native_known((uint64_t)(uintptr_t)&stack_capture))
        prepare(r);
    size_t n = walk(v, STACK_DEEPEST, from);
    uint64_t hash = hash_of(v, n);
    uint32_t number = n ? number_of(atomic_load_explicit(&stacks, memory_order_acquire), hash) : 0;
    if (n && !number) {
        pthread_mutex_lock(&lock);
        number = define_stack(&r->defs, v, n, hash);
        pthread_mutex_unlock(&lock);
    }
    return number;
}

__attribute__((noinline)) uint32_t stack_capture(struct recorder *r)
{
    uint64_t from = (uint64_t)(uintptr_t)__builtin_return_address(0);
    int saved = errno;
    uint32_t number = 0;
    if (python)
        prepare_python(r);
    if (recorder_enter(r)) {
        number = capture(r, from);
        recorder_leave();
    }
    errno = saved;
    return number;
}

/* Where sites come from stacks, the trace says which waits have one. */
static void tell_threshold(struct recorder *r)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)record_options()->stack_threshold);
    recorder_meta(r, "stack_threshold_ns", text);
}

bool stack_due(int64_t ns)
{
    struct recorder *r = atomic_load_explicit(&untold, memory_order_relaxed);
    if (r && atomic_compare_exchange_strong(&untold, &r, NULL))
        tell_threshold(r);
    return ns >= atomic_load_explicit(&threshold, memory_order_relaxed);
}

void stack_start(struct recorder *r)
{
    const struct record_options *o = record_options();
    python = o->python;
    atomic_store(&untold, r);
    atomic_store(&threshold, o->stack_threshold);
}

void stack_forked(struct recorder *r)
{
    if (threshold != INT64_MAX)
        atomic_store(&untold, r);
    pthread_mutex_init(&lock, NULL);
    atomic_store(&stacks, NULL); /* the tables of the parent stay behind as memory that nobody uses */
    frames = NULL;
    native_forget();
    safe_read_forked();
}

static void free_numbers(struct numbers *t)
{
    for (struct numbers *older; t; t = older) {
        older = t->older;
        free(t);
    }
}

void stack_end(void)
{
    free_numbers(atomic_load(&stacks));
    free_numbers(frames);
    atomic_store(&untold, NULL);
    stack_forked(NULL);
}
