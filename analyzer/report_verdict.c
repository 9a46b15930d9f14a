/* report_verdict.c - the first lines of the page: what changed, what it cost, where to look.
 *
 * Counts of host-device syncs are exact, so they alone make a verdict better or worse. The times of one recording a side are
 * shown beside it and judged only where they are exact too (sim): a single pair of runs cannot tell a change from noise.
 */
#include "analyzer/report.h"
#include "reports/human.h"

#include <math.h>
#include <string.h>

struct ledger {
    const char *name;
    struct cell before, after; /* syncs per rank and step */
};

static struct cell per(struct cell v, struct cell steps)
{
    return v.kind && steps.kind && steps.i ? cell_real((double)v.i / (double)steps.i) : (struct cell){0};
}

static const char *count_text(struct cell c, char buf[HUMAN_SIZE])
{
    struct human h = {UNIT_REAL, 0, "", true};
    return human_cell(&h, c, buf);
}

static const char *time_text(struct cell c, char buf[HUMAN_SIZE])
{
    return c.kind ? human_brief((int64_t)c.r, buf) : "-";
}

/* Of two runs the op ledger where both have it and it says something, for it is what a framework's users read; of one run
 * only where most of the waiting is in it. Else the waits. */
static bool by_ops(const struct report *r, const struct totals *b, const struct totals *a)
{
    if (!a->ops.kind || (r->pair && !b->ops.kind))
        return false;
    if (!a->waits.kind)
        return true;
    if (r->pair)
        return a->ops.i || b->ops.i;
    return a->ops.i && a->op_ns.kind && a->op_ns.i >= a->wait_ns.i / 2;
}

static struct ledger ledger_of(const struct report *r, const struct totals *b, const struct totals *a)
{
    bool ops = by_ops(r, b, a);
    struct ledger l = {ops ? "op ledger" : "wait ledger"};
    l.after = per(ops ? a->ops : a->waits, a->steps);
    l.before = per(ops ? b->ops : b->waits, b->steps);
    return l;
}

bool report_whole(const struct report *r)
{
    return r->after.units.whole || (r->pair && r->before.units.whole);
}

static const char *each(const struct report *r)
{
    return report_whole(r) ? "per rank, in the window" : "per rank and step";
}

bool side_simulated(const struct side *s)
{
    const char *backend = s->t.files[0].backend;
    return backend && strcmp(backend, "sim") == 0;
}

static const char *how_times_count(const struct report *r)
{
    if (side_simulated(&r->after))
        return "modelled";
    if (report_oversubscribed(&r->after) || (r->pair && report_oversubscribed(&r->before)))
        return "more threads than cores: shown, not judged";
    return "one recording a side: shown, not judged";
}

/* ---- the sites behind the numbers ---- */

static double rate(double n, const struct side *s)
{
    double steps = (double)s->units.n[UNIT_STEPS] / s->divisor; /* n is divided by that already */
    return n > 0 && steps > 0 ? n / steps : 0;
}

static bool is_new(const struct site_change *c)
{
    return c->before_count == 0 && c->after_count > 0;
}

static size_t new_sites(const struct site_change *v, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += is_new(&v[i]);
    return found;
}

static void point_site(struct page *p, const struct report *r, const char *lead, const struct site_change *c)
{
    char b[HUMAN_SIZE], a[HUMAN_SIZE], tb[HUMAN_SIZE], ta[HUMAN_SIZE];
    const char *who = *c->api && strcmp(c->api, c->site) != 0 ? arena_printf(&p->arena, "%.300s (%.80s)", c->site, c->api) : c->site;
    struct cell after = cell_real(rate(c->after_count, &r->after)), ns_a = cell_real(rate((double)c->after_ns, &r->after));
    if (r->pair) {
        struct cell before = cell_real(rate(c->before_count, &r->before)), ns_b = cell_real(rate((double)c->before_ns, &r->before));
        const char *was = c->before_count > 0 ? arena_printf(&p->arena, "%s (blocked %s)", count_text(before, b), time_text(ns_b, tb)) : "none";
        const char *is = c->after_count > 0 ? arena_printf(&p->arena, "%s (blocked %s)", count_text(after, a), time_text(ns_a, ta)) : "none";
        page_point(p, "%s: %.400s: %s before, %s after, %s", lead, who, was, is, each(r));
    } else {
        page_point(p, "%s: %.400s: %s, blocked %s, %s", lead, who, count_text(after, a), time_text(ns_a, ta), each(r));
    }
}

