/* table_overlap.c - how much communication hides behind compute on each device, and what hiding it costs.
 *
 *   compute  |####  ####|      overlap = both at once
 *   comm     |  ######  |      exposed = comm less overlap: not necessarily on the critical path
 *
 * Dilation: kernels that run beside a collective share memory and SMs with it. For each kind of kernel (name and shape) that
 * ran both ways, the mean of those inside collectives for at least half their time against the mean of those that met none.
 */
#include "analyzer/commop.h"
#include "analyzer/kernelrows.h"
#include "analyzer/overlap.h"
#include "analyzer/re.h"
#include "analyzer/shapes.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, DEVICE, COMM, OVERLAP, EXPOSED, OVERLAP_PCT, DILATION };

/* Which rows are on which side: by string id of a name or of a collective's function, SIDE_ bits and whether looked at. */
struct sides {
    const struct trace *t;
    regex_t *of, *with;
    uint8_t *known; /* of one file */
};

enum { SIDE_OF = 1, SIDE_WITH = 2, LOOKED = 0x80 };

static bool matches(const regex_t *re, const char *name, const char *op)
{
    return re && (regexec(re, name, 0, NULL, 0) == 0 || (op && regexec(re, op, 0, NULL, 0) == 0));
}

/* What --of and --with say of a name. */
static int named(const struct sides *s, const struct trace_file *f, uint32_t id)
{
    uint8_t *k = &s->known[id];
    if (!*k) {
        const char *name = trace_string(f, id), *op = commop_of(name);
        *k = (uint8_t)(LOOKED | (matches(s->of, name, op) ? SIDE_OF : 0) | (matches(s->with, name, op) ? SIDE_WITH : 0));
    }
    return *k & ~LOOKED;
}

/* SIDE_OF, SIDE_WITH or none; a row that is meant by both counts as `of`. */
static int side_of(const struct sides *s, const struct trace_file *f, const struct event *ev)
{
    if (!(trace_work(f, ev) & WORK_KERNEL))
        return 0;
    bool comm = trace_is_comm(f, ev);
    const struct ev_comm *m = s->of || s->with ? ev_comm_of(&f->d, ev) : NULL;
    int bits = (s->of || s->with ? named(s, f, ev->name) : 0) | (m && m->function ? named(s, f, m->function) : 0);
    if (s->of ? bits & SIDE_OF : comm)
        return SIDE_OF;
    return (s->with ? bits & SIDE_WITH : !comm) ? SIDE_WITH : 0;
}

static struct ivlset side_union(const struct sides *s, const struct lane *l, int side, struct arena *a)
{
    const struct trace_file *f = &s->t->files[l->file];
    struct ivl *v = arena_array(a, struct ivl, l->n);
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct event *ev = &f->d.ev[l->ev[i]];
        if (side_of(s, f, ev) == side)
            v[n++] = (struct ivl){ev->start, ev->end};
    }
    return ivl_and(a, ivl_from(v, n), l->window);
}

struct both {
    int64_t beside, beside_ns, alone, alone_ns;
};

/* Percent by which kernels beside the other side take longer than alone; NAN: none ran both ways. */
static double dilation(const struct sides *s, const struct lane *l, struct ivlset of)
{
    const struct trace_file *f = &s->t->files[l->file];
    struct arena a = {0};
    struct shapes shapes;
    struct both *v = NULL;
    size_t cap = 0;
    double real = 0, expected = 0;
    shapes_init(&shapes, f, &a);
    for (size_t i = 0; i < l->n; i++) {
        const struct event *ev = &f->d.ev[l->ev[i]];
        int64_t ns = ev->end - ev->start;
        if (side_of(s, f, ev) != SIDE_WITH || !ns || ivl_within(l->window, ev->start, ev->end) != ns)
            continue;
        size_t at = shapes_id(&shapes, ev), was = cap;
        if (at >= cap) {
            v = array_grow(v, &cap, at + 1, sizeof *v);
            memset(v + was, 0, (cap - was) * sizeof *v);
        }
        int64_t inside = ivl_within(of, ev->start, ev->end);
        v[at].beside += 2 * inside >= ns;
        v[at].beside_ns += 2 * inside >= ns ? ns : 0;
        v[at].alone += inside == 0;
        v[at].alone_ns += inside == 0 ? ns : 0;
    }
    for (size_t i = 0; i < cap; i++)
        if (v[i].beside && v[i].alone) {
            real += (double)v[i].beside_ns;
            expected += (double)v[i].alone_ns / (double)v[i].alone * (double)v[i].beside;
        }
    free(v);
    shapes_free(&shapes);
    arena_free(&a);
    return 100 * (real / expected - 1); /* 0 / 0: not a number, absent */
}

