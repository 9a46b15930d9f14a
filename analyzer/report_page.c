/* report_page.c - the order of the page: what changed, then why, then everything else. */
#include "analyzer/report.h"

#include <string.h>

enum { TABLES_MOST = 24, ROWS_MOST = 30 };

/* Tables stay with the page until it is written. */
struct composer {
    struct report *r;
    struct page p;
    struct table tables[TABLES_MOST];
    size_t n;
    struct arena arena;
};

/* A joined table; NULL and a line that says why when there is none. */
static const struct table *joined(struct composer *c, const struct join *j, const char *title)
{
    struct table *t = &c->tables[c->n];
    const char *why = NULL;
    if (report_join(c->r, j, title, t, &why)) {
        c->n++;
        return t;
    }
    if (*why)
        page_text(&c->p, "%s: %s", title, why);
    return NULL;
}

/* `more`: the command that prints all rows. */
static void put_table(struct composer *c, const struct table *t, const char *more)
{
    if (t)
        page_table(&c->p, t, (struct html_table_opts){.most = ROWS_MOST, .more = arena_printf(&c->arena, more, c->r->after.t.files[0].name)});
}

/* A joined table that is opened by those who want it. Names of the stacks and of places in the source lead further. */
static void folded(struct composer *c, const struct join *j, const char *summary, const char *title, const char *more)
{
    page_fold(&c->p, summary);
    const struct table *t = joined(c, j, title);
    struct html_table_opts o = {.most = ROWS_MOST, .more = arena_printf(&c->arena, more, c->r->after.t.files[0].name)};
    o.source = c->r->source;
    o.stacks = j == &join_wait_stacks;
    if (t)
        page_table(&c->p, t, o);
    page_unfold(&c->p);
}

enum { PICK_MOST = 16 };

/* Some columns of a table; the texts stay with it. */
static const struct table *picked(struct composer *c, const struct table *t, const char *const *names, const char *more)
{
    struct table *out = &c->tables[c->n++];
    struct column *columns = arena_array(&c->arena, struct column, PICK_MOST + 1);
    int from[PICK_MOST];
    size_t n = 0;
    for (size_t i = 0; names[i] && n < PICK_MOST; i++)
        if ((from[n] = table_column(t, names[i])) >= 0)
            columns[n] = t->columns[from[n]], n++;
    table_init(out, t->name, t->title, columns);
    for (size_t r = 0; r < t->nrows; r++) {
        struct cell *row = table_row(out);
        for (size_t i = 0; i < n; i++)
            row[i] = table_at(t, r)[from[i]];
    }
    for (size_t i = 0; i < t->nnotes; i++)
        table_note(out, "%s", t->notes[i]);
    table_note(out, "all columns: %s", more);
    return out;
}

/* A table of each side, a row a rank or device; of a wide one some columns (NULL: all). */
static void of_sides(struct composer *c, enum report_table of, const char *title, const char *const *columns)
{
    struct side *sides[] = {&c->r->before, &c->r->after};
    for (int i = c->r->pair ? 0 : 1; i < 2; i++) {
        const struct table *t = &sides[i]->tables[of];
        const char *caption = arena_printf(&c->arena, "%s: %s", title, sides[i]->label);
        const char *more = arena_printf(&c->arena, "cpscope %s --format csv %s", t->name, sides[i]->t.nfiles ? sides[i]->t.files[0].name : "");
        if (!sides[i]->missing[of])
            page_table(&c->p, columns ? picked(c, t, columns, more) : t, (struct html_table_opts){.most = 2 * ROWS_MOST, .caption = caption});
        else if (*sides[i]->missing[of])
            page_text(&c->p, "%s: %s", caption, sides[i]->missing[of]);
    }
}

static void section_gate(struct composer *c)
{
    if (!c->r->gate)
        return;
    page_section(&c->p, "gate", "The gate");
    page_table(&c->p, &c->r->judged, (struct html_table_opts){.most = 2 * ROWS_MOST, .caption = "Rules against the baseline", .whole = true});
}

static void explained(struct composer *c, const struct side *s)
{
    if (s->explain_missing)
        page_text(&c->p, "%s", s->explain_missing);
    else
        page_lines(&c->p, s->explain ? s->explain : "");
}

