/* rowsort.c - recordings are nearly in order: a range is written when it ends, a device row when it is fetched.
 *
 *   starts   1 2 5 3 6 4 7        the rows that start before one already seen are taken out, sorted and merged in again
 *                ^   ^
 */
#include "analyzer/rowsort.h"
#include "analyzer/sortkey.h"
#include "schemas/arena.h"

#include <stdlib.h>

enum { FEW = 16 };

/* Rows out of order go to late[], the others close up in v. How many are late; late NULL: only counted. */
static size_t split(const struct event *ev, uint32_t *v, size_t n, struct sortkey *late)
{
    int64_t last = INT64_MIN;
    size_t k = 0, m = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t start = ev[v[i]].start;
        if (start >= last) {
            last = start;
            if (late)
                v[m++] = v[i];
        } else {
            if (late)
                late[k] = (struct sortkey){start, v[i]};
            k++;
        }
    }
    return k;
}

/* From the back. Of equal starts the late ones have the larger numbers: the others stood before what made them late. */
static void merge(const struct event *ev, uint32_t *v, size_t n, const struct sortkey *late, size_t k)
{
    for (size_t m = n - k; k; n--)
        v[n - 1] = m && ev[v[m - 1]].start > late[k - 1].key ? v[--m] : late[--k].at;
}

/* A run of rows that start together. */
static void order_run(const struct event *ev, uint32_t *v, size_t n, bool longest_first)
{
    size_t cap = 0;
    struct sortkey *keys = array_grow(NULL, &cap, 2 * n, sizeof *keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct sortkey){longest_first ? -ev[v[i]].end : ev[v[i]].end, v[i]};
    sortkeys(keys, keys + n, n);
    for (size_t i = 0; i < n; i++)
        v[i] = keys[i].at;
    free(keys);
}

static void insert(const struct event *ev, uint32_t *v, size_t n, bool longest_first)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t x = v[i];
        size_t k = i;
        for (; k && (longest_first ? ev[v[k - 1]].end < ev[x].end : ev[v[k - 1]].end > ev[x].end); k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

static void order_ties(const struct event *ev, uint32_t *v, size_t n, bool longest_first)
{
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && ev[v[j]].start == ev[v[i]].start;)
            j++;
        if (j - i > FEW)
            order_run(ev, v + i, j - i, longest_first);
        else if (j - i > 1)
            insert(ev, v + i, j - i, longest_first);
    }
}

void rowsort(const struct event *ev, uint32_t *v, size_t n, bool longest_first)
{
    size_t k = split(ev, v, n, NULL), cap = 0;
    if (k) {
        struct sortkey *late = array_grow(NULL, &cap, 2 * k, sizeof *late);
        split(ev, v, n, late);
        sortkeys(late, late + k, k);
        merge(ev, v, n, late, k);
        free(late);
    }
    order_ties(ev, v, n, longest_first);
}
