/* idmap.h - 64-bit keys to small numbers; 0 is "not there". */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct idmap { /* zeroed: empty */
    int64_t *keys;
    uint32_t *values;
    size_t nslots, used;
};

uint32_t idmap_get(const struct idmap *m, int64_t key);
void idmap_set(struct idmap *m, int64_t key, uint32_t value); /* value > 0 */
void idmap_free(struct idmap *m);