static void section_explain(struct composer *c)
{
    page_section(&c->p, "explain", "What the step waits for");
    if (c->r->pair)
        page_text(&c->p, "after, looked at by itself:");
    explained(c, &c->r->after);
    if (!c->r->pair)
        return;
    page_fold(&c->p, "The same of before");
    explained(c, &c->r->before);
    page_unfold(&c->p);
}

/* A plot that cannot be drawn from this trace is a line; one that gnuplot cannot draw ends the report. */
static bool plotted(struct composer *c, bool ok, const struct plot *plot, const char *caption, struct err *why, struct err *e)
{
    if (ok)
        page_plot(&c->p, plot->data, caption);
    else if (why->kind != ERR_UNDECIDED)
        return fail(e, why->kind, "%s", why->msg);
    else
        page_text(&c->p, "%s", why->msg);
    return true;
}

static bool section_syncs(struct composer *c, const struct table **ops, const struct table **waits, struct err *e)
{
    struct err why = {0};
    struct plot plot;
    page_section(&c->p, "syncs", "Where the host waits for the device");
    page_text(&c->p,
              "Two ledgers that are never added together. The op ledger counts framework operators that read back from the device (item, "
              "is_nonzero, nonzero, boolean index); the wait ledger counts host calls that block, by kind of call, not by how long they took. "
              "Bubble is device idle from the end of the work waited for to the next work of that thread: an upper bound of what the site costs.");
    *ops = joined(c, &join_ops, "Op ledger: operators that read back, by call site");
    *waits = joined(c, &join_waits, "Wait ledger: host calls that block, by call site");
    const struct table *of = *ops && (*ops)->nrows ? *ops : *waits;
    bool ok = of && report_plot_syncs(c->r, of, PLOT_INLINE, &plot, &why);
    if (of && !plotted(c, ok, &plot,
                       of == *ops ? "Sync sites of the op ledger: host time spent in them and how often, summed over ranks."
                                  : "Sync sites of the wait ledger: host time blocked and how often, summed over ranks.",
                       &why, e))
        return false;
    put_table(c, *ops, "cpscope syncs --ledger op --format csv %s");
    put_table(c, *waits, "cpscope syncs --format csv %s");
    if (*ops) {
        folded(c, &join_ops_by_api, "Op ledger by operator", "Op ledger: by call site and operator", "cpscope syncs --ledger op --format csv %s");
        folded(c, &join_op_lines, "Op ledger by line", "Op ledger: by file and line", "cpscope syncs --ledger op --by line --format csv %s");
    }
    if (*waits) {
        folded(c, &join_wait_lines, "Wait ledger by line", "Wait ledger: by file and line", "cpscope syncs --by line --format csv %s");
        folded(c, &join_wait_stacks, "Wait ledger by stack", "Wait ledger: by stack, outermost first", "cpscope syncs --by stack --format csv %s");
    }
    return true;
}

static bool section_time(struct composer *c, struct err *e)
{
    struct err why = {0};
    struct plot plot;
    page_section(&c->p, "time", "Where the time goes");
    bool ok = report_plot_breakdown(c->r, PLOT_INLINE, &plot, &why);
    if (!plotted(c, ok, &plot,
                 "Each device's window in four parts that add up to it: compute, communication that no compute hides, copies and fills alone, idle. "
                 "Unions over streams, not sums. A collective that waits for a peer counts as communication, though nothing is moved.",
                 &why, e))
        return false;
    put_table(c, joined(c, &join_idle, "Idle by cause"), "cpscope idle --format csv %s");
    folded(c, &join_critical, "What the length of the step is made of", "Critical path: the chain of causes, walked back from the end",
           "cpscope critical --format csv %s");
    page_section(&c->p, "timeline", report_whole(c->r) ? "The timeline" : "One step");
    if (c->r->pair)
        page_text(&c->p, "Both strips have the same scale.");
    struct side *sides[] = {&c->r->before, &c->r->after};
    for (int i = c->r->pair ? 0 : 1; i < 2; i++) {
        const char *caption = "";
        struct err no = {0};
        ok = report_plot_timeline(c->r, sides[i], PLOT_INLINE, &plot, &caption, &no);
        if (!plotted(c, ok, &plot, caption, &no, e))
            return false;
    }
    return true;
}

