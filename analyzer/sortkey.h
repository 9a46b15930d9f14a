/* sortkey.h - sorting numbers of rows by an integer key, in linear time.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct sortkey {
    int64_t key;
    uint32_t at; /* what is sorted: the number of a row */
};

/* Ascending by key, stable. tmp has room for n. A list in order already costs one look at each. */
void sortkeys(struct sortkey *v, struct sortkey *tmp, size_t n);
