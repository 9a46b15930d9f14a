/* runset.c - splitting files by run, and measuring a rule in each. */
#include "analyzer/runset.h"
#include "schemas/marker.h"

#include <stdlib.h>
#include <string.h>

static bool open_run(struct runset *s, const struct trace *all, size_t run, const struct trace_opts *o, struct err *e)
{
    struct run_files *r = &s->v[s->n];
    r->paths = arena_array(&s->arena, const char *, all->nfiles);
    for (size_t i = 0; i < all->nfiles; i++)
        if ((size_t)all->files[i].run == run)
            r->paths[r->n++] = arena_strdup(&s->arena, all->files[i].path);
    if (!r->n)
        return true;
    s->n++;
    struct trace_opts quiet = *o;
    quiet.quiet = true; /* what there is to say was said when all were opened */
    return trace_open(r->paths, r->n, &quiet, &r->t, e);
}

bool runset_open(const char *const *paths, size_t n, const struct trace_opts *o, struct runset *s, struct err *e)
{
    struct trace all = {0};
    *s = (struct runset){0};
    if (!trace_open(paths, n, o, &all, e))
        return false;
    int last = 0;
    for (size_t i = 0; i < all.nfiles; i++)
        last = all.files[i].run > last ? all.files[i].run : last;
    s->v = arena_array(&s->arena, struct run_files, (size_t)last + 1);
    bool ok = true;
    if (last == 0) { /* the usual case: one run, open already */
        s->v[0] = (struct run_files){all, arena_array(&s->arena, const char *, all.nfiles), all.nfiles};
        s->n = 1;
        for (size_t i = 0; i < all.nfiles; i++)
            s->v[0].paths[i] = arena_strdup(&s->arena, all.files[i].path);
        return true;
    }
    for (size_t run = 0; ok && run <= (size_t)last; run++)
        ok = open_run(s, &all, run, o, e);
    trace_close(&all);
    return ok;
}

void runset_close(struct runset *s)
{
    for (size_t i = 0; i < s->n; i++)
        trace_close(&s->v[i].t);
    arena_free(&s->arena);
    *s = (struct runset){0};
}

/* In one run, opened anew inside a range. */
static bool measure_inside(const struct rule *r, const struct run_files *f, const char *range, struct arena *a, struct measured *m, struct err *e)
{
    struct trace_opts o = f->t.opts;
    o.range = range;
    o.quiet = true;
    struct trace inside = {0};
    struct err why = {0};
    bool ok = trace_open(f->paths, f->n, &o, &inside, &why);
    if (ok)
        ok = measure(r, &inside, a, m, e);
    else if (why.kind == ERR_UNDECIDED) {
        *m = (struct measured){.missing = arena_strdup(a, why.msg)};
        ok = true;
    } else
        fail(e, why.kind, "%s", why.msg);
    trace_close(&inside);
    return ok;
}

static bool has_string(const struct trace *t, const char *text)
{
    for (size_t i = 0; i < t->nfiles; i++)
        if (intern_find(&t->files[i].d.strings, text) != UINT32_MAX)
            return true;
    return false;
}

static struct measured_key *key_in(struct measured *m, const char *key)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->v[i].key, key) == 0)
            return &m->v[i];
    return NULL;
}

/* Syncs inside a range named MARK_ALLOW_SYNC are deliberate and do not count. */
static bool leave_allowed(const struct rule *r, const struct run_files *f, struct arena *a, struct measured *m, struct err *e)
{
    struct measured inside;
    bool asked = strcmp(r->table->name, "syncs") == 0 && rule_counts(r) && !r->in_range && has_string(&f->t, MARK_ALLOW_SYNC);
    if (!asked || m->missing)
        return true;
    if (!measure_inside(r, f, "(^|/)" MARK_ALLOW_SYNC "$", a, &inside, e))
        return false;
    for (size_t i = 0; !inside.missing && i < inside.n; i++) {
        struct measured_key *k = key_in(m, inside.v[i].key);
        if (k) {
            k->value -= inside.v[i].value;
            k->largest = 0;
            k->ns = k->ns < 0 || inside.v[i].ns < 0 ? -1 : k->ns - inside.v[i].ns;
        }
    }
    return true;
}

static bool measure_run(const struct rule *r, const struct run_files *f, struct arena *a, struct measured *m, struct err *e)
{
    if (r->in_range)
        return measure_inside(r, f, r->in_range, a, m, e);
    return measure(r, &f->t, a, m, e) && leave_allowed(r, f, a, m, e);
}

static void add(struct measured *m, const struct measured *one, bool keyed, struct arena *a)
{
    struct measured_key *v = arena_array(a, struct measured_key, m->n + one->n + 1);
    if (m->n)
        memcpy(v, m->v, m->n * sizeof *v);
    m->v = v;
    for (size_t i = 0; i < one->n; i++) {
        struct measured_key *there = keyed ? key_in(m, one->v[i].key) : NULL;
        if (!there)
            m->v[m->n++] = one->v[i];
        else if (one->v[i].value > there->value)
            *there = one->v[i];
    }
}

bool runset_measure(const struct rule *r, const struct runset *s, struct arena *a, struct measured *m, struct err *e)
{
    *m = (struct measured){0};
    for (size_t i = 0; i < s->n; i++) {
        struct measured one;
        if (!measure_run(r, &s->v[i], a, &one, e))
            return false;
        if (one.missing) {
            *m = one;
            return true;
        }
        add(m, &one, r->agg == AGG_PER, a);
    }
    return true;
}
