/* emitter.c - a program that reports as a device of ours does (schemas/activity.h), at a rate and on threads as told.
 *
 *     emitter [--threads N] [--rate EVENTS/s, all threads together; 0 as fast as it goes] [--seconds S | --events N a thread]
 *             [--work N, multiplications before each event] [--end exit|_exit|abort|kill|fork|hang] [--beat] [--spin]
 *
 * Prints what a recording must hold: "events N", and with --beat once in 10 ms the time of the last event of thread 0, in ns
 * since the start of the program. Costs are printed on stderr: ns of one report with one clock reading, then wall and CPU time.
 */
#include "schemas/activity.h"
#include "schemas/clock.h"

#include <argp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    long threads, events, work;
    double rate, seconds;
    const char *end;
    bool beat, spin;
} arg = {.threads = 1, .events = 1000, .end = "exit"};

static activity_fn *report;
static void *context;

__attribute__((visibility("default"))) bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx);

bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx)
{
    if (version != ACTIVITY_VERSION)
        return false;
    context = ctx;
    report = fn;
    return true;
}

static int64_t origin, ended_at;
static _Atomic int64_t total;
enum { LONGEST = 4096 };
static _Atomic int64_t took[LONGEST]; /* how many reports took that many ns; the last: longer */

/* The event mix of a run of ours: launch, kernel, range, host read with its wait. */
static struct activity event(long thread, long i)
{
    static const char *const names[] = {"deviceLaunchKernel", "gemm", "layer", "item", "deviceStreamSynchronize", "copy"};
    static const uint8_t kinds[] = {EV_RUNTIME, EV_KERNEL, EV_RANGE, EV_OP, EV_RUNTIME, EV_MEMCPY};
    int k = (int)(i % 6);
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = kinds[k];
    a.name = names[k];
    a.rank = a.device = (int32_t)(thread % 4);
    a.correlation = i;
    if (k == 1 || k == 5)
        a.stream = 7;
    if (k == 2)
        a.sequence = i % 24;
    if (k == 3 || k == 4)
        a.site = SITE_HERE;
    if (k == 4) {
        a.sync_class = SYNC_STREAM;
        a.did_block = 1;
        a.stream = 7;
    }
    return a;
}

/* Waits until event i is due at this thread's share of the rate. */
static void pace(long i, int64_t start)
{
    if (arg.rate <= 0 || i % 64)
        return;
    int64_t due = start + (int64_t)((double)i * 1e9 * (double)arg.threads / arg.rate);
    while (clock_now() < due) {
        struct timespec t = {0, 200000};
        if (!arg.spin)
            nanosleep(&t, NULL);
    }
}

/* What the program is there for: one multiplication waits for the other. */
static void work(void)
{
    volatile uint64_t result;
    uint64_t x = 1;
    for (long i = 0; i < arg.work; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    result = x;
    (void)result;
}

static bool more(long i, int64_t start)
{
    if (arg.seconds > 0)
        return i % 64 || clock_now() - start < (int64_t)(arg.seconds * 1e9);
    return i < arg.events;
}

static void *emit(void *number)
{
    long thread = (long)(intptr_t)number, i = 0;
    int64_t start = clock_now(), beat = start;
    static _Thread_local uint32_t mine[LONGEST];
    for (; more(i, start); i++) {
        pace(i, start);
        work();
        struct activity a = event(thread, i);
        a.start = clock_now();
        a.end = clock_now();
        if (report)
            report(context, &a);
        int64_t ns = clock_now() - a.end;
        mine[ns < LONGEST ? ns : LONGEST - 1]++;
        if (arg.beat && !thread && a.end - beat > 10000000) {
            printf("%lld\n", (long long)(a.end - origin));
            beat = a.end;
        }
    }
    atomic_fetch_add(&total, i);
    for (int k = 0; k < LONGEST; k++)
        atomic_fetch_add(&took[k], mine[k]);
    return NULL;
}

/* The median: the mean of a thread that shares its core says how long the others ran. */
static int median(void)
{
    int64_t sum = 0;
    int ns = 0;
    for (; ns < LONGEST - 1 && (sum += took[ns]) * 2 < total; ns++)
        ;
    return ns;
}

static void run(void)
{
    pthread_t t[256];
    int64_t start = clock_now();
    for (long i = 1; i < arg.threads; i++)
        pthread_create(&t[i], NULL, emit, (void *)(intptr_t)i);
    emit(NULL);
    for (long i = 1; i < arg.threads; i++)
        pthread_join(t[i], NULL);
    ended_at = clock_now();
    printf("events %lld\n", (long long)total);
    fflush(stdout);
    double n = (double)total, wall = (double)(ended_at - start);
    fprintf(stderr, "emitter: %.0f events/s, %d ns each (median) with a reading of the clock; %.0f us, %.0f us of CPU\n", n * 1e9 / wall, median(),
            wall / 1e3, (double)clock_of(CLOCK_THREAD_CPUTIME_ID) / 1e3);
}

static void end(const char *how)
{
    if (!strcmp(how, "_exit"))
        _exit(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        raise(SIGTERM);
    if (!strcmp(how, "hang"))
        pause();
    if (!strcmp(how, "fork")) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            total = 0;
            emit(NULL);
            exit(0);
        }
        waitpid(child, &status, 0);
    }
}

static error_t option(int key, char *value, struct argp_state *state)
{
    (void)state;
    switch (key) {
    case 't':
        arg.threads = atol(value);
        return 0;
    case 'r':
        arg.rate = atof(value);
        return 0;
    case 's':
        arg.seconds = atof(value);
        return 0;
    case 'n':
        arg.events = atol(value);
        return 0;
    case 'w':
        arg.work = atol(value);
        return 0;
    case 'e':
        arg.end = value;
        return 0;
    case 'b':
        arg.beat = true;
        return 0;
    case 'f':
        arg.spin = true;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {{"threads", 't', "N", 0, "emitting threads", 0},
                                                 {"rate", 'r', "N", 0, "events a second, all threads together", 0},
                                                 {"seconds", 's', "S", 0, "how long", 0},
                                                 {"events", 'n', "N", 0, "or how many, a thread", 0},
                                                 {"work", 'w', "N", 0, "multiplications before each event", 0},
                                                 {"end", 'e', "HOW", 0, "how the program ends", 0},
                                                 {"beat", 'b', NULL, 0, "print times of events", 0},
                                                 {"spin", 'f', NULL, 0, "full cores: threads that are early spin", 0},
                                                 {0}};
    struct argp argp = {.options = options, .parser = option};
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    origin = clock_now();
    run();
    end(arg.end);
    return 0;
}
