/* openrows.c - begins and ends. */
#include "analyzer/openrows.h"
#include "schemas/arena.h"

#include <stdlib.h>

int64_t openrows_lane(int64_t pid, int64_t tid)
{
    return (int64_t)((uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)tid);
}

static uint32_t *top_of(struct openrows *o, int64_t lane)
{
    uint32_t i = idmap_get(&o->lanes, lane);
    if (!i) {
        ARRAY_PUSH(o->tops, o->ntops, o->tops_cap, 0);
        idmap_set(&o->lanes, lane, i = (uint32_t)o->ntops);
    }
    return &o->tops[i - 1];
}

void openrows_begin(struct openrows *o, int64_t lane, const struct event *ev)
{
    uint32_t *top = top_of(o, lane), i = o->unused;
    if (i)
        o->unused = o->v[i - 1].below;
    else {
        ARRAY_PUSH(o->v, o->n, o->cap, ((struct openrow){0}));
        i = (uint32_t)o->n;
    }
    o->v[i - 1] = (struct openrow){*ev, *top};
    *top = i;
    o->open += ev->kind != EV_NKINDS;
}

bool openrows_end(struct openrows *o, int64_t lane, struct event *ev)
{
    uint32_t *top = top_of(o, lane), i = *top;
    if (!i) {
        o->lone_ends++;
        return false;
    }
    *ev = o->v[i - 1].ev;
    *top = o->v[i - 1].below;
    o->v[i - 1].below = o->unused;
    o->unused = i;
    o->open -= ev->kind != EV_NKINDS;
    return true;
}

void openrows_free(struct openrows *o)
{
    idmap_free(&o->lanes);
    free(o->tops);
    free(o->v);
    *o = (struct openrows){0};
}
