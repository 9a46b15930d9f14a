/* sim_scale.c - what a simulated event costs, from 64 to 8,192 ranks: 24 layers, one step, nothing recorded.
 *
 * Events are those of a trace: works on streams, collectives and host calls; ranges are not counted. They are counted in a
 * run of their own, for whoever listens has a price. Every run is a process of its own: memory that it touches first is
 * part of the cost. CPU time, user and system.
 */
#include "kernels/model/run.h"
#include "kernels/options.h"
#include "schemas/activity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx);

enum { ROWS = 1024, GROUP = 4, LEAST_RANKS = 64 };

static void count(void *ctx, const struct activity *a)
{
    *(int64_t *)ctx += a->what == ACT_EVENT && a->kind != EV_RANGE;
}

/* One step; the number of its events when they are to be counted. */
static int64_t simulate(struct run_options o, bool counted)
{
    struct arena a = {0};
    struct run_config c;
    struct run_row row;
    struct err e = {0};
    int64_t events = 0;
    if (counted)
        cpscope_activity_subscribe(ACTIVITY_VERSION, count, &events);
    if (!run_config_of(&o, &c, &a, &e) || !run_steps(&c, &row, NULL, &e)) {
        fprintf(stderr, "sim_scale: %s\n", e.msg);
        exit(3);
    }
    arena_free(&a);
    return events;
}

/* In a child: its events, and what it used. */
static int64_t child(struct run_options o, bool counted, struct rusage *used)
{
    int ends[2], status;
    int64_t events = 0;
    if (pipe(ends) != 0)
        exit(3);
    pid_t pid = fork();
    if (pid == 0) {
        events = simulate(o, counted);
        _exit(write(ends[1], &events, sizeof events) != sizeof events);
    }
    if (pid < 0 || read(ends[0], &events, sizeof events) != sizeof events || wait4(pid, &status, 0, used) != pid || status != 0)
        exit(3);
    close(ends[0]);
    close(ends[1]);
    return events;
}

/* CPU seconds, the least of some runs. */
static double seconds(struct run_options o, int runs, int64_t *peak)
{
    double best = 1e9;
    while (runs-- > 0) {
        struct rusage u;
        child(o, false, &u);
        double took = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
        best = took < best ? took : best;
        *peak = u.ru_maxrss;
    }
    return best;
}

static double measure(const char *what, int cp, int tp, bool groups, double first)
{
    struct run_options o = run_options_default;
    struct rusage u;
    int64_t peak = 0, ranks = (int64_t)cp * tp;
    o.mode = "gdn.chunkwise", o.device = "sim", o.layers = 24, o.cp = cp, o.tp = tp, o.tokens = (int64_t)ROWS * cp;
    o.seqs = groups ? "equal:4096" : "equal:1";
    o.dynamic_cp = groups ? "4" : NULL;
    double took = seconds(o, ranks > LEAST_RANKS ? 3 : 20, &peak);
    int64_t events = child(o, true, &u);
    double ns = 1e9 * took / (double)events;
    printf("%-18s %6" PRId64 " %12" PRId64 " %8.2f %8.1f %6.2f %8" PRId64 "\n", what, ranks, events, took, ns, first > 0 ? ns / first : 1,
           peak / 1024);
    fflush(stdout);
    return ns;
}

int main(void)
{
    static const int sizes[] = {64, 256, 1024, 4096};
    printf("%-18s %6s %12s %8s %8s %6s %8s\n", "", "ranks", "events", "CPU s", "ns each", "ratio", "peak MB");
    for (int groups = 0; groups < 2; groups++) {
        double first = 0;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            double ns = measure(groups ? "groups of 4" : "one group", sizes[i], 1, groups, first);
            first = i ? first : ns;
        }
        measure(groups ? "groups of 4, tp 2" : "one group, tp 2", 4096, 2, groups, first);
    }
    return 0;
}
