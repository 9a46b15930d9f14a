/* steps_repeated.c - steps told by nothing but the work: the same kernels in the same order, again and again.
 *
 *   stream   k i |a b b c|a b b c|a b b c|a b        names in order of start; warm-up first, the last one cut
 *                ^ the longest tail of the stream that repeats with one period; read backwards a run that begins at its
 *                  first row, whose smallest period the failure function of Knuth, Morris and Pratt gives
 *
 * The tail may be cut anywhere, so its period says how long a step is, not where it begins: that is where the stream
 * stood still longest, added up over the repetitions.
 */
#include "analyzer/steps.h"

#include <stdlib.h>

enum { LEAST_STEPS = 3 };

/* Kernels and collectives of the stream that has most of them, in their order. */
static size_t main_stream(const struct tracedata *d, const uint32_t *ev, size_t n, uint32_t *out, struct arena *a)
{
    size_t *count = arena_array(a, size_t, d->nstreams + 1), m = 0;
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++)
        if (d->ev[ev[i]].kind == EV_KERNEL || d->ev[ev[i]].kind == EV_COMM)
            count[d->ev[ev[i]].stream]++;
    for (uint32_t s = 0; s < d->nstreams; s++)
        most = count[s] > count[most] ? s : most;
    for (size_t i = 0; i < n; i++)
        if (d->ev[ev[i]].stream == most && (d->ev[ev[i]].kind == EV_KERNEL || d->ev[ev[i]].kind == EV_COMM))
            out[m++] = ev[i];
    return m;
}

static uint32_t name_from_end(const struct tracedata *d, const uint32_t *row, size_t n, size_t i)
{
    return d->ev[row[n - 1 - i]].name;
}

/* Length of the longest tail that holds LEAST_STEPS of its period, at least three quarters of the rows; 0: there is none. */
static size_t repeating_tail(const struct tracedata *d, const uint32_t *row, size_t n, size_t *period, struct arena *a)
{
    uint32_t *border = arena_array(a, uint32_t, n + 1); /* of the last i rows: the longest part that they end and begin with */
    size_t best = 0;
    for (size_t i = 1, k = 0; i < n; i++) {
        while (k && name_from_end(d, row, n, i) != name_from_end(d, row, n, k))
            k = border[k];
        k += name_from_end(d, row, n, i) == name_from_end(d, row, n, k);
        border[i + 1] = (uint32_t)k;
        size_t length = i + 1, p = length - k;
        if (LEAST_STEPS * p <= length && 4 * length >= 3 * n) {
            best = length;
            *period = p;
        }
    }
    return best;
}

static bool one_name_only(const struct tracedata *d, const uint32_t *row, size_t period)
{
    for (size_t i = 1; i < period; i++)
        if (d->ev[row[i]].name != d->ev[row[0]].name)
            return false;
    return true;
}

/* Which of the first `period` rows of the tail begins a step. */
static size_t first_row(const struct tracedata *d, const uint32_t *row, size_t n, size_t period, struct arena *a)
{
    int64_t *gap = arena_array(a, int64_t, period);
    size_t first = 0;
    for (size_t i = 1; i < n; i++) {
        int64_t ns = d->ev[row[i]].start - d->ev[row[i - 1]].end;
        gap[i % period] += ns > 0 ? ns : 0;
    }
    for (size_t i = 1; i < period; i++)
        first = gap[i] > gap[first] ? i : first;
    return first;
}

struct steplist steps_repeated(const struct tracedata *d, const uint32_t *ev, size_t n, size_t *period, struct arena *a)
{
    struct arena scratch = {0};
    struct steplist s = {0};
    uint32_t *row = arena_array(&scratch, uint32_t, n + 1);
    size_t m = main_stream(d, ev, n, row, &scratch), tail = repeating_tail(d, row, m, period, &scratch);
    row += m - tail;
    if (tail && !one_name_only(d, row, *period)) {
        size_t at = first_row(d, row, tail, *period, &scratch);
        struct step *v = arena_array(a, struct step, tail / *period);
        for (; at + *period <= tail; at += *period) {
            bool last = at + *period == tail;
            v[s.n] = (struct step){(int64_t)s.n, d->ev[row[at]].start, last ? d->ev[row[tail - 1]].end : d->ev[row[at + *period]].start};
            s.n++;
        }
        s.v = v;
    }
    arena_free(&scratch);
    return s;
}
