/* import_chrome.c - Chrome traces in general: what no other importer of JSON takes.
 *
 *   B ... E, X    ranges of the host, by pid and tid         i, I, R   marks
 *   lanes of a device, told by the names of their process and thread:
 *     "/device:GPU:0 ..." with threads "Stream #7 ..."       XLA and TensorFlow; their other threads only annotate
 *     "GPU0"                                                 rocprof; "CPU HIP API" beside it holds calls
 *
 * Lanes may be named anywhere in the file, so it is read twice. Begins and ends are matched thread by thread in the order
 * of the file.
 */
#include "analyzer/chrome.h"
#include "analyzer/decimal.h"
#include "analyzer/json_text.h"
#include "analyzer/openrows.h"
#include "analyzer/rows.h"

#include <ctype.h>
#include <string.h>

enum slot { PH, NAME, PID, TID, TS, DUR, LABEL, BEGIN_NS, END_NS, SLOTS };

static const struct json_key args_rows[] = {{"name", LABEL}, {"BeginNs", BEGIN_NS}, {"EndNs", END_NS}, {0}},
                             event_rows[] = {{"ph", PH}, {"name", NAME}, {"pid", PID}, {"tid", TID}, {"ts", TS}, {"dur", DUR}, {"args"}, {0}};

enum lane_kind { LANE_HOST, LANE_CALLS, LANE_DEVICE, LANE_STREAMS };

struct general {
    struct rows r;
    struct chrome c;
    struct json_keys event, args;
    struct json_key event_rows[8];
    struct json_value v[SLOTS];
    struct idmap lanes;   /* pid -> 1 + (device << 2 | enum lane_kind) */
    struct idmap streams; /* thread key -> 1: "Stream #7" */
    struct openrows open;
    int64_t events, asynchronous;
    bool gpus, hip;
};

/* A number, or the number that a text ends in. */
static int64_t id_of(const struct json_value *v)
{
    int64_t n;
    uint32_t i = v->type == JSON_NUMBER || v->type == JSON_STRING ? v->n : 0, end = i;
    while (i > 0 && isdigit((unsigned char)v->s[i - 1]))
        i--;
    return end > i && decimal_int(v->s + i, end - i, &n) ? n : -1;
}

static int64_t lane_of(const struct general *x)
{
    return openrows_lane(id_of(&x->v[PID]), id_of(&x->v[TID]));
}

static bool starts(const struct json_value *v, const char *prefix)
{
    size_t n = strlen(prefix);
    return v->type == JSON_STRING && v->n >= n && memcmp(v->s, prefix, n) == 0;
}

/* The first number behind a prefix, -1: none. */
static int64_t number_behind(const struct json_value *v, const char *prefix)
{
    size_t from = strlen(prefix), to = from;
    int64_t n;
    while (to < v->n && isdigit((unsigned char)v->s[to]))
        to++;
    return to > from && decimal_int(v->s + from, to - from, &n) && n <= INT32_MAX ? n : -1;
}

static void look_at_process(struct general *x, int64_t pid)
{
    static const struct {
        const char *prefix;
        enum lane_kind kind;
        bool hip;
    } kinds[] = {{"/device:GPU:", LANE_STREAMS, false},
                 {"/device:TPU:", LANE_STREAMS, false},
                 {"GPU", LANE_DEVICE, true},
                 {"CPU HIP API", LANE_CALLS, true},
                 {"CPU HSA API", LANE_CALLS, true}};
    const struct json_value *name = &x->v[LABEL];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool device = kinds[i].kind == LANE_STREAMS || kinds[i].kind == LANE_DEVICE;
        int64_t n = starts(name, kinds[i].prefix) ? device ? number_behind(name, kinds[i].prefix) : 0 : -1;
        if (n < 0)
            continue;
        idmap_set(&x->lanes, pid, 1 + ((uint32_t)n << 2 | kinds[i].kind));
        x->hip |= kinds[i].hip;
        x->gpus |= device;
        return;
    }
}

static bool look(void *ctx)
{
    struct general *x = ctx;
    if (!json_is(&x->v[PH], "M"))
        return true;
    if (json_is(&x->v[NAME], "process_name"))
        look_at_process(x, id_of(&x->v[PID]));
    else if (json_is(&x->v[NAME], "thread_name") && (starts(&x->v[LABEL], "Stream") || starts(&x->v[LABEL], "stream")))
        idmap_set(&x->streams, lane_of(x), 1);
    return true;
}

