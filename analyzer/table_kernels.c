/* table_kernels.c - kernels of each device by name, short name, class or the range they were launched from. */
#include "analyzer/classes.h"
#include "analyzer/groups.h"
#include "analyzer/kernelrows.h"
#include "analyzer/kernels.h"
#include "analyzer/nest.h"
#include "analyzer/shortname.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, DEVICE, NAME, CALLS, TOTAL, MEAN, MIN, MAX, SHARE };

enum by { BY_NAME, BY_SHORT, BY_CLASS, BY_RANGE };

struct sum {
    int64_t calls, total, min, max;
};

/* How the rows of one file get their key; ids are in `names`, shared over files. */
struct naming {
    const struct trace_file *f;
    enum by by;
    struct intern *names;
    uint32_t *of_name;             /* 1 + id by string id */
    const uint32_t *launched, *at; /* by range: the host row of a kernel, the path of a host row */
    const struct intern *paths;
    struct arena arena;
};

static uint32_t name_key(struct naming *k, uint32_t name)
{
    if (!k->of_name[name]) {
        const char *text = trace_string(k->f, name);
        size_t n = strlen(text);
        if (k->by == BY_SHORT)
            text = short_name(text, &n);
        if (k->by == BY_CLASS)
            text = kclass_name((enum kclass)k->f->class[name]), n = strlen(text);
        k->of_name[name] = 1 + intern_id_n(k->names, text, n);
    }
    return k->of_name[name] - 1;
}

static uint32_t key_of(struct naming *k, uint32_t row)
{
    const struct event *ev = &k->f->d.ev[row];
    if (k->by == BY_CLASS && ev->kind == EV_COMM)
        return intern_id(k->names, kclass_name(KCLASS_COMM));
    if (k->by != BY_RANGE)
        return name_key(k, ev->name);
    uint32_t host = k->launched[row], path = host ? k->at[host - 1] : 0;
    return path ? intern_id(k->names, intern_str(k->paths, path)) : 0;
}

static void note(struct sum *s, int64_t ns)
{
    s->min = !s->calls || ns < s->min ? ns : s->min;
    s->max = ns > s->max ? ns : s->max;
    s->calls++;
    s->total += ns;
}

struct tally {
    struct groups g;
    struct sum *v;
    size_t cap;
};

static void tally_lane(const struct trace *t, uint32_t lane, struct naming *k, struct tally *y)
{
    const struct lane *l = &t->lanes[lane];
    for (size_t i = 0; i < l->n; i++) {
        const struct event *ev = &k->f->d.ev[l->ev[i]];
        if (!(trace_work(k->f, ev) & WORK_KERNEL) || !ivl_touches(l->window, ev->start, ev->end))
            continue;
        size_t at = groups_at(&y->g, lane, key_of(k, l->ev[i]), 0, 0);
        if (at >= y->cap) {
            size_t was = y->cap;
            y->v = array_grow(y->v, &y->cap, at + 1, sizeof *y->v);
            memset(y->v + was, 0, (y->cap - was) * sizeof *y->v);
        }
        note(&y->v[at], ivl_within(l->window, ev->start, ev->end));
    }
}

static void tally_file(const struct trace *t, uint32_t file, enum by by, struct intern *names, struct tally *y)
{
    struct naming k = {.f = &t->files[file], .by = by, .names = names};
    struct intern paths;
    intern_init(&paths);
    k.of_name = arena_array(&k.arena, uint32_t, k.f->d.strings.n + 1);
    if (by == BY_RANGE) {
        k.launched = launches_of(k.f);
        k.at = range_paths(t, file, true, &paths, &k.arena);
        k.paths = &paths;
    }
    for (uint32_t l = 0; l < t->nlanes; l++)
        if (t->lanes[l].file == file)
            tally_lane(t, l, &k, y);
    intern_free(&paths);
    arena_free(&k.arena);
}