static bool section_kernels(struct composer *c, struct err *e)
{
    struct err why = {0};
    struct plot plot;
    page_section(&c->p, "kernels", "Kernels");
    put_table(c, joined(c, &join_classes, "By class"), "cpscope kernels --by class --format csv %s");
    put_table(c, joined(c, &join_kernels, "By name"), "cpscope kernels --by short --format csv %s");
    page_section(&c->p, "comm", "Communication");
    bool ok = report_plot_wait(c->r, PLOT_INLINE, &plot, &why);
    if ((ok || why.kind != ERR_UNDECIDED) && /* the columns of the table below are empty then, and it says so */
        !plotted(c, ok, &plot,
                 "Time in collectives of each rank, summed over calls: transfer is the shortest duration over the ranks of the call, the rest is "
                 "waiting for the rank that came last.",
                 &why, e))
        return false;
    put_table(c, joined(c, &join_comm, "Collectives"), "cpscope comm --format csv %s");
    of_sides(c, RT_OVERLAP, "Communication hidden behind compute", NULL);
    return true;
}

static void section_ranks(struct composer *c)
{
    static const char *const told[] = {"rank",           "device",       "span_ns",        "busy_pct",        "kernels",
                                       "kernel_sum_ns",  "comm_sum_ns",  "compute_sum_ns", "exposed_comm_ns", "memcpy_ns",
                                       "useful_busy_ns", "comm_wait_ns", "backend",        "trace",           NULL};
    page_section(&c->p, "ranks", "Rank by rank");
    of_sides(c, RT_SUMMARY, "Summary of each device", told);
    of_sides(c, RT_RANKS, "Clocks, waiting and stragglers", NULL);
}

/* There is more to see than the one step of each rank that the summary is about. */
static bool several_steps(const struct side *s)
{
    return !s->missing[RT_STEPS] && s->tables[RT_STEPS].nrows > s->t.nranks;
}

static void steps_table(struct composer *c, const struct side *s)
{
    const char *title = arena_printf(&c->arena, "Step by step: %s", s->label);
    page_fold(&c->p, title);
    page_table(&c->p, &s->tables[RT_STEPS],
               (struct html_table_opts){
                   .most = 4 * ROWS_MOST, .caption = title, .more = arena_printf(&c->arena, "cpscope steps --format csv %s", s->t.files[0].name)});
    page_unfold(&c->p);
}

static bool section_steps(struct composer *c, struct err *e)
{
    struct side *sides[] = {&c->r->before, &c->r->after};
    struct err why = {0};
    struct plot plot;
    if (!several_steps(&c->r->after) && !(c->r->pair && several_steps(&c->r->before)))
        return true;
    page_section(&c->p, "steps", "Step by step");
    bool ok = report_plot_steps(c->r, PLOT_INLINE, &plot, &why);
    if (!plotted(c, ok, &plot,
                 "The time of each step, a dash a rank; the dashed line is the median. A box marks an outlier: over 1.6 times the median, per token "
                 "where the tokens of every step are known.",
                 &why, e))
        return false;
    for (int i = c->r->pair ? 0 : 1; i < 2; i++)
        if (several_steps(sides[i]))
            steps_table(c, sides[i]);
    return true;
}

static const char *kind_of_numbers(const struct side *s)
{
    static const char *const kinds[][2] = {
        {"sim", "Modelled, not measured: no work ran; times come from a cost model of the machine file."},
        {"cpu", "Measured on the cpu backend: every operation really ran, on this machine's processor. Counts are those of the algorithm; shares of "
                "time are not those of a GPU."},
        {"cuda", "Measured on NVIDIA GPUs, by the GPU's clock."},
        {"rocm", "Measured on AMD GPUs."},
        {"ascend", "Measured on Ascend devices."},
    };
    const char *backend = facts_get(&s->facts, "backend");
    if (backend && strchr(backend, '|'))
        return "Files of several backends: their counts add up, their times do not.";
    for (size_t i = 0; backend && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(backend, kinds[i][0]) == 0)
            return kinds[i][1];
    return "The trace does not say what made it.";
}

static const char assumptions[] =
    "window: complete steps where steps are marked, else the extent of the device's work, else of all events; rows are clipped to it\n"
    "busy: the union of kernels, collectives, copies and fills over the streams of one device, never a sum; a collective that waits for a peer is "
    "busy\n"
    "sync: told by the call and the kind of memory it touches, never by how long it took; counts are exact where nothing was lost\n"
    "bubble: device idle between the work that a call waited for and the next work of that thread: an upper bound of its cost; recoverable is what a "
    "replay without the wait gains, with host code and durations as measured\n"
    "transfer: of a collective, its shortest duration over the ranks of the call; the rest is waiting. Known only where all ranks are there and "
    "agree\n"
    "rates: counts per rank and step; runs of other lengths compare by them\n"
    "clocks: ranks of one file share a clock; files are put on one clock by the ends of the collectives they share";