static void fill_lane(const struct sides *s, const struct lane *l, struct table *out)
{
    struct arena a = {0};
    struct ivlset of = side_union(s, l, SIDE_OF, &a), with = side_union(s, l, SIDE_WITH, &a);
    int64_t total = ivl_len(of), overlap = ivl_len(ivl_and(&a, of, with));
    struct cell *row = trace_row(s->t, l->file, out);
    row[RANK] = cell_id(l->rank);
    row[DEVICE] = cell_id(l->device);
    row[COMM] = cell_int(total);
    row[OVERLAP] = cell_int(overlap);
    row[EXPOSED] = cell_int(total - overlap);
    row[OVERLAP_PCT] = cell_share(overlap, total);
    row[DILATION] = cell_real(dilation(s, l, of));
    arena_free(&a);
}

static bool compile(regex_t *re, regex_t **slot, const char *option, const char *text, struct err *e)
{
    char buf[RE_WHY];
    const char *why = text ? re_compile(re, text, buf) : NULL;
    if (why)
        return fail(e, ERR_USAGE, "--%s '%s': %s", option, text, why);
    *slot = text ? re : NULL;
    return true;
}

static void fill_lanes(struct sides *s, struct table *out)
{
    struct arena a = {0};
    s->known = arena_array(&a, uint8_t, s->t->files[0].d.strings.n + 1);
    for (size_t l = 0; l < s->t->nlanes; l++)
        fill_lane(s, &s->t->lanes[l], out);
    arena_free(&a);
}

static void finish(const struct trace *t, const void *args, struct table *out)
{
    const struct overlap_args *o = args;
    const char *of = o ? o->of : NULL, *with = o ? o->with : NULL;
    int64_t total = 0;
    (void)t;
    for (size_t i = 0; i < out->nrows; i++)
        total += table_at(out, i)[COMM].i;
    if (!total)
        table_note(out, of ? "no kernel matches --of in the window" : "no collective was found among the kernels; --patterns FILE names custom ones");
    if (of || with)
        table_note(out, "comm_union_ns is of %s%s, overlap_ns with %s%s", of ? "what matches " : "collectives", of ? of : "",
                   with ? "what matches " : "kernels that are none", with ? with : "");
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    const struct overlap_args *o = args;
    struct sides s = {.t = t};
    regex_t of, with;
    if (!trace_has(t, EV_KERNEL) && !trace_has(t, EV_COMM))
        return fail(e, ERR_UNDECIDED, "%s: no GPU rows in this trace", t->files[0].name);
    if (!kernels_in_window(t, out, e))
        return false;
    bool ok = compile(&of, &s.of, "of", o ? o->of : NULL, e) && compile(&with, &s.with, "with", o ? o->with : NULL, e);
    if (ok)
        fill_lanes(&s, out);
    if (s.of)
        regfree(s.of);
    if (s.with)
        regfree(s.with);
    return ok;
}

static const struct opt opts[] = {
    {OPT_TEXT, "of", offsetof(struct overlap_args, of), "kernels or collectives (all_to_all ...) whose overlap is asked for; default: collectives",
     "RE"},
    {OPT_TEXT, "with", offsetof(struct overlap_args, with), "what they overlap with; default: kernels that are no collectives", "RE"},
    {0},
};

const struct table_desc table_overlap = {
    .name = "overlap",
    .title = "Communication hidden behind compute",
    .what = "One row a device. Unions over streams within the window, in ns; overlap is what both unions cover, exposed the rest of the "
            "collectives. Exposed is not the same as critical. dilation_pct is what hiding costs the compute: kernels of equal name and shape, "
            "the mean of those that spend at least half their time beside a collective against the mean of those that meet none, weighted by "
            "their calls; empty where no kernel ran both ways. --of and --with ask for other pairs, such as --of all_to_all --with all_reduce.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the job; empty where the trace does not say"},
            {"device", UNIT_ID, .what = "device number in its process"},
            {"comm_union_ns", UNIT_NS, .what = "union of the collectives, or of what --of names"},
            {"overlap_ns", UNIT_NS, .what = "of that, while a kernel that is no collective (or one of --with) runs"},
            {"exposed_comm_ns", UNIT_NS, .what = "comm_union_ns less overlap_ns"},
            {"overlap_pct", UNIT_PERCENT, .base = "comm_union_ns", .what = "overlap_ns of comm_union_ns; empty without collectives"},
            {"dilation_pct", UNIT_PERCENT, .base = "their time alone", .what = "how much longer equal kernels take beside a collective"},
            COLUMNS_SOURCE,
            {0},
        },
    .worst = "exposed_comm_ns",
    .opts = opts,
    .args_size = sizeof(struct overlap_args),
    .spares = SIDE_SYNC | SIDE_RANGE | ROWS_ANY, /* the collectives' functions are asked for by --of and --with */
    .fill = fill,
    .finish = finish,
};