static bool time_of(const struct json_value *v, int64_t *ns)
{
    return (v->type == JSON_NUMBER || v->type == JSON_STRING) && decimal_scaled(v->s, v->n, 3, ns);
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

static bool device_row(struct general *x, uint32_t lane, uint32_t name, int64_t start, int64_t length)
{
    struct event ev;
    int64_t tid = id_of(&x->v[TID]);
    const char *text = rows_str(&x->r, name);
    bool work = (lane & 3) == LANE_DEVICE || idmap_get(&x->streams, lane_of(x));
    enum ev_kind kind = work ? device_kind(text) : EV_GPU_RANGE;
    if (!rows_event(&x->r, kind, start, length, &ev))
        return true;
    rows_on_device(&x->r, &ev, -1, lane >> 2, tid);
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
    rows_on_thread(&x->r, &ev, id_of(&x->v[PID]), id_of(&x->v[TID]));
    ev.name = name;
    if (mark)
        ev.detail = tracedata_range_row(x->r.d, (struct ev_range){.flavour = RANGE_MARK, .index = -1});
    return rows_add(&x->r, &ev);
}

/* rocprof also writes its ns as they were. */
static bool complete(struct general *x)
{
    int64_t start, length, begin = json_int(&x->v[BEGIN_NS], -1), end = json_int(&x->v[END_NS], -1);
    uint32_t lane = idmap_get(&x->lanes, id_of(&x->v[PID]));
    bool exact = begin > 0 && end >= begin, known = exact || (time_of(&x->v[TS], &start) && time_of(&x->v[DUR], &length));
    x->r.untimed += !known;
    if (!known)
        return true;
    start = exact ? begin : start;
    length = exact ? end - begin : length;
    lane = lane ? lane - 1 : LANE_HOST;
    if ((lane & 3) == LANE_DEVICE || (lane & 3) == LANE_STREAMS)
        return device_row(x, lane, name_of(x), start, length);
    return host_row(x, (lane & 3) == LANE_CALLS ? EV_RUNTIME : EV_RANGE, name_of(x), start, length, false);
}

/* One without a time waits for its end all the same. */
static bool begin(struct general *x)
{
    struct event ev = event_none(EV_NKINDS, 0, 0);
    int64_t at;
    bool known = time_of(&x->v[TS], &at);
    x->r.untimed += !known;
    if (known && rows_event(&x->r, EV_RANGE, at, 0, &ev)) {
        rows_on_thread(&x->r, &ev, id_of(&x->v[PID]), id_of(&x->v[TID]));
        ev.name = name_of(x);
    }
    openrows_begin(&x->open, lane_of(x), &ev);
    return true;
}

static bool end(struct general *x)
{
    struct event ev, here;
    int64_t at;
    if (!openrows_end(&x->open, lane_of(x), &ev) || ev.kind == EV_NKINDS)
        return true;
    if (!time_of(&x->v[TS], &at)) {
        x->r.untimed++;
        return true;
    }
    if (!rows_event(&x->r, EV_RANGE, at, 0, &here))
        return true;
    ev.end = here.start;
    return rows_add(&x->r, &ev);
}

static bool mark(struct general *x)
{
    int64_t at;
    if (time_of(&x->v[TS], &at))
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
    if (x->r.e->kind)
        return false;
    if (!x->events)
        return chrome_refuse(&x->c, rc);
    if (!x->r.n)
        return fail(x->r.e, ERR_FAIL, "%s: a Chrome trace without one row of time", x->r.path);
    chrome_losses(&x->c, rc, x->r.d, x->events);
    rows_loss(&x->r, "ranges without an end, left out", x->open.open);
    rows_loss(&x->r, "ends without a begin, left out", x->open.lone_ends);
    rows_loss(&x->r, "asynchronous ranges, left out", x->asynchronous);
    rows_facts(&x->r, "chrome", x->hip ? "rocm" : x->gpus ? NULL : "cpu");
    tracedata_meta(x->r.d, "clean_end", rc == JSON_OK ? "1" : "0");
    return true;
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct general x = {.r = rows_start(d, in->path, e)};
    memcpy(x.event_rows, event_rows, sizeof event_rows);
    x.event_rows[6].inside = &x.args;
    json_keys_init(&x.args, args_rows);
    json_keys_init(&x.event, x.event_rows);
    x.c = (struct chrome){.keys = &x.event, .v = x.v, .nv = SLOTS, .event = event, .ctx = &x, .e = e, .scratch = &x.r.scratch};
    bool ok = chrome_look(&x.c, in->path, look) && finish(&x, chrome_read(&x.c, in));
    chrome_close(&x.c);
    idmap_free(&x.lanes);
    idmap_free(&x.streams);
    openrows_free(&x.open);
    rows_free(&x.r);
    return ok;
}

static enum sniffed sniff(const struct input *in)
{
    bool events = memmem(in->head, in->nhead, "\"ph\"", 4) || memmem(in->head, in->nhead, "\"traceEvents\"", 13);
    return chrome_begins(in) && events ? SNIFF_MAYBE : SNIFF_NO;
}

const struct importer import_chrome = {
    .name = "chrome", .what = "Chrome trace JSON of any program, also .gz and .zst", .sniff = sniff, .read = read, .holds = chrome_holds};