static void provenance_tables(struct composer *c)
{
    struct table *t = &c->tables[c->n++], *both = c->r->pair ? &c->tables[c->n++] : NULL;
    report_provenance(c->r, t, both);
    page_table(&c->p, t, (struct html_table_opts){.whole = true});
    if (both && both->nrows) {
        page_fold(&c->p, "What is the same on both sides");
        page_table(&c->p, both, (struct html_table_opts){.whole = true});
        page_unfold(&c->p);
    }
}

static void section_provenance(struct composer *c)
{
    struct side *sides[] = {&c->r->before, &c->r->after};
    page_section(&c->p, "provenance", "Where the numbers come from");
    bool same = c->r->pair && kind_of_numbers(sides[0]) == kind_of_numbers(sides[1]);
    for (int i = c->r->pair && !same ? 0 : 1; i < 2; i++)
        page_text(&c->p, "%s%s%s", same || !c->r->pair ? "" : sides[i]->label, same || !c->r->pair ? "" : ": ", kind_of_numbers(sides[i]));
    for (int i = c->r->pair ? 0 : 1; i < 2; i++)
        if (report_oversubscribed(sides[i]))
            page_text(&c->p, "%s ran more threads than there are cores: its times are shown, not judged.", sides[i]->label);
    page_text(&c->p, "Recorded times hold the cost of recording; they compare with recorded times only. A dash in a table means: not in this trace.");
    provenance_tables(c);
    page_fold(&c->p, "What the numbers assume");
    page_lines(&c->p, assumptions);
    page_unfold(&c->p);
}

static const char *side_in_words(struct composer *c, const struct side *s)
{
    const char *backend = facts_get(&s->facts, "backend"), *mode = tracedata_meta_get(&s->t.files[0].d, "mode"),
               *route = tracedata_meta_get(&s->t.files[0].d, "route");
    return arena_printf(&c->arena, "%s: %s backend%s, %zu rank%s%s%.60s%s%.40s", s->label, backend ? backend : "unknown",
                        backend && strstr(backend, "sim") ? " (modelled, not measured)" : "", s->t.nranks, s->t.nranks == 1 ? "" : "s",
                        mode ? ", mode " : "", mode ? mode : "", route ? ", route " : "", route ? route : "");
}

static bool compose(struct composer *c, struct err *e)
{
    const struct table *ops = NULL, *waits = NULL;
    struct table *headline = &c->tables[c->n++];
    section_gate(c);
    page_section(&c->p, "headline", c->r->pair ? "Before and after" : report_whole(c->r) ? "The window in numbers" : "The step in numbers");
    report_headline(c->r, headline);
    page_table(&c->p, headline, (struct html_table_opts){0});
    if (!section_syncs(c, &ops, &waits, e))
        return false;
    section_explain(c);
    if (!section_time(c, e))
        return false;
    if (!section_kernels(c, e))
        return false;
    section_ranks(c);
    if (!section_steps(c, e))
        return false;
    section_provenance(c);
    report_verdict(c->r, ops, waits, &c->p);
    return true;
}

static const char *named(struct composer *c, const struct side *s)
{
    size_t n = s->t.nfiles;
    return n == 1 ? s->t.files[0].name : arena_printf(&c->arena, "%s and %zu more file%s", s->t.files[0].name, n - 1, n == 2 ? "" : "s");
}

bool report_page(struct report *r, FILE *out, struct err *e)
{
    struct composer c = {.r = r};
    const char *after = named(&c, &r->after);
    page_init(&c.p, r->pair ? arena_printf(&c.arena, "cpscope: %s (before) against %s (after)", named(&c, &r->before), after)
                            : arena_printf(&c.arena, "cpscope: %s", after));
    if (r->pair)
        page_lead(&c.p, "%s; %s", side_in_words(&c, &r->before), side_in_words(&c, &r->after));
    else
        page_lead(&c.p, "%s", side_in_words(&c, &r->after));
    bool ok = compose(&c, e) && page_write(&c.p, out, e);
    for (size_t i = 0; i < c.n; i++)
        table_free(&c.tables[i]);
    page_free(&c.p);
    arena_free(&c.arena);
    return ok;
}
