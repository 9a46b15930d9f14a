/* explain_range.c - counting, per range name, the waits of one place inside it and the host time of its outermost ranges. */
#include "analyzer/explain_range.h"
#include "analyzer/nest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PERCENT = 98 }; /* of the window's host time: more is no part of a step but the step */

struct looking {
    const struct replay *r;
    const struct trace_file *f;
    struct intern names;
    uint32_t *plain;        /* by string id of the file: 1 + id in names */
    int64_t *ns;            /* by id in names, as are the following */
    uint32_t *waits, *last; /* last: the wait that was counted last, 1 + its number */
    size_t cap;
    struct nest nest;
    uint32_t nwaits, site, api;
    int class;
    size_t next; /* entry of waits */
};

static void make_room(struct looking *x, size_t id)
{
    if (id < x->cap)
        return;
    size_t old = x->cap, cap = old;
    x->ns = array_grow(x->ns, &cap, id + 1, sizeof *x->ns);
    x->cap = cap;
    uint32_t **arrays[] = {&x->waits, &x->last};
    for (int i = 0; i < 2; i++) {
        size_t c = old;
        *arrays[i] = array_grow(*arrays[i], &c, id + 1, sizeof **arrays[i]);
        memset(*arrays[i] + old, 0, (x->cap - old) * sizeof **arrays[i]);
    }
    memset(x->ns + old, 0, (x->cap - old) * sizeof *x->ns);
}

static uint32_t plain_id(struct looking *x, uint32_t name)
{
    if (!x->plain[name]) {
        const char *s = trace_string(x->f, name);
        x->plain[name] = 1 + intern_id_n(&x->names, s, range_plain(s));
    }
    make_room(x, x->plain[name] - 1);
    return x->plain[name] - 1;
}

/* A range inside another of its name counts as part of that one. */
static void open_range(struct looking *x, const struct trace_rank *k, uint32_t row)
{
    const struct event *ev = x->f->d.ev;
    uint32_t id = plain_id(x, ev[row].name);
    bool inside = false;
    for (size_t i = 0; i < x->nest.n; i++)
        inside |= plain_id(x, ev[x->nest.v[i]].name) == id;
    x->ns[id] += inside ? 0 : ivl_within(k->window, ev[row].start, ev[row].end);
    nest_push(&x->nest, row);
}

static void count_wait(struct looking *x)
{
    x->nwaits++;
    for (size_t i = 0; i < x->nest.n; i++) {
        uint32_t id = plain_id(x, x->f->d.ev[x->nest.v[i]].name);
        x->waits[id] += x->last[id] != x->nwaits;
        x->last[id] = x->nwaits;
    }
}

static void look_thread(struct looking *x, uint32_t rank, const struct thread_events *th)
{
    const struct waits *w = &x->r->waits;
    x->nest.n = 0;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t row = th->ev[i];
        nest_move(&x->nest, x->f->d.ev, row);
        if (x->f->d.ev[row].kind == EV_RANGE) {
            open_range(x, &x->r->t->ranks[rank], row);
        } else if (x->next < w->n && w->v[x->next].rank == rank && w->v[x->next].event == row) {
            const struct wait *v = &w->v[x->next++];
            if (v->site == x->site && v->api == x->api && v->class == x->class)
                count_wait(x);
        }
    }
}

/* Host time of all ranks' windows. */
static int64_t host_time(const struct trace *t)
{
    int64_t ns = 0;
    for (uint32_t k = 0; k < t->nranks; k++)
        ns += t->ranks[k].nthreads ? ivl_len(t->ranks[k].window) : 0;
    return ns;
}

const char *range_around(const struct replay *r, uint32_t site, uint32_t api, int class, struct arena *a)
{
    struct looking x = {.r = r, .site = site, .api = api, .class = class};
    intern_init(&x.names);
    for (uint32_t file = 0; file < r->t->nfiles; file++) {
        struct arena scratch = {0};
        x.f = &r->t->files[file];
        x.plain = arena_array(&scratch, uint32_t, x.f->d.strings.n + 1);
        for (uint32_t k = 0; k < r->t->nranks; k++)
            for (size_t i = 0; r->t->ranks[k].file == file && i < r->t->ranks[k].nthreads; i++)
                look_thread(&x, k, &r->t->ranks[k].threads[i]);
        arena_free(&scratch);
    }
    int64_t most = host_time(r->t) / 100 * MOST_PERCENT, least = most;
    const char *name = NULL;
    for (uint32_t id = 1; id < x.names.n && id < x.cap; id++)
        if (x.nwaits && x.waits[id] == x.nwaits && x.ns[id] < least) {
            least = x.ns[id];
            name = intern_str(&x.names, id);
        }
    name = name ? arena_strdup(a, name) : NULL;
    free(x.ns);
    free(x.waits);
    free(x.last);
    nest_free(&x.nest);
    intern_free(&x.names);
    return name;
}

const char *range_pattern(const char *name, struct arena *a)
{
    size_t n = strlen(name);
    char *s = arena_alloc(a, 4 * n + 32), *p = s;
    *p++ = '^';
    for (; *name; name++) {
        bool plain = isalnum((unsigned char)*name) || (unsigned char)*name >= 128 || strchr("_/ :,;=<>&%@~\"'`-#!", *name);
        if (!plain)
            *p++ = '\\';
        *p++ = *name;
    }
    memcpy(p, "([# ][0-9]+)?$", sizeof "([# ][0-9]+)?$");
    return s;
}
