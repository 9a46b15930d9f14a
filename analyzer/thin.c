/* thin.c - see thin.h. */
#include "analyzer/thin.h"
#include "analyzer/ivl.h"
#include "analyzer/re.h"
#include "schemas/tracefile_spare.h"
#include "schemas/waitapi.h"

#include <stdlib.h>
#include <string.h>

bool thinning_open(struct thinning *x, const struct thin *t)
{
    char why[RE_WHY];
    x->n = 0;
    for (int i = 0; i < THIN_NAMES; i++) {
        if (t->names[i] && re_compile(&x->re[x->n], t->names[i], why)) {
            thinning_close(x);
            return false;
        }
        x->n += t->names[i] != NULL;
    }
    return true;
}

void thinning_close(struct thinning *x)
{
    while (x->n > 0)
        regfree(&x->re[--x->n]);
}

/* What is known of a file's names, by string id: 0 not asked, 1 no, 2 yes. */
struct names {
    const struct tracedata *d;
    const struct thinning *x;
    uint8_t *kept, *waits;
};

static bool is_named(struct names *n, uint32_t name)
{
    if (!n->kept[name]) {
        bool hit = false;
        for (int i = 0; name && i < n->x->n; i++)
            hit |= regexec(&n->x->re[i], intern_str(&n->d->strings, name), 0, NULL, 0) == 0;
        n->kept[name] = (uint8_t)(1 + hit);
    }
    return n->kept[name] == 2;
}

/* Looks a blocking call's site up in the frames around it? Any that may be one will do. */
static bool needs_frames(struct names *n, const struct event *ev)
{
    if (ev->kind != EV_RUNTIME || ev->site)
        return false;
    const struct ev_sync *s = ev_sync_of(n->d, ev);
    if (s)
        return s->class != SYNC_NONE;
    if (!n->waits[ev->name])
        n->waits[ev->name] = (uint8_t)(1 + (wait_class(intern_str(&n->d->strings, ev->name), true) != SYNC_NONE));
    return n->waits[ev->name] == 2;
}

static struct ivlset waiting(struct names *n, struct arena *a)
{
    size_t m = 0;
    for (size_t i = 0; i < n->d->n; i++)
        m += needs_frames(n, &n->d->ev[i]);
    struct ivl *v = arena_array(a, struct ivl, m + 1);
    m = 0;
    for (size_t i = 0; i < n->d->n; i++) {
        const struct event *ev = &n->d->ev[i];
        if (needs_frames(n, ev))
            v[m++] = (struct ivl){ev->start, ev->end > ev->start ? ev->end : ev->start + 1};
    }
    return ivl_from(v, m);
}

/* Rows that stand for those left out are no more than were left out. */
static void take_out(struct names *n, struct ivlset waits, struct tracedata *d)
{
    struct spare spare = {.kinds = 1u << EV_OP | 1u << EV_FRAME};
    size_t m = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct event *ev = &d->ev[i];
        bool host = ev->kind == EV_OP || ev->kind == EV_FRAME;
        bool stays = !host || is_named(n, ev->name) || (ev->kind == EV_FRAME && ivl_touches(waits, ev->start, ev->end));
        if (stays || !spare_row(&spare, ev))
            d->ev[m++] = d->ev[i];
    }
    d->n = m + spare_rows(&spare, d->ev + m);
}

void thin_rows(const struct thinning *x, struct tracedata *d)
{
    struct arena a = {0};
    size_t strings = d->strings.n + 1;
    struct names n = {.d = d, .x = x, .kept = arena_array(&a, uint8_t, strings), .waits = arena_array(&a, uint8_t, strings)};
    take_out(&n, waiting(&n, &a), d);
    arena_free(&a);
    struct event *less = d->n ? realloc(d->ev, d->n * sizeof *less) : NULL;
    if (less) {
        d->ev = less;
        d->cap = d->n;
    }
}
