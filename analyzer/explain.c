/* explain.c - facts from the replay, the critical path and the ledgers, put into sentences. */
#include "analyzer/explain.h"
#include "analyzer/critical.h"
#include "analyzer/explain_range.h"
#include "analyzer/groups.h"
#include "analyzer/kernelrows.h"
#include "analyzer/recover.h"
#include "analyzer/whatif.h"
#include "reports/human.h"

#include <stdlib.h>
#include <string.h>

/* One place that waits, summed over ranks. */
struct spot {
    uint32_t site, api;
    int8_t class;
    int64_t count, blocked_ns, bubble_ns, gain_ns; /* gain: of the window, the largest of any rank; -1 not replayed */
};

struct facts_of_step {
    const struct trace *t;
    struct replay r;
    struct path path;
    struct spot *spots;
    size_t nspots;
    struct metrics *was, *without; /* by lane: as measured, without what is most worth dropping */
    const char *range;             /* the range that holds all of the worst place's waits; NULL none */
    int64_t kind_ns[PATH_NKINDS];
    uint32_t worst; /* the lane with the longest window */
    struct arena arena;
};

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static int by_worth(const void *x, const void *y)
{
    const struct spot *a = x, *b = y;
    if (a->gain_ns != b->gain_ns)
        return a->gain_ns > b->gain_ns ? -1 : 1;
    if (a->bubble_ns != b->bubble_ns)
        return a->bubble_ns > b->bubble_ns ? -1 : 1;
    if (a->blocked_ns != b->blocked_ns)
        return a->blocked_ns > b->blocked_ns ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->api != b->api ? (a->api < b->api ? -1 : 1) : (a->class > b->class) - (a->class < b->class);
}

static struct spot *spot_at(struct facts_of_step *f, uint32_t site, uint32_t api, int class)
{
    for (size_t i = 0; i < f->nspots; i++)
        if (f->spots[i].site == site && f->spots[i].api == api && f->spots[i].class == class)
            return &f->spots[i];
    return NULL;
}

static void find_spots(struct facts_of_step *f)
{
    struct recoveries x;
    recover_find(&f->r, &x);
    f->spots = arena_array(&f->arena, struct spot, x.n + 1);
    for (size_t i = 0; i < x.n; i++) {
        struct spot *s = spot_at(f, x.v[i].site, x.v[i].api, x.v[i].class);
        if (!s) {
            s = &f->spots[f->nspots++];
            *s = (struct spot){x.v[i].site, x.v[i].api, x.v[i].class, 0, 0, 0, -1};
        }
        s->bubble_ns += x.v[i].bubble_ns;
        s->gain_ns = x.v[i].recoverable_ns > s->gain_ns ? x.v[i].recoverable_ns : s->gain_ns;
    }
    recover_free(&x);
    for (size_t i = 0; i < f->r.waits.n; i++) {
        const struct wait *w = &f->r.waits.v[i];
        struct spot *s = w->outside ? NULL : spot_at(f, w->site, w->api, w->class);
        if (!s)
            continue;
        s->count++;
        s->blocked_ns += w->blocked_ns;
    }
    if (f->nspots)
        qsort(f->spots, f->nspots, sizeof *f->spots, by_worth);
}

enum { WORTH_PERCENT = 5, MUCH_PERCENT = 20 }; /* of the window, of the critical path */

/* Replays the trace without the range around the worst place, if there is one that is no whole step. */
static void find_range(struct facts_of_step *f)
{
    f->without = arena_array(&f->arena, struct metrics, f->t->nlanes + 1);
    memcpy(f->without, f->was, f->t->nlanes * sizeof *f->was);
    int64_t ranks = f->t->nranks ? (int64_t)f->t->nranks : 1;
    if (!f->nspots || share(f->spots[0].bubble_ns / ranks, f->was[f->worst].window_ns) < WORTH_PERCENT)
        return; /* a range is named for the idle time behind its syncs, not for being long */
    const struct spot *s = &f->spots[0];
    f->range = range_around(&f->r, s->site, s->api, s->class, &f->arena);
    struct whatif_args o = {.drop_range = f->range ? range_pattern(f->range, &f->arena) : NULL};
    struct scenario scenario;
    struct touched n;
    struct err none = {0};
    if (f->range && scenario_make(&f->r, &o, &f->arena, &scenario, &n, &none))
        metrics_of_lanes(&f->r, &scenario, f->without);
    if (f->range && 2 * f->without[f->worst].busy_ns < f->was[f->worst].busy_ns)
        f->range = NULL; /* that is the step's work, not what holds it up */
    if (!f->range)
        memcpy(f->without, f->was, f->t->nlanes * sizeof *f->was);
}

