/* import_chrome.c - Chrome traces in general: what no other importer of JSON takes.
 *
 *   B ... E, X    ranges of the host, by pid and tid         i, I, R   marks
 *   lanes of a device, told by the names of their process and thread (devlanes.h), of XLA, rocprof and others
 *
 * Lanes may be named anywhere in the file, so it is read twice. Begins and ends are matched thread by thread (openrows.h).
 */
#include "analyzer/chrome.h"
#include "analyzer/decimal.h"
#include "analyzer/devlanes.h"
#include "analyzer/json_text.h"
#include "analyzer/openrows.h"
#include "analyzer/rows.h"

#include <ctype.h>
#include <string.h>

enum slot { PH, NAME, PID, TID, TS, DUR, LABEL, BEGIN_NS, END_NS, SLOTS };

static const struct json_key args_rows[] = {{"name", LABEL}, {"BeginNs", BEGIN_NS}, {"EndNs", END_NS}, {0}},
                             event_rows[] = {{"ph", PH}, {"name", NAME}, {"pid", PID}, {"tid", TID}, {"ts", TS}, {"dur", DUR}, {"args"}, {0}};

struct general {
    struct rows r;
    struct chrome c;
    struct json_keys event, args;
    struct json_key event_rows[8];
    struct json_value v[SLOTS];
    struct devlanes lanes;
    struct idmap processes, threads; /* pid, lane -> name */
    struct openrows open;
    int64_t events, asynchronous;
    bool exact; /* rocprof's own ns were seen */
};

static uint32_t text_of(struct general *x, const struct json_value *v)
{
    return v->type == JSON_STRING ? json_intern(v, &x->r.d->strings, &x->r.scratch, NULL) : 0;
}

static int64_t id_of(struct general *x, const struct json_value *v)
{
    return json_id(v, &x->r.d->strings, &x->r.scratch);
}

/* The number that a text ends in: of "Stream 7". */
static int64_t number_in(const struct json_value *v)
{
    int64_t n;
    uint32_t i = v->type == JSON_NUMBER || v->type == JSON_STRING ? v->n : 0, end = i;
    while (i > 0 && isdigit((unsigned char)v->s[i - 1]))
        i--;
    return end > i && decimal_int(v->s + i, end - i, &n) ? n : json_int(v, -1);
}

static int64_t lane_of(struct general *x)
{
    return openrows_lane(id_of(x, &x->v[PID]), id_of(x, &x->v[TID]));
}

/* Texts in the place of numbers are names themselves. */
static void look_at_lane(struct general *x)
{
    int64_t pid = id_of(x, &x->v[PID]), tid = id_of(x, &x->v[TID]), lane = openrows_lane(pid, tid);
    if (json_id_text(pid))
        devlanes_called(&x->lanes, pid, x->v[PID].s, x->v[PID].n);
    if (json_id_text(tid))
        devlanes_thread(&x->lanes, pid, lane, x->v[TID].s, x->v[TID].n);
}

static void look_at_name(struct general *x)
{
    uint32_t name = text_of(x, &x->v[LABEL]);
    const char *text = rows_str(&x->r, name);
    int64_t pid = id_of(x, &x->v[PID]);
    if (name && json_is(&x->v[NAME], "process_name")) {
        devlanes_process(&x->lanes, pid, text, strlen(text));
        idmap_set(&x->processes, pid, name);
    } else if (name && json_is(&x->v[NAME], "thread_name")) {
        devlanes_thread(&x->lanes, pid, lane_of(x), text, strlen(text));
        idmap_set(&x->threads, lane_of(x), name);
    }
}

static bool look(void *ctx)
{
    struct general *x = ctx;
    int64_t at;
    if (x->r.scratch.total > 1 << 20)
        arena_free(&x->r.scratch);
    look_at_lane(x);
    if ((json_is(&x->v[PH], "B") || json_is(&x->v[PH], "E")) && json_scaled(&x->v[TS], 3, &at))
        openrows_look(&x->open, lane_of(x), at);
    if (json_is(&x->v[PH], "M"))
        look_at_name(x);
    return true;
}

