/* trace.c - opening a trace: the order of its parts, and what tables ask of it. */
#include "analyzer/nest.h"
#include "analyzer/output.h"
#include "analyzer/re.h"
#include "analyzer/part.h"
#include "analyzer/trace_build.h"

#include <stdlib.h>
#include <string.h>

const struct opt trace_opt_rows[] = {
    {OPT_COUNT, "rank", offsetof(struct trace_opts, rank), "only events of this rank", "N"},
    {OPT_COUNT, "device", offsetof(struct trace_opts, device), "only device rows of this device", "N"},
    {OPT_TEXT, "step", offsetof(struct trace_opts, step), "only this step, or steps A to B", "N|A:B"},
    {OPT_TEXT, "range", offsetof(struct trace_opts, range), "only what happened in, or was launched from, ranges whose path matches", "RE"},
    {OPT_TIME, "from", offsetof(struct trace_opts, from), "only events after this time since the trace's start, such as 12.5ms", "T"},
    {OPT_TIME, "to", offsetof(struct trace_opts, to), "only events before this time", "T"},
    {OPT_TEXT, "span", offsetof(struct trace_opts, span), "the window: step (default where steps are found), gpu, all", "step|gpu|all"},
    {OPT_TEXT, "step-marker", offsetof(struct trace_opts, step_marker), "ranges that are steps", "RE"},
    {OPT_TEXT, "patterns", offsetof(struct trace_opts, patterns), "file of 'class RE' lines that name kernel classes", "FILE"},
    {0},
};

static bool compile(regex_t *re, regex_t **slot, const char *option, const char *text, struct err *e)
{
    if (!text)
        return true;
    char buf[RE_WHY];
    const char *why = re_compile(re, text, buf);
    if (why)
        return fail(e, ERR_USAGE, "--%s '%s': %s", option, text, why);
    *slot = re;
    return true;
}

static bool parse_steps(struct build *b, const char *text, struct err *e)
{
    b->step_from = 1, b->step_to = 0;
    if (!text)
        return true;
    char *end;
    const char *p = text;
    b->step_from = strtoll(p, &end, 10);
    bool ok = end != p;
    b->step_to = b->step_from;
    if (ok && *end == ':') {
        p = end + 1;
        b->step_to = strtoll(p, &end, 10);
        ok = end != p;
    }
    if (!ok || *end || b->step_from < 0 || b->step_to < b->step_from)
        return fail(e, ERR_USAGE, "--step %s: not a step number N nor a span A:B", text);
    return true;
}

static bool lacks_rows(const struct trace *t, struct err *e)
{
    const struct trace_opts *o = &t->opts;
    const char *file = t->files[0].name;
    if (o->rank >= 0)
        return fail(e, ERR_UNDECIDED, "%s: no event of rank %lld%s", file, (long long)o->rank, t->nfiles > 1 ? " in these files" : "");
    if (o->from != INT64_MIN || o->to != INT64_MAX)
        return fail(e, ERR_UNDECIDED, "%s: no event between --from and --to", file);
    if (o->device >= 0)
        return fail(e, ERR_UNDECIDED, "%s: no event of device %lld", file, (long long)o->device);
    if (t->files[0].bad_rows)
        return fail(e, ERR_UNDECIDED, "%s: no event that is possible; %zu rows end before they start, last over an hour or the like", file,
                    t->files[0].bad_rows);
    return fail(e, ERR_UNDECIDED, "%s: no event in this trace", file);
}

static bool lacks(const struct trace *t, enum lack k, struct err *e)
{
    const struct trace_opts *o = &t->opts;
    const char *file = t->files[0].name, *cure = "--step-marker RE says which ranges are steps";
    switch (k) {
    case LACK_ROWS:
        return lacks_rows(t, e);
    case LACK_DEVICE:
        return fail(e, ERR_UNDECIDED, "%s: no event of device %lld", file, (long long)o->device);
    case LACK_MARKER:
        return fail(e, ERR_UNDECIDED, "%s: no range matches --step-marker '%s'", file, o->step_marker);
    case LACK_RANGE:
        return fail(e, ERR_UNDECIDED, "%s: no range matches '%s'", file, o->range);
    case LACK_STEP:
        return fail(e, ERR_UNDECIDED, "%s: no step %s in this trace; %s", file, o->step, cure);
    case LACK_MARKS:
        return fail(e, ERR_UNDECIDED, "%s: no steps are marked in this trace; %s", file, cure);
    case LACK_WORK:
        break;
    }
    return fail(e, ERR_UNDECIDED, "%s: no GPU rows in this trace", file);
}

bool found(struct trace *t, bool there, enum lack k, struct err *e)
{
    if (!there && !t->opts.one_of_many)
        return lacks(t, k, e);
    t->lacks |= there ? 0 : 1u << k;
    return true;
}

bool trace_complete(const struct trace *t, struct err *e)
{
    for (enum lack k = LACK_ROWS; k <= LACK_WORK; k++)
        if (t->lacks >> k & 1)
            return lacks(t, k, e);
    return true;
}

/* A marker that was asked for and is not there: another window than the one meant would be shown. */
static bool check_marker(const struct build *b, struct err *e)
{
    if (!b->marker || b->t->opts.step)
        return true;
    for (size_t i = 0; i < b->t->nranks; i++)
        if (b->t->ranks[i].steps.n)
            return true;
    return found(b->t, false, LACK_MARKER, e);
}

