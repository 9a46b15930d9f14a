/* test_stack.c - call stacks: the frames that there are, each distinct stack once, from any thread. */
#include "recorder_run.h"

#include "collector/options.h"
#include "collector/stack.h"
#include "collector/stack_parts.h"
#include "schemas/symbols.h"

#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>

enum { THREADS = 8, DEEPEST = 40 };

/* A wait with the stack of whoever calls this. */
__attribute__((noinline)) static uint32_t report(struct recorder *r, int64_t i)
{
    struct activity a = event(0, i);
    a.kind = EV_RUNTIME;
    a.name = "deviceStreamSynchronize";
    a.sync_class = SYNC_STREAM;
    uint32_t number = stack_capture(r);
    recorder_emit_as(r, &a, &(struct emit_as){.stack = number});
    return number;
}

/* `depth` calls of itself, then a report by one of two lines. */
__attribute__((noinline)) static uint32_t descend(struct recorder *r, int64_t i, int depth)
{
    uint32_t number;
    if (depth)
        number = descend(r, i, depth - 1);
    else if (i % 2) {
        number = report(r, i);
        __asm__ volatile("# odd" ::: "memory"); /* what is behind the calls differs: the compiler makes two of them */
    } else
        number = report(r, i);
    __asm__ volatile("" ::: "memory"); /* no call is the last thing done */
    return number;
}

static const char *function(const struct tracedata *d, const struct stackkey *k, uint32_t depth)
{
    return intern_str(&d->strings, d->sites[d->frames[k->first + depth]].function);
}

static uint32_t count(const struct tracedata *d, const struct stackkey *k, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->depth; i++)
        n += strcmp(function(d, k, i), name) == 0;
    return n;
}

struct job {
    struct recorder *r;
    uint64_t seed;
    uint32_t seen[DEEPEST + 1]; /* number by depth */
};

static void *descend_often(void *p)
{
    struct job *j = p;
    for (int i = 0; i < 300; i++) {
        j->seed = j->seed * 6364136223846793005u + 1442695040888963407u;
        int depth = (int)(j->seed >> 33) % (DEEPEST + 1);
        uint32_t number = descend(j->r, depth * 2, depth);
        if (!number || (j->seen[depth] && j->seen[depth] != number))
            return p;
        j->seen[depth] = number;
    }
    return NULL;
}

TEST(equal_stacks_have_one_number)
{
    struct tracedata d;
    struct job jobs[THREADS];
    pthread_t t[THREADS];
    struct recorder *r = open_recorder(0);
    stack_start(r);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.r = r, .seed = (uint64_t)i + 1};
        assert_int_equal(pthread_create(&t[i], NULL, descend_often, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(t[i], &wrong);
        assert_null(wrong);
        for (int k = 0; k <= DEEPEST; k++)
            assert_true(!jobs[0].seen[k] || !jobs[i].seen[k] || jobs[0].seen[k] == jobs[i].seen[k]);
    }
    recorder_close(r);
    load(&d);
    assert_int_equal(d.n, THREADS * 300);
    assert_true(d.nstacks <= DEEPEST + 2);
    for (size_t i = 0; i < d.n; i++) {
        const struct stackkey *k = &d.stacks[ev_sync_of(&d, &d.ev[i])->stack];
        assert_string_equal(function(&d, k, 0), "report");
        assert_string_equal(function(&d, k, 1), "descend");
        assert_int_equal(count(&d, k, "descend"), d.ev[i].correlation / 2 + 1);
        assert_int_equal(count(&d, k, "descend_often"), 1);
    }
    tracedata_free(&d);
    recorder_free(r);
    stack_end();
}

TEST(other_lines_are_other_stacks)
{
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    stack_start(r);
    uint32_t n[4]; /* the same line calls all of them */
    for (int i = 0; i < 4; i++)
        n[i] = descend(r, i, i < 3 ? 5 : 6);
    assert_true(n[0] && n[1] && n[3] && n[0] != n[1] && n[3] != n[1] && n[3] != n[0]);
    assert_int_equal(n[0], n[2]);
    recorder_close(r);
    load(&d);
    assert_int_equal(d.nstacks, 1 + 3);
    tracedata_free(&d);
    recorder_free(r);
    stack_end();
}

/* Frames of three sizes, one of them other at each call, from five call sites; what is on the stack is from earlier calls. */
struct descent {
    uint64_t seed;
    struct thread_stack stack;
    int wrong, compared;
    size_t more; /* frames that backtrace() has of its own: a sanitizer's has */
};

static uint64_t draw(struct descent *d)
{
    d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
    return d->seed >> 33;
}