static void on_thread(struct general *x, struct event *ev)
{
    struct tracedata *d = x->r.d;
    int64_t pid = id_of(x, &x->v[PID]);
    rows_on_thread(&x->r, ev, pid, id_of(x, &x->v[TID]));
    struct threadkey *t = &d->threads[ev->thread];
    struct processkey *p = &d->processes[t->process];
    t->name = idmap_get(&x->threads, lane_of(x));
    p->name = idmap_get(&x->processes, pid);
}

static uint32_t name_of(struct general *x)
{
    return json_intern(&x->v[NAME], &x->r.d->strings, &x->r.scratch, &x->c.feed.scan.repairs.bytes);
}

static enum ev_kind device_kind(const char *name)
{
    static const struct {
        const char *word;
        enum ev_kind kind;
    } words[] = {{"memcpy", EV_MEMCPY},     {"copy", EV_MEMCPY},  {"memset", EV_MEMSET},
                 {"fillbuffer", EV_MEMSET}, {"barrier", EV_SYNC}, {"marker", EV_SYNC}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(name, words[i].word, strlen(words[i].word)) == 0)
            return words[i].kind;
    return EV_KERNEL;
}

static bool device_row(struct general *x, struct devlane lane, uint32_t name, int64_t start, int64_t length)
{
    struct event ev;
    int64_t tid = number_in(&x->v[TID]);
    const char *text = rows_str(&x->r, name);
    enum ev_kind kind = lane.kind == LANE_DEVICE ? device_kind(text) : EV_GPU_RANGE;
    if (!rows_event(&x->r, kind, start, length, &ev))
        return true;
    rows_on_device(&x->r, &ev, -1, lane.device, tid);
    ev.name = name;
    if (kind == EV_SYNC)
        ev.detail = tracedata_sync_row(x->r.d, (struct ev_sync){.class = SYNC_NONE, .did_block = -1, .wait_stream = -1, .wait_event = -1});
    enum copy_kind way = kind == EV_MEMCPY ? rows_copy_kind(text) : COPY_UNKNOWN;
    if (way)
        ev.detail = tracedata_copy_row(x->r.d, (struct ev_copy){.kind = way});
    return rows_add(&x->r, &ev);
}

static bool host_row(struct general *x, enum ev_kind kind, uint32_t name, int64_t start, int64_t length, bool mark)
{
    struct event ev;
    if (!rows_event(&x->r, kind, start, length, &ev))
        return true;
    on_thread(x, &ev);
    ev.name = name;
    if (mark)
        ev.detail = tracedata_range_row(x->r.d, (struct ev_range){.flavour = RANGE_MARK, .index = -1});
    return rows_add(&x->r, &ev);
}

/* rocprof also writes its ns as they were. */
static bool complete(struct general *x)
{
    int64_t start, length, begin = json_int(&x->v[BEGIN_NS], -1), end = json_int(&x->v[END_NS], -1);
    struct devlane lane = devlanes_find(&x->lanes, id_of(x, &x->v[PID]), lane_of(x));
    bool exact = begin > 0 && end >= begin, known = exact || (json_scaled(&x->v[TS], 3, &start) && json_scaled(&x->v[DUR], 3, &length));
    x->r.untimed += !known;
    x->exact |= exact;
    if (!known)
        return true;
    start = exact ? begin : start;
    length = exact ? end - begin : length;
    if (lane.kind == LANE_DEVICE || lane.kind == LANE_NOTES)
        return device_row(x, lane, name_of(x), start, length);
    return host_row(x, lane.kind == LANE_CALLS ? EV_RUNTIME : EV_RANGE, name_of(x), start, length, false);
}

