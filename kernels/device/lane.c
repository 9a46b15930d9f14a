/* lane.c - see lane.h. */
#include "kernels/device/lane.h"
#include "kernels/device/fiber.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, OF_PEERS = -1 };

struct work { /* one whose end is known: when; else ready and ns, OF_PEERS: a collective */
    int64_t when, ns;
};

struct turn { /* a collective whose end is not known */
    struct turn *next;
    void (*run)(void *args);
    _Alignas(max_align_t) unsigned char args[COMM_ARGS_MAX];
};

struct lane {
    int64_t end;      /* of the last work whose end is known */
    int64_t n, known; /* works so far; the first that many have an end */
    int64_t depth, start;
    struct work *works; /* the ring */
    struct turn *first, **last;
    struct lane *next; /* of those that are to go on */
    int64_t wanted;    /* works whose ends the host waits for */
    int fiber;         /* the one that waits */
};

static struct { /* lanes that are to go on */
    struct lane *first, *last;
    bool busy;
} moving;

static struct { /* turns that are over, the latest first, for it is still in the cache; as long as there are lanes */
    struct turn *first;
    int lanes;
} spare;

struct lane *lane_open(int64_t depth, int64_t clock)
{
    struct lane *l = calloc(1, sizeof *l);
    struct work *works = l ? calloc((size_t)depth, sizeof *works) : NULL;
    if (!works) {
        free(l);
        return NULL;
    }
    *l = (struct lane){.end = clock, .depth = depth, .works = works, .last = &l->first, .fiber = NOBODY};
    spare.lanes++;
    return l;
}

void lane_close(struct lane *l)
{
    assert(l->known == l->n);
    free(l->works);
    free(l);
    if (--spare.lanes)
        return;
    for (struct turn *t; (t = spare.first) != NULL; free(t))
        spare.first = t->next;
}

static struct work *work_at(const struct lane *l, int64_t number)
{
    return &l->works[number % l->depth];
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- going on ---- */

static void end_next(struct lane *l, int64_t end)
{
    work_at(l, l->known++)->when = l->end = end;
}

/* Up to a collective whose peers have not come. */
static void go_on(struct lane *l)
{
    while (l->known < l->n) {
        const struct work *w = work_at(l, l->known);
        int64_t start = later(l->end, w->when);
        if (w->ns == OF_PEERS) {
            l->start = start;
            l->first->run(l->first->args);
            break; /* its end puts the lane in line again */
        }
        end_next(l, start + w->ns);
    }
    if (l->fiber != NOBODY && l->known >= l->wanted)
        fiber_wake(l->fiber);
}

void lane_move(void)
{
    if (moving.busy)
        return;
    moving.busy = true;
    while (moving.first) {
        struct lane *l = moving.first;
        moving.first = l->next;
        go_on(l);
    }
    moving.busy = false;
}

static void line_up(struct lane *l)
{
    l->next = NULL;
    if (moving.first)
        moving.last->next = l;
    else
        moving.first = l;
    moving.last = l;
}

int64_t lane_comm_start(const struct lane *l)
{
    return l->start;
}

void lane_comm_end(struct lane *l, int64_t end)
{
    struct turn *t = l->first;
    assert(t && end >= l->start);
    l->first = t->next;
    if (!l->first)
        l->last = &l->first;
    t->next = spare.first;
    spare.first = t;
    end_next(l, end);
    line_up(l);
}

/* ---- works ---- */

void lane_push(struct lane *l, int64_t ready, int64_t ns)
{
    bool all = l->known == l->n;
    *work_at(l, l->n++) = (struct work){ready, ns};
    if (all)
        end_next(l, later(l->end, ready) + ns);
}

bool lane_push_comm(struct lane *l, int64_t ready, void (*run)(void *args), const void *args, size_t size)
{
    struct turn *t = spare.first ? spare.first : malloc(sizeof *t);
    assert(size <= COMM_ARGS_MAX);
    if (!t)
        return false;
    if (t == spare.first)
        spare.first = t->next;
    t->next = NULL;
    t->run = run;
    memcpy(t->args, args, size);
    *l->last = t;
    l->last = &t->next;
    *work_at(l, l->n++) = (struct work){ready, OF_PEERS};
    if (l->known == l->n - 1) {
        line_up(l);
        lane_move();
    }
    return true;
}

/* ---- the host ---- */

static void await(struct lane *l, int64_t works)
{
    l->wanted = works;
    l->fiber = l->known < works ? fiber_self() : NOBODY;
    while (l->known < works)
        fiber_wait();
    l->fiber = NOBODY;
}

int64_t lane_room(struct lane *l)
{
    if (l->n < l->depth)
        return 0;
    await(l, l->n - l->depth + 1);
    return work_at(l, l->n)->when;
}

void lane_settle(struct lane *l)
{
    await(l, l->n);
}

int64_t lane_end(const struct lane *l)
{
    assert(l->known == l->n);
    return l->end;
}
