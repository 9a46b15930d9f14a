/* intern.h - each distinct string once, under a small number.
 *
 * Id 0 is the empty string, which stands for "none" everywhere. Ids are given in order of first use, so the same input
 * gives the same ids. Strings may hold any byte but NUL; they are never cut.
 */
#pragma once
#include "schemas/arena.h"

#include <stdint.h>

struct intern {
    struct arena arena; /* the bytes */
    const char **strings;
    uint32_t *lengths;
    size_t n, cap, lengths_cap; /* strings[0 .. n-1] */
    uint32_t *slots;            /* open addressing: id + 1, 0 = free */
    size_t nslots;
};

void intern_init(struct intern *t);
void intern_free(struct intern *t);
uint32_t intern_id(struct intern *t, const char *s); /* NULL is the empty string */
uint32_t intern_id_n(struct intern *t, const char *s, size_t n);
/* The id of a string that is there already, or UINT32_MAX. */
uint32_t intern_find(const struct intern *t, const char *s);
/* Valid until intern_free(). An id out of range gives "". */
const char *intern_str(const struct intern *t, uint32_t id);