/* One without a time waits for its end all the same. */
static bool begin(struct general *x)
{
    struct event ev = event_none(EV_NKINDS, OPENROWS_UNTIMED, 0);
    int64_t at;
    bool known = json_scaled(&x->v[TS], 3, &at);
    x->r.untimed += !known;
    if (known && rows_event(&x->r, EV_RANGE, at, 0, &ev))
        on_thread(x, &ev);
    ev.name = name_of(x);
    return openrows_begin(&x->open, lane_of(x), &ev);
}

static bool end(struct general *x)
{
    struct event here = event_none(EV_NKINDS, OPENROWS_UNTIMED, 0);
    int64_t at;
    bool known = json_scaled(&x->v[TS], 3, &at);
    x->r.untimed += !known;
    if (known)
        rows_event(&x->r, EV_RANGE, at, 0, &here);
    return openrows_end(&x->open, lane_of(x), here.start, name_of(x));
}

static bool matched(void *ctx, const struct event *ev)
{
    struct general *x = ctx;
    return rows_add(&x->r, ev);
}

static bool mark(struct general *x)
{
    int64_t at;
    if (json_scaled(&x->v[TS], 3, &at))
        return host_row(x, EV_RANGE, name_of(x), at, 0, true);
    x->r.untimed++;
    return true;
}

/* Ranges of no thread: matched by ids that are only unique where the program says. */
static bool asynchronous(struct general *x)
{
    x->asynchronous++;
    return true;
}

static const struct phase {
    char ph;
    bool (*row)(struct general *x);
} phases[] = {{'X', complete}, {'B', begin}, {'E', end}, {'i', mark}, {'I', mark}, {'R', mark}, {'b', asynchronous}, {'S', asynchronous}};

static bool event(void *ctx)
{
    struct general *x = ctx;
    const struct json_value *ph = &x->v[PH];
    if (ph->type != JSON_STRING || ph->n != 1)
        return true;
    x->events++;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (phases[i].ph == *ph->s)
            return phases[i].row(x);
    return true;
}

static bool finish(struct general *x, enum json_step rc)
{
    if (x->r.e->kind || !openrows_finish(&x->open))
        return false;
    if (!x->events)
        return chrome_refuse(&x->c, rc);
    if (!x->r.n)
        return fail(x->r.e, ERR_FAIL, "%s: a Chrome trace without one row of time", x->r.path);
    chrome_settle_ids(x->r.d);
    chrome_losses(&x->c, rc, x->r.d, x->events);
    rows_loss(&x->r, "ranges without an end, left out", x->open.open);
    rows_loss(&x->r, "ends without a begin, left out", x->open.lone_ends);
    rows_loss(&x->r, "asynchronous ranges, left out", x->asynchronous);
    rows_facts(&x->r, "chrome", x->exact || x->lanes.hip ? "rocm" : x->lanes.devices ? NULL : "cpu");
    tracedata_meta(x->r.d, "clean_end", rc == JSON_OK ? "1" : "0");
    return true;
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct general x = {.r = rows_start(d, in->path, e)};
    memcpy(x.event_rows, event_rows, sizeof event_rows);
    x.event_rows[6].inside = &x.args;
    x.open = (struct openrows){.row = matched, .ctx = &x};
    json_keys_init(&x.args, args_rows);
    json_keys_init(&x.event, x.event_rows);
    x.c = (struct chrome){.keys = &x.event, .v = x.v, .nv = SLOTS, .event = event, .ctx = &x, .e = e, .scratch = &x.r.scratch};
    bool ok = chrome_look(&x.c, in->path, look) && finish(&x, chrome_read(&x.c, in));
    chrome_close(&x.c);
    devlanes_free(&x.lanes);
    idmap_free(&x.processes);
    idmap_free(&x.threads);
    openrows_free(&x.open);
    rows_free(&x.r);
    return ok;
}

static enum sniffed sniff(const struct input *in)
{
    return chrome_begins(in) ? SNIFF_MAYBE : SNIFF_NO;
}

const struct importer import_chrome = {
    .name = "chrome", .what = "Chrome trace JSON of any program, also .gz and .zst", .sniff = sniff, .read = read, .holds = chrome_holds};
