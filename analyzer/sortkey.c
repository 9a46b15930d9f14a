/* sortkey.c - radix sort, eight bits a pass from the lowest; a byte that is the same everywhere is skipped.
 *
 * Times of a trace differ in five bytes or so, hence five passes whatever the number of rows.
 */
#include "analyzer/sortkey.h"

#include <stdbool.h>
#include <string.h>

static bool in_order(const struct sortkey *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i].key < v[i - 1].key)
            return false;
    return true;
}

static uint64_t biased(int64_t key) /* negative keys come first */
{
    return (uint64_t)key ^ (UINT64_C(1) << 63);
}

static void pass(const struct sortkey *from, struct sortkey *to, size_t n, int shift, const size_t count[256])
{
    size_t at[256], sum = 0;
    for (int b = 0; b < 256; b++) {
        at[b] = sum;
        sum += count[b];
    }
    for (size_t i = 0; i < n; i++)
        to[at[biased(from[i].key) >> shift & 255]++] = from[i];
}

void sortkeys(struct sortkey *v, struct sortkey *tmp, size_t n)
{
    if (in_order(v, n))
        return;
    struct sortkey *from = v, *to = tmp;
    for (int shift = 0; shift < 64; shift += 8) {
        size_t count[256] = {0};
        for (size_t i = 0; i < n; i++)
            count[biased(from[i].key) >> shift & 255]++;
        if (count[biased(from[0].key) >> shift & 255] == n)
            continue;
        pass(from, to, n, shift, count);
        struct sortkey *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
}
