/* syncrows.c - rows of waits by correlation; those of -1 belong to nobody. */
#include "analyzer/syncrows.h"

void syncrows_find(const struct trace_file *f, struct arena *a, struct syncrows *x)
{
    const struct tracedata *d = &f->d;
    size_t n = 0;
    *x = (struct syncrows){.d = d};
    for (size_t i = 0; (f->kinds >> EV_SYNC & 1) && i < d->n; i++)
        n += d->ev[i].kind == EV_SYNC;
    if (!n)
        return;
    x->v = arena_array(a, struct sortkey, 2 * n);
    for (size_t i = 0; i < d->n; i++) {
        const struct ev_sync *s = d->ev[i].kind == EV_SYNC ? ev_sync_of(d, &d->ev[i]) : NULL;
        if (s && s->wait_stream >= 0 && d->ev[i].correlation >= 0)
            x->v[x->n++] = (struct sortkey){d->ev[i].correlation, (uint32_t)i};
    }
    sortkeys(x->v, x->v + n, x->n);
}

int64_t syncrows_stream(const struct syncrows *x, int64_t correlation)
{
    size_t lo = 0, hi = x->n;
    int64_t stream = -1;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->v[mid].key < correlation)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < x->n && x->v[lo].key == correlation; lo++) {
        int64_t one = ev_sync_of(x->d, &x->d->ev[x->v[lo].at])->wait_stream;
        if (stream >= 0 && stream != one)
            return -1;
        stream = one;
    }
    return stream;
}
