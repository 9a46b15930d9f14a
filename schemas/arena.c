/* arena.c - blocks of doubling size, newest first. */
#include "schemas/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST = 4096, LARGEST = 1 << 22, BIG = 1 << 18 };

struct arena_block {
    struct arena_block *next;
    char pad[ALIGN - sizeof(struct arena_block *)];
    char data[];
};

_Thread_local void (*arena_exhausted)(void);

static void out_of_memory(size_t size)
{
    if (arena_exhausted)
        arena_exhausted();
    fprintf(stderr, "cpscope: out of memory (%zu bytes asked for)\n", size);
    exit(3);
}

/* What is big has a block of its own, which the system hands out zeroed already: true. */
static bool add_block(struct arena *a, size_t need)
{
    bool big = need >= BIG;
    size_t size = a->size ? a->size * 2 : FIRST;
    size = size > LARGEST ? LARGEST : size;
    size = size < need || big ? need : size;
    struct arena_block *b = big ? calloc(1, sizeof *b + size) : malloc(sizeof *b + size);
    if (!b)
        out_of_memory(size);
    b->next = a->head;
    a->head = b;
    a->used = 0;
    a->size = size;
    a->total += sizeof *b + size;
    return big;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        out_of_memory(size);
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    bool zeroed = (!a->head || a->size - a->used < size) && add_block(a, size);
    void *p = a->head->data + a->used;
    a->used += size;
    return zeroed ? p : memset(p, 0, size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = arena_alloc(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (struct arena){0};
}

void *array_grow(void *old, size_t *cap, size_t need, size_t element)
{
    size_t want = *cap ? *cap * 2 : 16;
    want = want < need ? need : want;
    if (want > SIZE_MAX / 2 / element)
        out_of_memory(want);
    void *p = realloc(old, want * element);
    if (!p)
        out_of_memory(want * element);
    *cap = want;
    return p;
}
