/* nvtx_started.c - see nvtx_started.h. */
#include "collector/nvtx_started.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct place {
    struct started range;
    uint32_t turn; /* how often it was used: the upper half of the id */
    bool open;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *places;
static size_t count, cap, next_free; /* next_free: no place before it is free */

/* NULL when there is no memory. With the lock held. */
static struct place *free_place(void)
{
    while (next_free < count && places[next_free].open)
        next_free++;
    if (next_free == cap) {
        size_t larger = cap ? cap * 2 : 256;
        struct place *v = realloc(places, larger * sizeof *v);
        if (!v)
            return NULL;
        places = v;
        cap = larger;
    }
    if (next_free == count)
        places[count++] = (struct place){0};
    return &places[next_free];
}

uint64_t started_put(const struct started *s)
{
    uint64_t id = 0;
    int saved = errno;
    pthread_mutex_lock(&lock);
    struct place *p = free_place();
    if (p) {
        *p = (struct place){*s, p->turn + 1, true};
        id = (uint64_t)p->turn << 32 | (uint32_t)(p - places + 1);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return id;
}

bool started_take(uint64_t id, struct started *s)
{
    size_t i = (size_t)(uint32_t)id - 1;
    pthread_mutex_lock(&lock);
    bool found = (uint32_t)id && i < count && places[i].open && places[i].turn == id >> 32;
    if (found) {
        *s = places[i].range;
        places[i].open = false;
        next_free = i < next_free ? i : next_free;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

size_t started_end(void (*end)(const struct started *s, int64_t now), int64_t now)
{
    size_t n = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (places[i].open) {
            places[i].open = false;
            end(&places[i].range, now);
            n++;
        }
    pthread_mutex_unlock(&lock);
    return n;
}

void started_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    for (size_t i = 0; i < count; i++)
        places[i].open = false;
    next_free = 0;
}