static const struct site_change *worst_site(const struct site_change *v, size_t n)
{
    const struct site_change *worst = NULL;
    for (size_t i = 0; i < n; i++)
        if (v[i].after_count > 0 && (!worst || v[i].after_ns > worst->after_ns))
            worst = &v[i];
    return worst;
}

static double moved_by(const struct report *r, const struct site_change *c)
{
    return fabs(rate(c->after_count, &r->after) - rate(c->before_count, &r->before));
}

static const struct site_change *most_moved(const struct report *r, const struct site_change *v, size_t n)
{
    const struct site_change *most = NULL;
    for (size_t i = 0; i < n; i++)
        if (moved_by(r, &v[i]) > 0 && (!most || moved_by(r, &v[i]) > moved_by(r, most)))
            most = &v[i];
    return most;
}

/* The site whose count moved most, the first new one, and the one that blocks longest now. */
static void points_sites(struct page *p, const struct report *r, const struct site_change *v, size_t n)
{
    const struct site_change *moved = r->pair ? most_moved(r, v, n) : NULL, *added = NULL, *worst = worst_site(v, n);
    for (size_t i = n; r->pair && i-- > 0;)
        added = is_new(&v[i]) ? &v[i] : added;
    if (moved)
        point_site(p, r, "Changed most", moved);
    if (added && added != moved)
        point_site(p, r, "New", added);
    if (worst && worst != moved && worst != added)
        point_site(p, r, r->pair ? "Look at next" : "Look at", worst);
}

static bool new_there(const struct site_change *c, const struct site_change *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_new(&v[i]) && strcmp(v[i].site, c->site) == 0)
            return true;
    return false;
}

/* Where the verdict is on the op ledger, a call that blocks and did not before must not go unsaid. */
static void point_new_wait(struct page *p, struct report *r, const struct table *waits, const struct site_change *ops, size_t nops)
{
    struct site_change *v;
    size_t n = waits && waits->columns ? report_sites(waits, true, &r->arena, &v) : 0;
    for (size_t i = 0; i < n; i++)
        if (is_new(&v[i]) && !new_there(&v[i], ops, nops)) {
            point_site(p, r, "New in the wait ledger", &v[i]);
            return;
        }
}

/* ---- the sentence ---- */

static void point_cost(struct page *p, const struct report *r, const struct totals *b, const struct totals *a)
{
    char x[HUMAN_SIZE], y[HUMAN_SIZE];
    struct cell before = per(b->wait_ns, b->steps), after = per(a->wait_ns, a->steps);
    if (r->pair && before.kind && after.kind)
        page_point(p, "What it cost: host threads were blocked in device waits for %s before and %s after, %s (wait ledger)", time_text(before, x),
                   time_text(after, y), each(r));
    before = per(b->bubble_ns, b->steps), after = per(a->bubble_ns, a->steps);
    if (r->pair && before.kind && after.kind && before.r + after.r > 0)
        page_point(p, "Device idle that follows those waits: %s before, %s after, %s (an upper bound)", time_text(before, x), time_text(after, y),
                   each(r));
}

