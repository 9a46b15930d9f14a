/* table_steps.c - the steps of each rank: how long, how busy, how many tokens, and which ones stick out.
 *
 * Marked steps (steps.h), and where no rank has a mark the repetitions of each device's kernels. Nothing is guessed from a
 * library's ranges.
 */
#include "analyzer/kernelrows.h"
#include "analyzer/units.h"
#include "schemas/tracefile.h"
#include "schemas/marker.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, STEP, START, DURATION, BUSY, TOKENS, PER_TOKEN, OUTLIER };

/* Busy time of the rank's busiest device within each step: never added over devices. */
static int64_t *busy_times(const struct trace *t, const struct trace_rank *r, struct arena *a)
{
    int64_t *busy = arena_array(a, int64_t, r->steps.n);
    for (uint32_t l = r->first_lane; l < r->first_lane + r->nlanes; l++) {
        struct arena scratch = {0};
        struct ivlset work = trace_union(t, &scratch, &t->lanes[l], WORK_ANY);
        for (size_t i = 0; i < r->steps.n; i++) {
            int64_t ns = ivl_within(work, r->steps.v[i].start, r->steps.v[i].end);
            busy[i] = ns > busy[i] ? ns : busy[i];
        }
        arena_free(&scratch);
    }
    return busy;
}

/* The step that holds time `at`; steps.n: none. */
static size_t step_at(const struct steplist *s, int64_t at)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->v[mid].end > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo < s->n && s->v[lo].start <= at ? lo : s->n;
}

/* Sum of the batch marks' tokens by step; 0: not in this trace. */
static int64_t *token_sums(const struct trace *t, const struct trace_rank *r, struct arena *a)
{
    const struct trace_file *f = &t->files[r->file];
    int64_t *sum = arena_array(a, int64_t, r->steps.n + 1);
    static const char mark[] = MARK_BATCH " ";
    for (size_t i = 0; i < r->n; i++) {
        const struct event *ev = &f->d.ev[r->ev[i]];
        const char *name = ev->kind == EV_RANGE ? trace_string(f, ev->name) : "";
        int64_t tokens = strncmp(name, mark, sizeof mark - 1) == 0 ? mark_value(name, "tokens") : -1;
        if (tokens > 0)
            sum[step_at(&r->steps, ev->start)] += tokens;
    }
    return sum;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(const double *v, size_t n, struct arena *a)
{
    double *s = arena_array(a, double, n);
    memcpy(s, v, n * sizeof *s);
    qsort(s, n, sizeof *s, ascending);
    return n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

static void fill_rank(const struct trace *t, const struct trace_rank *r, struct table *out)
{
    struct arena a = {0};
    size_t n = r->steps.n;
    const int64_t *busy = busy_times(t, r, &a), *tokens = token_sums(t, r, &a);
    double *cost = arena_array(&a, double, n);
    bool all_known = true;
    for (size_t i = 0; i < n; i++)
        all_known &= tokens[i] > 0;
    for (size_t i = 0; i < n; i++)
        cost[i] = (double)(r->steps.v[i].end - r->steps.v[i].start) / (all_known ? (double)tokens[i] : 1);
    double middle = n ? median(cost, n, &a) : 0;
    for (size_t i = 0; i < n; i++) {
        int64_t ns = r->steps.v[i].end - r->steps.v[i].start;
        struct cell *row = trace_row(t, r->file, out);
        row[RANK] = cell_id(r->rank);
        row[STEP] = cell_id(r->steps.v[i].number);
        row[START] = cell_int(r->steps.v[i].start - t->files[r->file].start);
        row[DURATION] = cell_int(ns);
        if (r->nlanes)
            row[BUSY] = cell_share(busy[i], ns);
        if (tokens[i]) {
            row[TOKENS] = cell_int(tokens[i]);
            row[PER_TOKEN] = cell_real((double)ns / (double)tokens[i]);
        }
        row[OUTLIER] = cell_int(5 * cost[i] > 8 * middle);
    }
    arena_free(&a);
}

/* Without a mark: repetitions on the rank's device with most rows. How many. */
static size_t fill_repeated(const struct trace *t, const struct trace_rank *r, struct table *out)
{
    struct arena a = {0};
    struct trace_rank found = *r;
    const struct lane *most = NULL;
    size_t period = 0;
    for (uint32_t l = r->first_lane; l < r->first_lane + r->nlanes; l++)
        most = !most || t->lanes[l].n > most->n ? &t->lanes[l] : most;
    found.steps = most ? steps_repeated(&t->files[r->file].d, most->ev, most->n, &period, &a) : (struct steplist){0};
    if (found.steps.n) {
        fill_rank(t, &found, out);
        const char *who = r->rank >= 0 ? arena_printf(&a, "rank %d: ", r->rank) : "";
        table_note(out, "%sno step is marked; these are repetitions of %zu kernels on device %d, in device time", who, period, most->device);
    }
    arena_free(&a);
    return found.steps.n;
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    (void)args;
    size_t steps = 0, repeated = 0;
    for (size_t i = 0; i < t->nranks; i++)
        steps += t->ranks[i].steps.n;
    for (size_t i = 0; !steps && i < t->nranks; i++)
        repeated += fill_repeated(t, &t->ranks[i], out);
    if (!steps && !repeated)
        return fail(e, ERR_UNDECIDED,
                    "%s: no steps are marked in this trace and no kernels repeat as steps do; --step-marker RE says which ranges are steps",
                    t->files[0].name);
    for (size_t i = 0; i < t->nranks; i++)
        fill_rank(t, &t->ranks[i], out);
    struct err said = {0};
    kernels_in_window(t, out, &said); /* steps are the host's: a note is enough */
    return true;
}

const struct table_desc table_steps = {
    .name = "steps",
    .title = "Steps",
    .what = "One row per rank and marked step: ranges named step#N or ProfilerStep#N, or those of --step-marker. Warm-up is left out and no "
            "step is guessed from other ranges. Where no rank marks any, steps are told by the kernels and collectives of the stream "
            "that has most, on the rank's device with most rows: the longest tail of it that is one sequence of names repeated three times or "
            "more (the last may be cut), if it is at least three quarters of the stream and not one name alone. Such a step begins at the row "
            "of the sequence before which the stream stood still longest, ends where the next begins, is numbered from 0 and a note says so; the "
            "window of other tables does not go by it. Tokens are those of the cpscope.batch marks inside it, whole-group totals. An outlier takes "
            "over 1.6 times the "
            "median of the rank's steps per token where every step's tokens are known, else over 1.6 times the median time.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the host thread that marked it, or of the device"},
            {"step", UNIT_ID, .what = "its number, or its position where it has none"},
            {"start_ns", UNIT_NS, .what = "since the trace's start"},
            {"duration_ns", UNIT_NS, .what = "length of the range on the host; of repeated kernels from start to start"},
            {"busy_pct", UNIT_PERCENT, .base = "duration_ns", .what = "busy time of the rank's busiest device during it, of duration_ns"},
            {"tokens", UNIT_COUNT, .what = "tokens of its micro-batches, without padding"},
            {"ns_per_token", UNIT_REAL, .what = "duration_ns / tokens"},
            {"outlier", UNIT_COUNT, .what = "1: over 1.6 times the median; 0: not"},
            COLUMNS_SOURCE,
            {0},
        },
    .worst = "duration_ns",
    .spares = SIDE_SYNC | SIDE_KERNEL | SIDE_COMM | SIDE_COPY | ROWS_ANY,
    .fill = fill,
};