static double path_share(const struct facts_of_step *f, enum path_kind k)
{
    return share(f->kind_ns[k], f->path.window_ns);
}

static const char *site_of(const struct facts_of_step *f, const struct spot *s)
{
    return intern_str(&f->r.waits.names, s->site);
}

/* ---- the lines ---- */

struct brief {
    char s[HUMAN_SIZE];
};

static struct brief ns(int64_t v)
{
    struct brief b, buf;
    snprintf(b.s, sizeof b.s, "%s", human_brief(v, buf.s));
    return b;
}

static int64_t gained(const struct facts_of_step *f)
{
    return f->t->nlanes ? f->was[f->worst].window_ns - f->without[f->worst].window_ns : 0;
}

/* The worst place's verdict; false: it is not worth one. */
static bool sync_verdict(const struct facts_of_step *f, FILE *out)
{
    const struct metrics *w = &f->was[f->worst];
    const struct spot *s = f->nspots ? &f->spots[0] : NULL;
    double site = s ? share(s->gain_ns, w->window_ns) : 0, range = f->range ? share(gained(f), w->window_ns) : 0;
    if (s && site >= WORTH_PERCENT)
        fprintf(out, "the step waits for host-device syncs at %s; without %s%s it is %.1f %% shorter\n", site_of(f, s),
                range > site ? "the range " : "them", range > site ? f->range : "", range > site ? range : site);
    else if (range >= WORTH_PERCENT)
        fprintf(out, "the device idles behind host-device syncs at %s while the host works; without the range %s the step is %.1f %% shorter\n",
                site_of(f, s), f->range, range);
    return site >= WORTH_PERCENT || range >= WORTH_PERCENT;
}

struct binding { /* a kind of time on the critical path, and how it is said */
    const char *first, *then;
    double percent;
};

/* What the path is mostly made of, and what else is much of it. */
static void path_verdict(const struct facts_of_step *f, FILE *out)
{
    struct binding by[] = {
        {"is bound by compute: %.1f %% of its critical path", "compute %.1f %%", path_share(f, PATH_COMPUTE)},
        {"waits for communication: %.1f %% of its critical path", "communication %.1f %%", path_share(f, PATH_COMM)},
        {"waits for the host: its code and launches are %.1f %% of the critical path", "the host %.1f %%",
         path_share(f, PATH_HOST) + path_share(f, PATH_LAUNCH) + path_share(f, PATH_SYNC)},
        {"waits for copies and fills: %.1f %% of its critical path", "copies and fills %.1f %%", path_share(f, PATH_COPY) + path_share(f, PATH_SET)},
    };
    enum { KINDS = sizeof by / sizeof *by };
    for (bool first = true;; first = false) {
        struct binding *most = &by[0];
        for (size_t i = 1; i < KINDS; i++)
            most = by[i].percent > most->percent ? &by[i] : most;
        if (!first && most->percent < MUCH_PERCENT)
            break;
        fputs(first ? "the step " : ", ", out);
        fprintf(out, first ? most->first : most->then, most->percent);
        most->percent = -1;
    }
    fprintf(out, "; no sync is worth %d %% of it\n", WORTH_PERCENT);
}

static void verdict(const struct facts_of_step *f, FILE *out)
{
    const struct metrics *w = &f->was[f->worst];
    fputs("verdict: ", out);
    if (sync_verdict(f, out))
        return;
    if (f->r.linked)
        path_verdict(f, out);
    else
        fprintf(out, "the device is busy for %.1f %% of the window; this trace does not say which call launched what\n",
                share(w->busy_ns, w->window_ns));
}

static void window_line(const struct facts_of_step *f, FILE *out)
{
    struct arena a = {0};
    const struct metrics *w = &f->was[f->worst];
    if (f->t->span == SPAN_STEP)
        fprintf(out, "window: %s, %s; median step %s\n", trace_window_text(f->t, &a), ns(w->window_ns).s, ns(w->step_ns).s);
    else
        fprintf(out, "window: %s, %s; no steps were found\n", trace_window_text(f->t, &a), ns(w->window_ns).s);
    arena_free(&a);
}