static void point_step(struct page *p, const struct report *r, const struct totals *b, const struct totals *a)
{
    char x[HUMAN_SIZE], y[HUMAN_SIZE];
    bool medians = b->median_ns.kind && a->median_ns.kind && !report_whole(r);
    struct cell before = medians ? per(b->median_ns, b->one) : per(b->span_ns, b->device_steps);
    struct cell after = medians ? per(a->median_ns, a->one) : per(a->span_ns, a->device_steps);
    if (before.kind && after.kind && before.r > 0)
        page_point(p, "The recorded %s%s: %s before, %s after (%+.1f %% of before; %s)", report_whole(r) ? "window" : "step",
                   medians ? ", median" : "", time_text(before, x), time_text(after, y), 100 * (after.r - before.r) / before.r, how_times_count(r));
}

static int64_t gemm_calls(const struct side *s)
{
    const struct table *t = &s->tables[RT_CLASSES];
    int name = s->missing[RT_CLASSES] ? -1 : table_column(t, "name"), calls = name < 0 ? -1 : table_column(t, "calls");
    int64_t n = 0;
    for (size_t i = 0; calls >= 0 && i < t->nrows; i++)
        if (table_at(t, i)[name].kind == CELL_TEXT && strcmp(table_at(t, i)[name].s, "gemm") == 0)
            n += table_at(t, i)[calls].i;
    return n;
}

/* The model's own work: when it is the same, what changed is overhead. */
static void point_gemm(struct page *p, const struct report *r)
{
    char x[HUMAN_SIZE];
    int64_t before = gemm_calls(&r->before), after = gemm_calls(&r->after);
    if (before > 0 && before == after && !report_whole(r))
        page_point(p, "Unchanged: the matrix multiplications, %s calls on both sides: what changed is not the model's arithmetic",
                   human_count(after, x));
}

static void judge(const struct ledger *l, size_t added, struct page *p)
{
    char x[HUMAN_SIZE], y[HUMAN_SIZE];
    double b = l->before.r, a = l->after.r;
    const char *was = count_text(l->before, x), *is = count_text(l->after, y);
    if (a > b)
        page_verdict(p, TONE_BAD, "Host-device syncs per rank and step rose from %s to %s (%s).", was, is, l->name);
    else if (added)
        page_verdict(p, TONE_BAD, "Host-device syncs at %zu site%s that had none before (%s); in all, per rank and step, %s before and %s after.",
                     added, added == 1 ? "" : "s", l->name, was, is);
    else if (a < b)
        page_verdict(p, TONE_GOOD, "Host-device syncs per rank and step fell from %s to %s (%s).", was, is, l->name);
    else
        page_verdict(p, TONE_NEUTRAL, "Host-device syncs are unchanged: %s per rank and step (%s).", is, l->name);
}

static void pair_verdict(const struct report *r, const struct ledger *l, size_t added, struct page *p)
{
    char x[HUMAN_SIZE], y[HUMAN_SIZE];
    const char *lost = gate_losses(&r->before.t, &p->arena);
    lost = lost ? lost : gate_losses(&r->after.t, &p->arena);
    if (r->differ)
        page_verdict(p, TONE_UNDECIDED, "The two runs are %s. Both are shown; nothing is judged.", r->differ);
    else if (lost)
        page_verdict(p, TONE_UNDECIDED, "Rows are missing, so nothing is judged: %.300s.", lost);
    else if (!l->before.kind || !l->after.kind)
        page_verdict(p, TONE_UNDECIDED, "Host-device syncs are not recorded on both sides, so nothing is judged.");
    else if (report_whole(r))
        page_verdict(p, TONE_UNDECIDED,
                     "No steps are marked, so counts of a step cannot be compared: %s host-device syncs in the window before, %s in the one "
                     "after (%s, per rank).",
                     count_text(l->before, x), count_text(l->after, y), l->name);
    else
        judge(l, added, p);
}

