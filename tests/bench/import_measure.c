/* import_measure.c - a Kineto trace of the size asked for, and what reading it costs.
 *
 *   import_measure generate MEGABYTES FILE       events in the mixture of a real training trace; the same bytes every time
 *   import_measure time FILE REPEAT -- COMMAND   the best of REPEAT runs: wall, CPU, MB of FILE per second, peak memory
 *   import_measure rows N REPEAT -- COMMAND      the same per event, for a command that reads N of them
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t state = 7;

static unsigned rnd(unsigned n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

static long long written;

static void put(FILE *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    written += vfprintf(f, fmt, ap);
    va_end(ap);
}

static void frame(FILE *f, long long ts, int i)
{
    put(f,
        "  {\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"model/block_%d.py(%d): forward\", \"pid\": 100, \"tid\": 100, \"ts\": "
        "%lld.%03lld, "
        "\"dur\": 40.125, \"args\": {\"Python parent id\": %d, \"Python id\": %d, \"Ev Idx\": %d}},\n",
        i % 40, i % 900, ts / 1000, ts % 1000, i, i + 1, i);
}

static void op(FILE *f, long long ts, int i)
{
    put(f,
        "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_%d\", \"pid\": 100, \"tid\": 100,\n    \"ts\": %lld.%03lld, \"dur\": "
        "12.500,\n"
        "    \"args\": {\n      \"External id\": %d,\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"[%d, 4096]\", \"False\"], "
        "\"Input type\": [\"c10::BFloat16\", \"ScalarList\", \"Scalar\"], \"Input Dims\": [[%d, 4096], [], []], \"Ev Idx\": %d\n    }\n  },\n",
        i % 60, ts / 1000, ts % 1000, i, i % 512, i % 512, i);
}

static void launch(FILE *f, long long ts, long long dur, int i)
{
    put(f,
        "  {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 100, \"tid\": 100, \"ts\": %lld.%03lld, \"dur\": "
        "3.250, "
        "\"args\": {\"External id\": %d, \"cbid\": 211, \"correlation\": %d}},\n"
        "  {\"ph\": \"s\", \"id\": %d, \"pid\": 100, \"tid\": 100, \"ts\": %lld.%03lld, \"cat\": \"ac2g\", \"name\": \"ac2g\"},\n",
        ts / 1000, ts % 1000, i, i, i, ts / 1000, ts % 1000);
    ts += 5000;
    put(f,
        "  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::vectorized_elementwise_kernel<4, at::native::f%d, "
        "at::detail::Array<char*, 2> >\", "
        "\"pid\": 0, \"tid\": 7, \"ts\": %lld.%03lld, \"dur\": %lld.%03lld, \"args\": {\"External id\": %d, \"queued\": 0, \"device\": 0, "
        "\"context\": 1, "
        "\"stream\": 7, \"correlation\": %d, \"registers per thread\": %d, \"shared memory\": 0, \"blocks per SM\": 0.592593, \"warps per SM\": "
        "4.740741, "
        "\"grid\": [%d, 1, 1], \"block\": [128, 1, 1], \"est. achieved occupancy %%\": 12}},\n",
        i % 300, ts / 1000, ts % 1000, dur / 1000, dur % 1000, i, i, 16 + i % 40, 1 + i % 64);
}

static int generate(const char *megabytes, const char *path)
{
    FILE *f = fopen(path, "wb");
    long long ts = 1700000000000000000, size = atoll(megabytes) * 1000000;
    if (!f)
        return perror(path), 1;
    fputs("{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 3, \"world_size\": 8}, \"traceEvents\": [\n", f);
    for (int i = 0; written < size; i++) {
        long long dur = 500 + rnd(8500);
        if (i % 3 == 0)
            frame(f, ts, i);
        op(f, ts, i);
        launch(f, ts, dur, i);
        ts += dur + 1000;
    }
    fputs("  {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 100, \"tid\": 0, \"args\": {\"name\": \"python\"}}\n]}\n", f);
    return fclose(f) != 0;
}

static double seconds(struct timespec a, struct timespec b)
{
    return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

static int run_once(char **command, double *wall, struct rusage *use)
{
    struct timespec a, b;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &a);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execvp(*command, command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, use) != child)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &b);
    *wall = seconds(a, b);
    return status;
}

struct cost {
    double wall, cpu;
    long peak; /* KiB */
};

static int best_of(int repeat, char **command, struct cost *best)
{
    struct rusage use;
    double wall;
    *best = (struct cost){1e9, 1e9, 0};
    for (int i = 0; i < repeat; i++) {
        if (run_once(command, &wall, &use) != 0)
            return fprintf(stderr, "%s failed\n", *command), 1;
        double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
        best->wall = wall < best->wall ? wall : best->wall;
        best->cpu = cpu < best->cpu ? cpu : best->cpu;
        best->peak = use.ru_maxrss > best->peak ? use.ru_maxrss : best->peak;
    }
    return 0;
}

static int measure(const char *path, int repeat, char **command)
{
    struct stat st;
    struct cost c;
    if (stat(path, &st) != 0)
        return perror(path), 1;
    if (best_of(repeat, command, &c) != 0)
        return 1;
    double mb = (double)st.st_size / 1e6, peak = (double)c.peak * 1024 / 1e6;
    printf("%.0f MB of text: %.2f s wall, %.2f s CPU, %.0f MB/s, %.0f MB/s of CPU time, peak memory %.0f MB = %.2f of the text\n", mb, c.wall, c.cpu,
           mb / c.wall, mb / c.cpu, peak, peak / mb);
    return 0;
}

static int measure_rows(double n, int repeat, char **command)
{
    struct cost c;
    if (best_of(repeat, command, &c) != 0)
        return 1;
    printf("%9.0f events: %6.2f s wall, %6.2f s CPU, %4.0f ns an event (%4.0f of CPU time), peak memory %4.0f bytes an event\n", n, c.wall, c.cpu,
           c.wall * 1e9 / n, c.cpu * 1e9 / n, (double)c.peak * 1024 / n);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "generate") == 0)
        return generate(argv[2], argv[3]);
    if (argc > 5 && strcmp(argv[1], "time") == 0)
        return measure(argv[2], atoi(argv[3]), argv + 5);
    if (argc > 5 && strcmp(argv[1], "rows") == 0)
        return measure_rows(atof(argv[2]), atoi(argv[3]), argv + 5);
    fprintf(stderr, "usage: import_measure generate MEGABYTES FILE | time FILE REPEAT -- COMMAND | rows N REPEAT -- COMMAND\n");
    return 2;
}
