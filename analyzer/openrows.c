/* openrows.c - begins and ends. */
#include "analyzer/openrows.h"
#include "schemas/arena.h"

#include <stdlib.h>

enum { NAMED_WITHIN = 256 }; /* rows that the name of an end is looked for in */

int64_t openrows_lane(int64_t pid, int64_t tid)
{
    return (int64_t)((uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)tid);
}

static uint32_t lane_of(struct openrows *o, int64_t key)
{
    uint32_t i = idmap_get(&o->ids, key);
    if (!i) {
        ARRAY_PUSH(o->lanes, o->nlanes, o->lanes_cap, ((struct openlane){.last_at = INT64_MIN, .late = o->all_late}));
        idmap_set(&o->ids, key, i = (uint32_t)o->nlanes);
    }
    return i - 1;
}

void openrows_look(struct openrows *o, int64_t lane, int64_t at)
{
    uint32_t i = lane_of(o, lane);
    struct openlane *l = &o->lanes[i];
    l->late |= at < l->last_at;
    l->last_at = at;
}

static void push(struct openrows *o, struct openlane *l, const struct event *ev, bool had_end)
{
    uint32_t i = o->unused;
    if (i)
        o->unused = o->v[i - 1].below;
    else {
        ARRAY_PUSH(o->v, o->n, o->cap, ((struct openrow){0}));
        i = (uint32_t)o->n;
    }
    o->v[i - 1] = (struct openrow){*ev, l->top, had_end};
    l->top = i;
    o->open += ev->kind != EV_NKINDS;
}

/* What leads to the innermost open row of that name. */
static uint32_t *named(struct openrows *o, struct openlane *l, uint32_t name)
{
    uint32_t *link = &l->top;
    for (int i = 0; *link && i < NAMED_WITHIN; i++, link = &o->v[*link - 1].below)
        if (o->v[*link - 1].ev.name == name)
            return link;
    return NULL;
}

/* The open row that `link` leads to ends. */
static bool take(struct openrows *o, uint32_t *link, int64_t at)
{
    uint32_t i = *link;
    struct event ev = o->v[i - 1].ev;
    *link = o->v[i - 1].below;
    o->v[i - 1].below = o->unused;
    o->unused = i;
    o->open -= ev.kind != EV_NKINDS;
    if (ev.kind == EV_NKINDS || at == OPENROWS_UNTIMED)
        return true;
    ev.end = at;
    return o->row(o->ctx, &ev);
}

/* The begin that an end waited for has not come. */
static bool settle(struct openrows *o, struct openlane *l)
{
    bool waits = l->waits;
    l->waits = false;
    if (waits && l->top && !(l->names && l->wait_name))
        return take(o, &l->top, l->wait_at);
    o->lone_ends += waits;
    return true;
}

static bool begin(struct openrows *o, struct openlane *l, const struct event *ev)
{
    bool its = l->waits && l->wait_at == ev->start && (!l->wait_name || l->wait_name == ev->name);
    if (its && l->top) {
        struct event whole = *ev;
        l->waits = false;
        whole.end = whole.start;
        return ev->kind == EV_NKINDS || o->row(o->ctx, &whole);
    }
    bool ok = settle(o, l);
    push(o, l, ev, its);
    return ok;
}

static bool end(struct openrows *o, struct openlane *l, int64_t at, uint32_t name)
{
    if (!settle(o, l))
        return false;
    uint32_t *link = name ? named(o, l, name) : l->top ? &l->top : NULL;
    l->names |= name && link;
    if (link)
        return take(o, link, at);
    l->waits = true;
    l->wait_at = at;
    l->wait_name = name;
    return true;
}

/* A row without a time stands where it stood in the file. */
static void keep(struct openrows *o, uint32_t lane, struct laterow row)
{
    struct openlane *l = &o->lanes[lane];
    row.untimed = row.at == OPENROWS_UNTIMED;
    row.at = row.untimed ? l->last_at : row.at;
    row.lane = lane;
    row.order = (uint32_t)o->nlate;
    l->last_at = row.at;
    ARRAY_PUSH(o->late, o->nlate, o->late_cap, row);
}

bool openrows_begin(struct openrows *o, int64_t lane, const struct event *ev)
{
    uint32_t i = lane_of(o, lane);
    if (!o->lanes[i].late)
        return begin(o, &o->lanes[i], ev);
    keep(o, i, (struct laterow){.ev = *ev, .at = ev->start});
    return true;
}

bool openrows_end(struct openrows *o, int64_t lane, int64_t at, uint32_t name)
{
    uint32_t i = lane_of(o, lane);
    if (!o->lanes[i].late)
        return end(o, &o->lanes[i], at, name);
    keep(o, i, (struct laterow){.ev.name = name, .at = at, .ends = true});
    return true;
}

/* What is left open in a lane; a row that had its end in front is whole. */
static bool leave(struct openrows *o, struct openlane *l)
{
    bool ok = settle(o, l);
    for (uint32_t *link = &l->top; ok && *link;) {
        struct openrow *r = &o->v[*link - 1];
        if (!r->had_end) {
            link = &r->below;
            continue;
        }
        o->lone_ends--;
        ok = take(o, link, r->ev.start);
    }
    return ok;
}

/* The begin of that end, where it is yet to come at the same time and no row of the name is open. */
static struct laterow *ahead(struct openrows *o, struct laterow *end)
{
    const struct laterow *last = o->late + o->nlate;
    if (!end->ends || end->untimed || !end->ev.name || named(o, &o->lanes[end->lane], end->ev.name))
        return NULL;
    for (struct laterow *r = end + 1; r < last && r < end + NAMED_WITHIN && r->lane == end->lane && r->at == end->at; r++)
        if (!r->ends && !r->taken && r->ev.name == end->ev.name)
            return r;
    return NULL;
}

/* One row of a late lane, in order of time. */
static bool late_row(struct openrows *o, struct laterow *r)
{
    struct openlane *l = &o->lanes[r->lane];
    struct laterow *its = ahead(o, r);
    if (its) {
        its->taken = true;
        its->ev.end = its->at;
        return its->ev.kind == EV_NKINDS || o->row(o->ctx, &its->ev);
    }
    if (r->taken)
        return true;
    return r->ends ? end(o, l, r->untimed ? OPENROWS_UNTIMED : r->at, r->ev.name) : begin(o, l, &r->ev);
}

bool openrows_finish(struct openrows *o)
{
    bool ok = true;
    openrows_arrange(o->late, o->nlate);
    for (size_t i = 0; ok && i < o->nlate; i++)
        ok = late_row(o, &o->late[i]);
    for (size_t i = 0; ok && i < o->nlanes; i++)
        ok = leave(o, &o->lanes[i]);
    return ok;
}

void openrows_free(struct openrows *o)
{
    idmap_free(&o->ids);
    free(o->lanes);
    free(o->v);
    free(o->late);
    *o = (struct openrows){0};
}