static void point_shares(const struct report *r, const struct totals *a, struct page *p)
{
    char x[HUMAN_SIZE], y[HUMAN_SIZE];
    struct cell blocked = per(a->wait_ns, a->steps), span = per(a->span_ns, a->device_steps);
    if (blocked.kind && blocked.r > 0 && span.kind && span.r > 0)
        page_point(p, "Blocked in device waits: %s in a %s of %s (wait ledger, sum of a rank's threads)", time_text(blocked, x),
                   report_whole(r) ? "window" : "step", time_text(span, y));
    if (!a->span_ns.kind || !a->span_ns.i)
        return;
    if (a->busy_ns.kind)
        page_point(p, "The device works %.1f %% of the window%s", 100.0 * (double)a->busy_ns.i / (double)a->span_ns.i,
                   r->after.t.nlanes > 1 ? " (mean of devices)" : "");
    if (a->exposed_ns.kind && a->exposed_ns.i)
        page_point(p, "Communication not hidden behind compute: %.1f %% of the window", 100.0 * (double)a->exposed_ns.i / (double)a->span_ns.i);
}

static void one_verdict(const struct report *r, const struct ledger *l, const struct site_change *v, size_t n, struct page *p)
{
    char x[HUMAN_SIZE];
    const struct site_change *worst = worst_site(v, n);
    if (!l->after.kind)
        page_verdict(p, TONE_NEUTRAL, "This trace holds no host calls: what the step waits for on the host cannot be said.");
    else if (l->after.r == 0)
        page_verdict(p, TONE_NEUTRAL, "No host-device sync in this window (%s%s).", l->name,
                     r->after.missing[RT_WAITS] ? "; calls of the host are not in this trace" : "");
    else
        page_verdict(p, TONE_NEUTRAL, "Host-device syncs %s: %s (%s)%s%.200s.", each(r), count_text(l->after, x), l->name,
                     worst ? ", longest at " : "", worst ? worst->site : "");
}

static void gate_verdict_of(const struct report *r, struct page *p)
{
    const struct gate_result *g = &r->verdict;
    if (g->fail) {
        p->word = "Gate: fails";
        page_verdict(p, TONE_BAD, "Of both ledgers together, %zu sync site%s new or met more often than in the baseline.", g->fail,
                     g->fail == 1 ? " is" : "s are");
    } else if (g->undecided) {
        p->word = "Gate: cannot be judged";
        page_verdict(p, TONE_UNDECIDED, "The run cannot be held against the baseline: %zu of %zu rules are undecided.", g->undecided,
                     g->undecided + g->pass);
    } else {
        p->word = "Gate: passes";
        page_verdict(p, TONE_GOOD, "No host-device sync that the baseline does not have, and none more often.");
    }
    int verdict = table_column(&r->judged, "verdict"), why = table_column(&r->judged, "why");
    for (size_t i = 0, n = 0; i < r->judged.nrows && n < 3; i++)
        if (strcmp(table_at(&r->judged, i)[verdict].s, "pass") != 0) {
            page_point(p, "%.400s", table_at(&r->judged, i)[why].s);
            n++;
        }
}

void report_verdict(struct report *r, const struct table *ops, const struct table *waits, struct page *p)
{
    struct totals b = r->pair ? report_totals(&r->before) : (struct totals){0}, a = report_totals(&r->after);
    struct ledger l = ledger_of(r, &b, &a);
    const struct table *of = strcmp(l.name, "op ledger") == 0 ? ops : waits;
    struct site_change *v = NULL;
    size_t n = of && of->columns ? report_sites(of, r->pair, &r->arena, &v) : 0;
    if (!r->pair) {
        if (r->gate)
            gate_verdict_of(r, p);
        else
            one_verdict(r, &l, v, n, p);
        point_shares(r, &a, p);
        points_sites(p, r, v, n);
        return;
    }
    pair_verdict(r, &l, new_sites(v, n), p);
    if (r->differ)
        return;
    point_step(p, r, &b, &a);
    point_cost(p, r, &b, &a);
    points_sites(p, r, v, n);
    if (of == ops)
        point_new_wait(p, r, waits, v, n);
    point_gemm(p, r);
}