static void busy_line(const struct facts_of_step *f, FILE *out)
{
    double least = 100, most = 0;
    int64_t idle = 0;
    for (uint32_t l = 0; l < f->t->nlanes; l++) {
        double b = share(f->was[l].busy_ns, f->was[l].window_ns);
        least = b < least ? b : least;
        most = b > most ? b : most;
        int64_t none = f->was[l].window_ns - f->was[l].busy_ns;
        idle = none > idle ? none : idle;
    }
    if (f->t->nlanes > 1)
        fprintf(out, "devices: %zu, busy %.1f to %.1f %% of the window; at most %s idle\n", f->t->nlanes, least, most, ns(idle).s);
    else
        fprintf(out, "device: busy %.1f %% of the window; %s idle\n", most, ns(idle).s);
}

static void path_line(const struct facts_of_step *f, FILE *out)
{
    double copies = path_share(f, PATH_COPY) + path_share(f, PATH_SET), gaps = path_share(f, PATH_LAUNCH) + path_share(f, PATH_DELAY);
    fprintf(out,
            "critical path: compute %.1f %%, transfers %.1f %%, copies and fills %.1f %%, host %.1f %%, after syncs %.1f %%, launch and gaps %.1f %%",
            path_share(f, PATH_COMPUTE), path_share(f, PATH_COMM), copies, path_share(f, PATH_HOST), path_share(f, PATH_SYNC), gaps);
    if (f->kind_ns[PATH_UNKNOWN])
        fprintf(out, ", unknown %.1f %%", path_share(f, PATH_UNKNOWN));
    fputc('\n', out);
}

enum { NAME_WIDTH = 60 };

/* Parts of the path of equal kind and name put together, over ranks and sites; how many. */
static size_t fold_parts(const struct path *p, struct path_part *out)
{
    struct groups g = {0};
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        size_t k = groups_at(&g, p->v[i].kind, p->v[i].name, 0, 0);
        if (k == n)
            out[n++] = (struct path_part){.kind = p->v[i].kind, .name = p->v[i].name};
        out[k].total_ns += p->v[i].total_ns;
    }
    groups_free(&g);
    return n;
}

static int by_length(const void *x, const void *y)
{
    const struct path_part *a = x, *b = y;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : (a->name > b->name) - (a->name < b->name);
}

static void longest_line(const struct facts_of_step *f, FILE *out)
{
    struct arena a = {0};
    struct path_part *v = arena_array(&a, struct path_part, f->path.n + 1);
    size_t n = fold_parts(&f->path, v);
    qsort(v, n, sizeof *v, by_length);
    fputs("longest on it: ", out);
    for (size_t i = 0; i < n && i < 3; i++) {
        const char *name = intern_str(&f->path.names, v[i].name);
        const char *kind = path_kind_name(v[i].kind);
        bool cut = strlen(name) > NAME_WIDTH, said = strncmp(name, kind, strlen(kind)) == 0; /* "host code" */
        fprintf(out, "%s%s%s%.*s%s %.1f %%", i ? ", " : "", said ? "" : kind, said ? "" : " ", NAME_WIDTH, name, cut ? "..." : "",
                share(v[i].total_ns, f->path.window_ns));
    }
    fputs(n ? "\n" : "nothing\n", out);
    arena_free(&a);
}

static void sync_line(const struct facts_of_step *f, FILE *out)
{
    if (!f->nspots) {
        fprintf(out, "syncs: %s\n", f->r.waits.recorded ? "no blocking call in the window" : "API calls of the host are not in this trace");
        return;
    }
    const struct spot *s = &f->spots[0];
    fprintf(out, "worst sync: %s, %s, %lld calls, host blocked %s, device idle behind it %s (sums over ranks)\n", site_of(f, s),
            intern_str(&f->r.waits.names, s->api), (long long)s->count, ns(s->blocked_ns).s, ns(s->bubble_ns).s);
}

