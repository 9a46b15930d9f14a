/* cpwalk.c - the innermost range of each role around a row. */
#include "analyzer/cpwalk.h"
#include "analyzer/nest.h"
#include "schemas/marker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum role { ROLE_NONE, ROLE_LAYER, ROLE_MICROBATCH, ROLE_PHASE, ROLE_PART };

static const struct {
    const char *name; /* numbered roles: the word before '#' */
    enum role role;
    int value;
} roles[] = {
    {MARK_LAYER, ROLE_LAYER, 0},
    {MARK_MICROBATCH, ROLE_MICROBATCH, 0},
    {MARK_FORWARD, ROLE_PHASE, CP_FORWARD},
    {MARK_RECOMPUTE, ROLE_PHASE, CP_RECOMPUTE},
    {MARK_BACKWARD, ROLE_PHASE, CP_BACKWARD},
    {RANGE_CONV_HALO, ROLE_PART, CP_HALO},
    {RANGE_STATE_EXCHANGE, ROLE_PART, CP_STATE},
    {RANGE_ZIGZAG_TO_CONTIGUOUS, ROLE_PART, CP_SWAP},
    {RANGE_CONTIGUOUS_TO_ZIGZAG, ROLE_PART, CP_SWAP},
    {RANGE_THD_ROUTE, ROLE_PART, CP_ROUTE},
};

int64_t marked_number(const char *name, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(name, word, n) != 0 || name[n] != '#' || name[n + 1] < '0' || name[n + 1] > '9')
        return -1;
    char *end;
    errno = 0;
    long long v = strtoll(name + n + 1, &end, 10);
    return *end || errno || v > INT32_MAX ? -1 : v;
}

struct meaning { /* of a name */
    uint8_t role, looked;
    int32_t value;
};

static struct meaning meaning_of(const char *name)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        bool numbered = roles[i].role == ROLE_LAYER || roles[i].role == ROLE_MICROBATCH;
        int64_t number = numbered ? marked_number(name, roles[i].name) : -1;
        if (numbered ? number >= 0 : strcmp(name, roles[i].name) == 0)
            return (struct meaning){(uint8_t)roles[i].role, 1, numbered ? (int32_t)number : roles[i].value};
    }
    return (struct meaning){ROLE_NONE, 1, 0};
}

struct look {
    const struct trace_file *f;
    struct cpwalk *w;
    struct meaning *of_name;
    struct nest open; /* ranges with a role */
    const uint8_t *wanted;
};

static struct meaning range_meaning(struct look *x, uint32_t row)
{
    struct meaning *m = &x->of_name[x->f->d.ev[row].name];
    if (!m->looked)
        *m = meaning_of(trace_string(x->f, x->f->d.ev[row].name));
    return *m;
}

static uint32_t place_at(struct look *x, uint32_t row)
{
    const struct event *ev = x->f->d.ev;
    uint32_t layer = 0, instance = 0, microbatch = 0, phase = 0, part = 0;
    for (size_t i = x->open.n; i-- > 0;) {
        uint32_t r = x->open.v[i];
        struct meaning m = range_meaning(x, r);
        if (ev[r].end < ev[row].end)
            continue;
        if (m.role == ROLE_LAYER && !layer)
            layer = (uint32_t)m.value + 1, instance = r + 1;
        if (m.role == ROLE_MICROBATCH && !microbatch)
            microbatch = (uint32_t)m.value + 1;
        if (m.role == ROLE_PHASE && !phase)
            phase = (uint32_t)m.value;
        if (m.role == ROLE_PART && !part)
            part = (uint32_t)m.value;
    }
    return 1 + (uint32_t)groups_at(&x->w->places, layer, microbatch, instance, phase | part << 2);
}

static void look_thread(struct look *x, const struct thread_events *th)
{
    const struct event *ev = x->f->d.ev;
    x->open.n = 0;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t row = th->ev[i];
        nest_move(&x->open, ev, row);
        bool mark = ev[row].kind == EV_RANGE && ev[row].end == ev[row].start;
        if (x->wanted[row] || mark)
            x->w->of[row] = place_at(x, row);
        if (ev[row].kind == EV_RANGE && !mark && range_meaning(x, row).role != ROLE_NONE) {
            int role = range_meaning(x, row).role;
            nest_push(&x->open, row);
            x->w->marked |= role == ROLE_LAYER || role == ROLE_MICROBATCH;
        }
    }
}

void cpwalk_make(const struct trace *t, uint32_t file, const uint32_t *launched, struct cpwalk *w, struct arena *a)
{
    const struct trace_file *f = &t->files[file];
    struct arena scratch = {0};
    uint8_t *wanted = arena_array(&scratch, uint8_t, f->d.n + 1);
    struct look x = {.f = f, .w = w, .of_name = arena_array(&scratch, struct meaning, f->d.strings.n + 1), .wanted = wanted};
    *w = (struct cpwalk){.of = arena_array(a, uint32_t, f->d.n + 1)};
    for (size_t i = 0; i < f->d.n; i++)
        if (launched[i])
            wanted[launched[i] - 1] = 1;
    for (size_t r = 0; r < t->nranks; r++)
        for (size_t i = 0; t->ranks[r].file == file && i < t->ranks[r].nthreads; i++)
            look_thread(&x, &t->ranks[r].threads[i]);
    nest_free(&x.open);
    arena_free(&scratch);
}

struct cp_place cpwalk_place(const struct cpwalk *w, uint32_t row)
{
    if (!w->of[row])
        return (struct cp_place){.layer = -1, .microbatch = -1};
    const uint32_t *k = w->places.key[w->of[row] - 1];
    return (struct cp_place){(int64_t)k[0] - 1, (int64_t)k[1] - 1, k[2], (enum cp_phase)(k[3] & 3), (enum cp_part)(k[3] >> 2)};
}

void cpwalk_free(struct cpwalk *w)
{
    groups_free(&w->places);
    *w = (struct cpwalk){0};
}