static void compare(struct descent *d)
{
    uint64_t got[NATIVE_FRAMES + 2];
    void *want[NATIVE_FRAMES + 2];
    size_t n = unwind_walk(got, NATIVE_FRAMES + 2, d->stack);
    int m = backtrace(want, NATIVE_FRAMES + 2);
    if (!d->compared++)
        d->more = (size_t)m - n;
    bool same = d->more <= 1 && n > 3 && n + d->more == (size_t)m;
    for (size_t i = 1; i < n && same; i++) /* the first one is in here, where two calls are two addresses */
        same = got[i] == (uint64_t)(uintptr_t)want[i + d->more];
    d->wrong += !same;
}

static void wander(struct descent *d, int depth);

__attribute__((noinline)) static void small(struct descent *d, int depth)
{
    wander(d, depth);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void large(struct descent *d, int depth)
{
    char room[200];
    __asm__ volatile("" ::"r"(room) : "memory");
    wander(d, depth);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void varying(struct descent *d, int depth)
{
    char *room = alloca(16 + draw(d) % 8 * 16);
    __asm__ volatile("" ::"r"(room) : "memory");
    wander(d, depth);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void wander(struct descent *d, int depth)
{
    for (uint64_t turns = 1 + draw(d) % 3; turns > 0; turns--) {
        compare(d);
        uint64_t which = depth ? draw(d) % 5 : 5;
        if (which == 0)
            small(d, depth - 1);
        else if (which == 1)
            large(d, depth - 1);
        else if (which == 2)
            varying(d, depth - 1);
        else if (which == 3)
            small(d, depth - 1), large(d, depth - 1);
    }
    compare(d);
}

static void *wander_about(void *p)
{
    struct descent *d = p;
    pthread_attr_t a;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &a);
    pthread_attr_getstack(&a, &low, &size);
    pthread_attr_destroy(&a);
    d->stack = (struct thread_stack){(uintptr_t)low, (uintptr_t)low + size};
    for (int i = 0; i < 20; i++)
        wander(d, 7);
    d->stack = (struct thread_stack){0, 0}; /* nothing is kept */
    wander(d, 3);
    return NULL;
}

/* What a walk keeps for the next one never shows. */
TEST(walks_are_those_of_backtrace)
{
    enum { WALKERS = 3 };
    struct descent d[WALKERS] = {{.seed = 1}, {.seed = 2}, {.seed = 3}};
    pthread_t t[WALKERS];
    unwind_prepare();
    for (int i = 1; i < WALKERS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, wander_about, &d[i]), 0);
    wander_about(&d[0]);
    for (int i = 1; i < WALKERS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < WALKERS; i++)
        assert_int_equal(d[i].wrong, 0);
}

TEST(the_threshold_is_exact)
{
    int64_t t = record_options()->stack_threshold;
    assert_true(stack_due(t));
    assert_false(stack_due(t - 1));
}

/* Reads end where there is nothing, whatever is asked for. */
TEST(reads_do_not_fault)
{
    char here[16] = "0123456789abcde", there[16];
    assert_true(safe_read((uint64_t)(uintptr_t)here, there, sizeof there));
    assert_string_equal(there, here);
    static const uint64_t odd[] = {0, 1, 4096, UINT64_MAX, UINT64_MAX - 8, UINT64_C(1) << 47, UINT64_C(0xdeadbeef0000)};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_false(safe_read(odd[i], there, sizeof there));
    struct python_frame v[4];
    assert_int_equal(python_walk(v, 4), 0); /* there is no interpreter here */
}

/* A function's name by an address in it, against what the loader knows. */
TEST(symbols_are_found)
{
    struct symbols s = {0};
    struct arena a = {0};
    Dl_info info;
    assert_true(dladdr((void *)(uintptr_t)&dlsym, &info));
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4400], file[4096] = "";
    unsigned long long from, to, offset, pc = (unsigned long long)(uintptr_t)&dlsym;
    while (fgets(line, sizeof line, maps) &&
           !(sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &from, &to, &offset, file) == 4 && pc >= from && pc < to))
        file[0] = 0;
    fclose(maps);
    const char *name = symbols_at(&s, file, pc - from + offset, &a);
    assert_non_null(name);
    assert_non_null(strstr(name, "dlsym"));
    assert_null(symbols_at(&s, "no/such/file", 0, &a));
    assert_null(symbols_at(&s, "/proc/self/maps", 100, &a));
    symbols_free(&s);
    arena_free(&a);
}

UNIT_MAIN(UNIT(equal_stacks_have_one_number), UNIT(other_lines_are_other_stacks), UNIT(walks_are_those_of_backtrace), UNIT(the_threshold_is_exact),
          UNIT(reads_do_not_fault), UNIT(symbols_are_found))
