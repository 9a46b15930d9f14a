/* groups.h - rows put together by a key of four numbers; groups are numbered in order of first use.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct groups {
    uint32_t (*key)[4];
    size_t n, cap;
    uint32_t *slots; /* 1 + group */
    size_t nslots;
};

size_t groups_at(struct groups *g, uint32_t a, uint32_t b, uint32_t c, uint32_t d); /* a group with no rows yet is g->n - 1 after */
void groups_free(struct groups *g);
