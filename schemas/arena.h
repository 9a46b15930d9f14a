/* arena.h - memory that is freed all at once.
 *
 * One arena per command, import or step; a loop that needs scratch has its own and frees it each turn. Functions that
 * return memory take the arena it lives in. `struct arena a = {0};` is ready for use. Running out of memory ends the
 * program with one line on stderr and status 3 (never used inside a measured program: see collector/).
 */
#pragma once
#include <stddef.h>

/* What a thread does instead, and which does not return: for the collector's own thread inside somebody else's program. */
extern _Thread_local void (*arena_exhausted)(void);

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t used, size; /* of the head block */
    size_t total;      /* bytes taken from the system so far */
};

void *arena_alloc(struct arena *a, size_t size);    /* zeroed, 16-byte aligned */
char *arena_strdup(struct arena *a, const char *s); /* NULL gives NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a); /* everything; *a is ready for use again */

/* n zeroed objects of TYPE. */
#define arena_array(a, TYPE, n) ((TYPE *)arena_alloc((a), sizeof(TYPE) * (size_t)(n)))

/* Grows a malloc'ed array to hold at least `need` elements (doubling); used by handles that own their memory. */
void *array_grow(void *old, size_t *cap, size_t need, size_t element);

/* Appends to a malloc'ed array: *(TYPE *) slot of v[n++]. */
#define ARRAY_PUSH(v, n, cap, value)                                                                                                                 \
    do {                                                                                                                                             \
        if ((n) == (cap))                                                                                                                            \
            (v) = array_grow((v), &(cap), (n) + 1, sizeof *(v));                                                                                     \
        (v)[(n)++] = (value);                                                                                                                        \
    } while (0)
