/* nest.c - the open rows of a thread, and the paths of its ranges. */
#include "analyzer/nest.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 64 };

/* Rows that overlap without nesting hide ended ones below them; doubling the limit keeps the work linear. */
static void clear_away(struct nest *s, const struct event *ev, int64_t now)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (ev[s->v[i]].end > now)
            s->v[n++] = s->v[i];
    s->n = n;
    s->crowded = n < FEW / 2 ? FEW : 2 * n;
}

void nest_move(struct nest *s, const struct event *ev, uint32_t at)
{
    while (s->n && ev[s->v[s->n - 1]].end <= ev[at].start)
        s->n--;
    if (s->n >= FEW && s->n >= s->crowded)
        clear_away(s, ev, ev[at].start);
}

void nest_push(struct nest *s, uint32_t at)
{
    ARRAY_PUSH(s->v, s->n, s->cap, at);
}

size_t nest_around(const struct nest *s, const struct event *ev, uint32_t at, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (ev[s->v[i]].end >= ev[at].end && ev[s->v[i]].end > ev[at].start)
            out[n++] = s->v[i];
    return n;
}

void nest_free(struct nest *s)
{
    free(s->v);
    *s = (struct nest){0};
}

struct pathing {
    const struct trace_file *f;
    struct intern *paths;
    uint32_t *of;
    struct nest open; /* ranges only */
    bool plain;
    char *buf;
    size_t cap;
};

static uint32_t domain_of(const struct pathing *p, uint32_t row)
{
    const struct ev_range *r = ev_range_of(&p->f->d, &p->f->d.ev[row]);
    return r ? r->domain : 0;
}

size_t range_plain(const char *name)
{
    static const char *const tails[] = {", op_id = ", ", seq = "};
    size_t n = strlen(name), i;
    for (size_t k = 0; k < sizeof tails / sizeof *tails; k++) {
        const char *p = strstr(name, tails[k]);
        n = p && (size_t)(p - name) < n ? (size_t)(p - name) : n;
    }
    for (i = n; i && name[i - 1] >= '0' && name[i - 1] <= '9';)
        i--;
    return i > 1 && i < n && (name[i - 1] == '#' || name[i - 1] == ' ') ? i - 1 : n;
}

static uint32_t path_of(struct pathing *p, uint32_t row)
{
    const struct event *ev = p->f->d.ev;
    const char *name = trace_string(p->f, ev[row].name), *parent = "";
    uint32_t domain = domain_of(p, row);
    for (size_t i = p->open.n; i-- > 0;)
        if (ev[p->open.v[i]].end >= ev[row].end && domain_of(p, p->open.v[i]) == domain) {
            parent = intern_str(p->paths, p->of[p->open.v[i]]);
            break;
        }
    if (!*parent)
        parent = trace_string(p->f, domain);
    size_t a = strlen(parent), n = p->plain ? range_plain(name) : strlen(name);
    if (a + n + 2 > p->cap)
        p->buf = array_grow(p->buf, &p->cap, a + n + 2, 1);
    memcpy(p->buf, parent, a);
    if (a)
        p->buf[a++] = '/';
    memcpy(p->buf + a, name, n);
    return intern_id_n(p->paths, p->buf, a + n);
}

static void path_thread(struct pathing *p, const struct thread_events *th)
{
    const struct event *ev = p->f->d.ev;
    p->open.n = 0;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t row = th->ev[i];
        nest_move(&p->open, ev, row);
        if (ev[row].kind == EV_RANGE) {
            p->of[row] = path_of(p, row);
            nest_push(&p->open, row);
        } else {
            p->of[row] = p->open.n ? p->of[p->open.v[p->open.n - 1]] : 0;
        }
    }
}

uint32_t *range_paths(const struct trace *t, uint32_t file, bool plain, struct intern *paths, struct arena *a)
{
    const struct trace_file *f = &t->files[file];
    struct pathing p = {.f = f, .paths = paths, .of = arena_array(a, uint32_t, f->d.n + 1), .plain = plain};
    for (size_t r = 0; r < t->nranks; r++)
        for (size_t i = 0; t->ranks[r].file == file && i < t->ranks[r].nthreads; i++)
            path_thread(&p, &t->ranks[r].threads[i]);
    nest_free(&p.open);
    free(p.buf);
    return p.of;
}