static void fill_rows(const struct trace *t, const struct tally *y, const struct intern *names, struct table *out)
{
    struct arena a = {0};
    int64_t *sum = arena_array(&a, int64_t, t->nlanes);
    for (size_t i = 0; i < y->g.n; i++)
        sum[y->g.key[i][0]] += y->v[i].total;
    for (size_t i = 0; i < y->g.n; i++) {
        const struct lane *l = &t->lanes[y->g.key[i][0]];
        const struct sum *s = &y->v[i];
        struct cell *row = trace_row(t, l->file, out);
        row[RANK] = cell_id(l->rank);
        row[DEVICE] = cell_id(l->device);
        row[NAME] = cell_text(y->g.key[i][1] ? table_text(out, "%s", intern_str(names, y->g.key[i][1])) : NULL);
        row[CALLS] = cell_int(s->calls);
        row[TOTAL] = cell_int(s->total);
        row[MEAN] = cell_int(s->total / s->calls);
        row[MIN] = cell_int(s->min);
        row[MAX] = cell_int(s->max);
        row[SHARE] = cell_share(s->total, sum[y->g.key[i][0]]);
    }
    arena_free(&a);
}

/* By rank, device, then the most time first. */
static int in_order(const struct cell *x, const struct cell *y)
{
    for (int i = RANK; i <= DEVICE; i++)
        if (x[i].kind != y[i].kind || (x[i].kind && x[i].i != y[i].i))
            return x[i].kind != y[i].kind ? (x[i].kind > y[i].kind) - (x[i].kind < y[i].kind) : x[i].i < y[i].i ? -1 : 1;
    return (x[TOTAL].i < y[TOTAL].i) - (x[TOTAL].i > y[TOTAL].i);
}

static bool parse_by(const char *text, enum by *by, struct err *e)
{
    static const char *const names[] = {"name", "short", "class", "range"};
    *by = BY_NAME;
    for (int i = 0; text && i < 4; i++)
        if (strcmp(text, names[i]) == 0) {
            *by = (enum by)i;
            return true;
        }
    return !text || fail(e, ERR_USAGE, "--by %s: not name, short, class or range", text);
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    enum by by;
    if (!parse_by(args ? ((const struct kernels_args *)args)->by : NULL, &by, e))
        return false;
    if (!trace_has(t, EV_KERNEL) && !trace_has(t, EV_COMM))
        return fail(e, ERR_UNDECIDED, "%s: no GPU rows in this trace", t->files[0].name);
    if (!kernels_in_window(t, out, e))
        return false;
    struct tally y = {0};
    struct intern names;
    intern_init(&names);
    for (uint32_t i = 0; i < t->nfiles; i++)
        tally_file(t, i, by, &names, &y);
    fill_rows(t, &y, &names, out);
    if (by == BY_RANGE)
        table_note(out, "by the innermost range around the launch; no name: launched outside of ranges, or no launch row to tell");
    free(y.v);
    groups_free(&y.g);
    intern_free(&names);
    return true;
}

static const struct opt opts[] = {
    {OPT_TEXT, "by", offsetof(struct kernels_args, by), "name (default), short (without types), class, range (of the launch)", "WHAT"},
    {0},
};

const struct table_desc table_kernels = {
    .name = "kernels",
    .title = "Kernels",
    .what = "One row per device and kernel name, short name, class, or range path. Collectives are kernels too. Times are sums of durations "
            "within the window; kernels that run at the same time both count.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the job; empty where the trace does not say"},
            {"device", UNIT_ID, .what = "device number in its process"},
            {"name", UNIT_TEXT, .what = "kernel, short name, class or range path"},
            {"calls", UNIT_COUNT, .what = "kernels that touch the window"},
            {"total_ns", UNIT_NS, .what = "sum of durations"},
            {"mean_ns", UNIT_NS, .what = "total_ns / calls, rounded down"},
            {"min_ns", UNIT_NS, .what = "shortest"},
            {"max_ns", UNIT_NS, .what = "longest"},
            {"share_pct", UNIT_PERCENT, .base = "the device's sum of kernel times", .what = "share of the device's sum of kernel times"},
            COLUMNS_SOURCE,
            {0},
        },
    .worst = "total_ns",
    .opts = opts,
    .args_size = sizeof(struct kernels_args),
    .spares = SIDE_SYNC | SIDE_KERNEL | SIDE_COMM | SIDE_COPY | ROWS_ANY,
    .fill = fill,
    .order = in_order,
};