static void gain_line(const struct facts_of_step *f, FILE *out)
{
    const struct metrics *w = &f->was[f->worst], *n = &f->without[f->worst];
    const struct spot *s = f->nspots ? &f->spots[0] : NULL;
    if (!s || s->gain_ns < 0) {
        fputs("without it: nothing to replay\n", out);
        return;
    }
    fprintf(out, "without it: the replay gains %s of %s (%.1f %%)", ns(s->gain_ns).s, ns(w->window_ns).s, share(s->gain_ns, w->window_ns));
    if (f->range)
        fprintf(out, "; without the range %s %s, busy %.1f instead of %.1f %%", f->range, ns(gained(f)).s, share(n->busy_ns, n->window_ns),
                share(w->busy_ns, w->window_ns));
    fputc('\n', out);
}

static void next_line(const struct facts_of_step *f, FILE *out)
{
    fputs("next syncs: ", out);
    for (size_t i = 1; i < f->nspots && i < 4; i++)
        fprintf(out, "%s%s (%s) %s", i > 1 ? ", " : "", site_of(f, &f->spots[i]), intern_str(&f->r.waits.names, f->spots[i].api),
                f->spots[i].gain_ns < 0 ? "not replayed" : ns(f->spots[i].gain_ns).s);
    fputs(f->nspots > 1 ? "\n" : "none\n", out);
}

static void comm_line(const struct facts_of_step *f, FILE *out)
{
    int64_t sum = 0, wait = 0;
    size_t matched = 0;
    for (uint32_t l = 0; l < f->t->nlanes; l++)
        sum += f->was[l].comm_sum_ns;
    for (size_t g = 0; g < f->r.ngroups; g++)
        for (uint32_t i = 0; i < f->r.groups[g].n; i++, matched++) {
            uint32_t task = f->r.member[f->r.groups[g].first + i];
            wait += replay_end(&f->r, task) - replay_start(&f->r, task) - f->r.groups[g].transfer;
        }
    if (!sum)
        fputs("communication: no collective in the window\n", out);
    else if (matched)
        fprintf(out, "communication: %s over all ranks, of which %s waiting for the last rank\n", ns(sum).s, ns(wait < sum ? wait : sum).s);
    else
        fprintf(out, "communication: %s over all devices; not every rank is here, so waiting and transfer cannot be told apart\n", ns(sum).s);
}

static void basis_line(const struct facts_of_step *f, FILE *out)
{
    const struct trace_file *file = &f->t->files[0];
    const char *without = tracedata_meta_get(&file->d, "not_recorded");
    bool modelled = file->backend && strcmp(file->backend, "sim") == 0;
    fprintf(
        out,
        "basis: backend %s%s, %zu calls and device rows in a replay; host code and durations stay as recorded%s%s%s%s; see whatif, syncs, critical\n",
        file->backend ? file->backend : "not known", modelled ? " (SIMULATED: modelled, not measured)" : "", f->r.n,
        f->r.linked ? "" : ", launches not linked", f->r.unmatched ? ", collectives unmatched" : "", without ? ", not recorded: " : "",
        without ? without : "");
}

static void put_lines(const struct facts_of_step *f, FILE *out)
{
    static void (*const lines[EXPLAIN_LINES])(const struct facts_of_step *, FILE *) = {verdict,   window_line, busy_line, path_line, longest_line,
                                                                                       sync_line, gain_line,   next_line, comm_line, basis_line};
    for (int i = 0; i < EXPLAIN_LINES; i++)
        lines[i](f, out);
}

bool explain_trace(const struct trace *t, FILE *out, struct err *e)
{
    if (!kernels_known(t, e))
        return false;
    if (!t->nlanes)
        return fail(e, ERR_UNDECIDED, "%s: no device rows of what was selected", t->files[0].name);
    struct facts_of_step f = {.t = t};
    replay_build(t, SITE_FUNCTION, &f.r);
    critical_path(&f.r, &f.path);
    for (size_t i = 0; i < f.path.n; i++)
        f.kind_ns[f.path.v[i].kind] += f.path.v[i].total_ns;
    f.was = arena_array(&f.arena, struct metrics, t->nlanes + 1);
    metrics_of_lanes(&f.r, NULL, f.was);
    for (uint32_t l = 0; l < t->nlanes; l++)
        f.worst = f.was[l].window_ns > f.was[f.worst].window_ns ? l : f.worst;
    find_spots(&f);
    find_range(&f);
    put_lines(&f, out);
    path_free(&f.path);
    replay_free(&f.r);
    arena_free(&f.arena);
    return true;
}