/* The files, and the options that parts among them were made with. paths NULL: the files are there already. */
static bool gather(struct build *b, const char *const *paths, size_t n, struct paths *p, struct err *e)
{
    const char *more;
    struct arena *a = &b->t->arena;
    return !paths || (paths_expand(p, a, paths, n, e) && part_options(p->v, p->n, &b->t->opts, a, &more, e));
}

static bool check_options(struct build *b, regex_t *range, regex_t *marker, struct err *e)
{
    const struct trace_opts *o = &b->t->opts;
    b->patterns = patterns_open(o->patterns, o->patterns_text, e);
    return e->kind == ERR_NONE && parse_steps(b, o->step, e) && compile(range, &b->range, "range", o->range, e) &&
           compile(marker, &b->marker, "step-marker", o->step_marker, e);
}

static bool build(struct build *b, const char *const *paths, size_t n, struct err *e)
{
    regex_t range, marker;
    struct paths p = {0};
    bool ok = gather(b, paths, n, &p, e) && check_options(b, &range, &marker, e) && load_files(b->t, paths ? &p : NULL, e) && lanes_build(b, e);
    if (!b->t->opts.quiet)
        paths_warn(&p);
    if (ok) {
        runs_number(b->t, NULL);
        steps_build(b);
        ok = check_marker(b, e) && select_range(b, e) && windows_build(b, e);
    }
    if (b->range)
        regfree(b->range);
    if (b->marker)
        regfree(b->marker);
    patterns_close(b->patterns);
    paths_free(&p);
    return ok;
}

bool trace_open(const char *const *paths, size_t n, const struct trace_opts *o, struct trace *t, struct err *e)
{
    *t = (struct trace){.opts = *o};
    struct build b = {.t = t};
    bool ok = build(&b, paths, n, e);
    if (!ok)
        trace_close(t);
    return ok;
}

void trace_close(struct trace *t)
{
    for (size_t i = 0; i < t->nfiles; i++) {
        launches_free(t->files[i].launches);
        if (!t->borrowed)
            tracedata_free(&t->files[i].d);
    }
    free(t->files);
    free(t->ranks);
    free(t->lanes);
    arena_free(&t->arena);
    *t = (struct trace){0};
}

bool trace_again(const struct trace *t, const struct trace_opts *o, struct trace *again, struct err *e)
{
    size_t cap = 0;
    *again = (struct trace){.opts = *o, .nfiles = t->nfiles, .borrowed = true};
    again->files = array_grow(NULL, &cap, t->nfiles + 1, sizeof *again->files);
    for (size_t i = 0; i < t->nfiles; i++) {
        const struct trace_file *f = &t->files[i];
        again->files[i] = (struct trace_file){.path = f->path, .name = f->name, .backend = f->backend, .d = f->d};
    }
    struct build b = {.t = again};
    bool ok = build(&b, NULL, 0, e);
    if (!ok)
        trace_close(again);
    return ok;
}

bool trace_spares(const struct trace *t, const char *path, struct err *e)
{
    bool ok = true;
    char part[4096];
    int64_t id;
    for (size_t i = 0; ok && i < t->nfiles; i++)
        ok = output_spares(path, part_holds(t->files[i].path, part, &id) ? part : t->files[i].path, e);
    return ok;
}

const char *trace_string(const struct trace_file *f, uint32_t id)
{
    return intern_str(&f->d.strings, id);
}

bool trace_is_comm(const struct trace_file *f, const struct event *ev)
{
    return ev->kind == EV_COMM || (ev->kind == EV_KERNEL && f->class[ev->name] == KCLASS_COMM);
}

enum work trace_work(const struct trace_file *f, const struct event *ev)
{
    if (ev->kind == EV_MEMCPY)
        return WORK_COPY;
    if (ev->kind == EV_MEMSET)
        return WORK_SET;
    return trace_is_comm(f, ev) ? WORK_COMM : WORK_COMPUTE;
}

bool trace_has(const struct trace *t, enum ev_kind k)
{
    for (size_t i = 0; i < t->nfiles; i++)
        if (t->files[i].kinds >> k & 1)
            return true;
    return false;
}

uint32_t trace_event_process(const struct tracedata *d, const struct event *ev)
{
    bool by_stream = !ev->thread || (ev->stream && ev_kind_class((enum ev_kind)ev->kind) == EV_WORK);
    return by_stream ? d->streams[ev->stream].process : d->threads[ev->thread].process;
}

int32_t trace_event_rank(const struct tracedata *d, const struct event *ev)
{
    return ev->rank >= 0 ? ev->rank : d->processes[trace_event_process(d, ev)].rank;
}

struct ivlset trace_union(const struct trace *t, struct arena *a, const struct lane *l, unsigned work)
{
    const struct trace_file *f = &t->files[l->file];
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += (trace_work(f, &f->d.ev[l->ev[i]]) & work) != 0;
    struct ivl *v = arena_array(a, struct ivl, n);
    n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct event *ev = &f->d.ev[l->ev[i]];
        if (trace_work(f, ev) & work)
            v[n++] = (struct ivl){ev->start, ev->end};
    }
    return ivl_and(a, ivl_from(v, n), l->window);
}

struct ivlset trace_idle(const struct trace *t, struct arena *a, const struct lane *l)
{
    return ivl_sub(a, l->window, trace_union(t, a, l, WORK_ANY));
}
