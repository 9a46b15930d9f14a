/* import_run.h - helpers of the importer tests: a text or a file into a tracedata, and quick looks at it. */
#pragma once
#include "analyzer/import.h"
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

/* Warnings go to stderr; tests that expect them need not show them. */
static inline int import_hush(void)
{
    int old = dup(STDERR_FILENO), none = open("/dev/null", O_WRONLY);
    dup2(none, STDERR_FILENO);
    close(none);
    return old;
}

static inline void import_unhush(int old)
{
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
}

static inline bool import_quietly(const char *path, struct tracedata *d, struct err *e)
{
    int old = import_hush();
    tracedata_init(d);
    bool ok = import_open(path, false, d, e);
    import_unhush(old);
    return ok;
}

static inline void import_write(const char *path, const void *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* The text as a file "import.in"; fails the test when it is refused. */
static inline struct tracedata import_text(const char *text)
{
    struct tracedata d;
    struct err e = {0};
    import_write("import.in", text, strlen(text));
    if (!import_quietly("import.in", &d, &e))
        fail_msg("refused: %s", e.msg);
    unlink("import.in");
    return d;
}

static inline const char *event_name(const struct tracedata *d, size_t i)
{
    return intern_str(&d->strings, d->ev[i].name);
}

static inline uint32_t process_of_event(const struct tracedata *d, const struct event *ev)
{
    return ev->thread ? d->threads[ev->thread].process : d->streams[ev->stream].process;
}

static inline bool holds_string(const struct tracedata *d, const char *part)
{
    for (size_t i = 0; i < d->strings.n; i++)
        if (strstr(d->strings.strings[i], part))
            return true;
    return false;
}

/* Rows of EXPECTED.tsv against what is in memory: counts, extent, sums; gives how many rows were compared. */
struct expected {
    char file[256], device[32];
    long long kernels, comm, memops, streams, span, busy, kernel_sum, negative;
};

static inline bool expected_row(const char *line, struct expected *x)
{
    char pct[32], neg[32];
    return sscanf(line, "%255s %31s %lld %lld %lld %lld %lld %lld %31s %lld %*d %*d %*d %*d %*d %*d %31s", x->file, x->device, &x->kernels, &x->comm,
                  &x->memops, &x->streams, &x->span, &x->busy, pct, &x->kernel_sum, neg) == 11 &&
           (x->negative = atoll(neg), true);
}

static inline bool is_work(const struct event *ev)
{
    return ev_kind_class((enum ev_kind)ev->kind) == EV_WORK;
}

struct import_span {
    int64_t start, end;
};

static inline int import_by_start(const void *x, const void *y)
{
    const struct import_span *a = x, *b = y;
    return (a->start > b->start) - (a->start < b->start);
}

/* Length of the union, by sweeping over the sorted spans. */
static inline long long import_union(struct import_span *v, size_t n)
{
    long long length = 0;
    int64_t covered = INT64_MIN;
    qsort(v, n, sizeof *v, import_by_start);
    for (size_t i = 0; i < n; i++) {
        int64_t from = v[i].start > covered ? v[i].start : covered;
        length += v[i].end > from ? v[i].end - from : 0;
        covered = v[i].end > covered ? v[i].end : covered;
    }
    return length;
}

static inline void compare_expected(const struct tracedata *d, const struct expected *x)
{
    struct expected got = {0};
    int64_t first = INT64_MAX, last = INT64_MIN;
    bool all = strcmp(x->device, "all") == 0;
    struct import_span *spans = calloc(d->n + 1, sizeof *spans);
    size_t n = 0;
    assert_non_null(spans);
    for (size_t i = 0; i < d->n; i++) {
        const struct event *ev = &d->ev[i];
        bool kernel = ev->kind == EV_KERNEL || ev->kind == EV_COMM, bad = ev->end < ev->start;
        if (!is_work(ev) || (!all && ev->device != atoi(x->device)))
            continue;
        got.negative += bad;
        if (bad)
            continue;
        got.kernels += kernel;
        got.memops += !kernel;
        got.kernel_sum += kernel ? ev->end - ev->start : 0;
        first = ev->start < first ? ev->start : first;
        last = ev->end > last ? ev->end : last;
        spans[n++] = (struct import_span){ev->start, ev->end};
    }
    got.busy = import_union(spans, n);
    free(spans);
    if (got.kernels != x->kernels || got.memops != x->memops || got.negative != x->negative || got.kernel_sum != x->kernel_sum ||
        last - first != x->span || got.busy != x->busy)
        fail_msg("%s device %s: %lld kernels, %lld memops, %lld negative, sum %lld, span %lld, busy %lld", x->file, x->device, got.kernels,
                 got.memops, got.negative, got.kernel_sum, (long long)(last - first), got.busy);
}

/* Every row of ../shared/traces/EXPECTED.tsv whose file is in folder `kind`; -1 when there is no such table. */
static inline int compare_shared(const char *kind)
{
    char line[1024], path[1024], opened[256] = "";
    FILE *f = fopen(TEST_ROOT "/../shared/traces/EXPECTED.tsv", "r");
    struct tracedata d;
    int rows = 0;
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f)) {
        struct expected x;
        if (!expected_row(line, &x) || strncmp(x.file, kind, strlen(kind)) != 0)
            continue;
        if (strcmp(opened, x.file) != 0) {
            struct err e = {0};
            if (*opened)
                tracedata_free(&d);
            snprintf(opened, sizeof opened, "%s", x.file);
            snprintf(path, sizeof path, TEST_ROOT "/../shared/traces/%s", x.file);
            if (!import_quietly(path, &d, &e))
                fail_msg("%s", e.msg);
        }
        compare_expected(&d, &x);
        rows++;
    }
    if (*opened)
        tracedata_free(&d);
    fclose(f);
    return rows;
}
