/* import_ascend_json.c - trace_view.json of the Ascend PyTorch profiler.
 *
 *   Python             operators, Python frames            tid = thread
 *   CANN               calls of the runtime                tid = thread
 *   Ascend Hardware    what the device did                 tid = stream, kind by args "Task Type"
 *   HCCL|Communication "Group N Communication" operations; "Plane k" has their parts: not added
 *   Overlap Analysis   the vendor's own lanes; "Computing" has a kernel's end as the vendor rounded it
 *
 * What a lane is is said by a process_name row anywhere in the file, so the file is read twice: for lanes, then for rows.
 */
#include "analyzer/ascend.h"
#include "analyzer/chrome.h"
#include "analyzer/decimal.h"
#include "analyzer/json_text.h"

#include <stdlib.h>
#include <string.h>

enum slot { PH, CAT, NAME, PID, TID, TS, DUR, LABEL, TASK_TYPE, CONNECTION, STACK, COUNT, DTYPE, SLOTS };

static const struct json_key args_rows[] =
    {{"name", LABEL}, {"Task Type", TASK_TYPE}, {"connection_id", CONNECTION}, {"Call stack", STACK}, {"count", COUNT}, {"data_type", DTYPE}, {0}},
                             event_rows[] = {{"ph", PH}, {"cat", CAT}, {"name", NAME}, {"pid", PID}, {"tid", TID},
                                             {"ts", TS}, {"dur", DUR}, {"args"},       {0}};

enum lane_kind { LANE_NONE, LANE_PYTHON, LANE_CANN, LANE_DEVICE, LANE_COMM, LANE_OVERLAP };

struct label { /* of a thread */
    int64_t pid, tid;
    uint32_t name;
};

struct computing {
    int64_t pid, start, end;
};

struct ascend {
    struct rows r;
    struct chrome c;
    struct json_keys event, args;
    struct json_key event_rows[16];
    struct json_value v[SLOTS];
    struct idmap lanes; /* pid -> enum lane_kind */
    int64_t python;     /* pid of the Python lane, -1 none */
    struct label *labels;
    size_t nlabels, labels_cap;
    struct computing *computing; /* by start */
    size_t ncomputing, computing_cap;
    bool has_frames;
    int64_t events;
};

static enum lane_kind lane_of(const struct json_value *name)
{
    static const struct {
        const char *name;
        enum lane_kind kind;
    } lanes[] = {{"Python", LANE_PYTHON}, {"CANN", LANE_CANN},          {"Ascend Hardware", LANE_DEVICE},
                 {"HCCL", LANE_COMM},     {"Communication", LANE_COMM}, {"Overlap Analysis", LANE_OVERLAP}};
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        if (json_is(name, lanes[i].name))
            return lanes[i].kind;
    return LANE_NONE;
}

static bool times(const struct ascend *x, int64_t *start, int64_t *length)
{
    return json_scaled(&x->v[TS], 3, start) && json_scaled(&x->v[DUR], 3, length);
}

static void look_at_label(struct ascend *x, int64_t pid)
{
    if (json_is(&x->v[NAME], "process_name")) {
        enum lane_kind kind = lane_of(&x->v[LABEL]);
        if (kind)
            idmap_set(&x->lanes, pid, kind);
        if (kind == LANE_PYTHON && x->python < 0)
            x->python = pid;
    } else if (json_is(&x->v[NAME], "thread_name")) {
        struct label l = {pid, json_int(&x->v[TID], -1), json_intern(&x->v[LABEL], &x->r.d->strings, &x->r.scratch, NULL)};
        ARRAY_PUSH(x->labels, x->nlabels, x->labels_cap, l);
    }
}

/* First reading: lanes, threads, and the rows of the Computing lane. */
static bool look(void *ctx)
{
    struct ascend *x = ctx;
    int64_t pid = json_int(&x->v[PID], -1), start, length;
    if (json_is(&x->v[PH], "M"))
        look_at_label(x, pid);
    else if (json_is(&x->v[NAME], "Computing") && times(x, &start, &length) && length > 0 && length < INT64_MAX - start)
        ARRAY_PUSH(x->computing, x->ncomputing, x->computing_cap, ((struct computing){pid, start, start + length}));
    x->has_frames |= json_is(&x->v[CAT], "python_function");
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct computing *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : (x->end > y->end) - (x->end < y->end);
}

static int by_thread(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : (x->tid > y->tid) - (x->tid < y->tid);
}

/* What was gathered in order; rows named Computing on other lanes are none. */
static void sort_lanes(struct ascend *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->ncomputing; i++)
        if (idmap_get(&x->lanes, x->computing[i].pid) == LANE_OVERLAP)
            x->computing[n++] = x->computing[i];
    x->ncomputing = n;
    if (n)
        qsort(x->computing, n, sizeof *x->computing, by_start);
    if (x->nlabels)
        qsort(x->labels, x->nlabels, sizeof *x->labels, by_thread);
}

static const char *thread_name(const struct ascend *x, int64_t pid, int64_t tid)
{
    const struct label key = {pid, tid, 0}, *l = x->nlabels ? bsearch(&key, x->labels, x->nlabels, sizeof key, by_thread) : NULL;
    return l ? rows_str(&x->r, l->name) : "";
}

/* The interval of the Computing lane that holds an instant, NULL: none. */
static const struct computing *computing_at(const struct ascend *x, int64_t at)
{
    size_t lo = 0, hi = x->ncomputing;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->computing[mid].start <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && x->computing[lo - 1].end > at ? &x->computing[lo - 1] : NULL;
}

static uint32_t text(struct ascend *x, enum slot slot)
{
    return json_intern(&x->v[slot], &x->r.d->strings, &x->r.scratch, &x->c.feed.scan.repairs.bytes);
}

/* Lanes of the device are numbered pid << 10 | lane << 5 | device; in older files by other rules. */
static int64_t device_of(const struct ascend *x, int64_t lane)
{
    return x->python > 0 && lane >> 10 == x->python ? lane & 31 : -1;
}

static bool device_row(struct ascend *x, int64_t start, int64_t length)
{
    struct event ev;
    uint32_t name = text(x, NAME);
    const char *label = rows_str(&x->r, name), *type = rows_str(&x->r, text(x, TASK_TYPE));
    const struct computing *own = computing_at(x, start);
    enum ev_kind kind = ascend_task(label, type, false);
    if (kind == EV_NKINDS && own && own->start == start && own->end - start - length >= -1 && own->end - start - length <= 1)
        kind = EV_KERNEL; /* of a type that is not known here, but the vendor counts it */
    if (kind == EV_KERNEL && own && own->end - start - length >= -2 && own->end - start - length <= 2)
        length = own->end - start;
    if (kind == EV_NKINDS || !rows_event(&x->r, kind, start, length, &ev))
        return true;
    rows_on_device(&x->r, &ev, x->python, device_of(x, json_int(&x->v[PID], -1)), json_int(&x->v[TID], -1));
    ev.name = name;
    ev.correlation = json_int(&x->v[CONNECTION], -1);
    ev.detail = ascend_detail(&x->r, kind, label);
    return rows_add(&x->r, &ev);
}

static bool comm_row(struct ascend *x, int64_t start, int64_t length)
{
    static const char tail[] = "Communication";
    struct event ev;
    int64_t pid = json_int(&x->v[PID], -1);
    const char *thread = thread_name(x, pid, json_int(&x->v[TID], -1));
    size_t n = strlen(thread), m = sizeof tail - 1;
    if (n < m || strcmp(thread + n - m, tail) != 0 || !rows_event(&x->r, EV_COMM, start, length, &ev))
        return true; /* a plane */
    rows_on_device(&x->r, &ev, x->python, device_of(x, pid), -1);
    ev.name = text(x, NAME);
    ev.correlation = json_int(&x->v[CONNECTION], -1);
    while (n > m && thread[n - m - 1] == ' ')
        n--;
    uint32_t group = rows_text(&x->r, thread, n - m), dtype = text(x, DTYPE);
    ev.detail = ascend_comm(&x->r, rows_str(&x->r, ev.name), group, rows_str(&x->r, dtype), json_int(&x->v[COUNT], -1));
    return rows_add(&x->r, &ev);
}

static enum ev_kind python_kind(const struct ascend *x)
{
    if (json_is(&x->v[CAT], "python_function"))
        return EV_FRAME;
    bool step = x->v[NAME].type == JSON_STRING && x->v[NAME].n > 13 && memcmp(x->v[NAME].s, "ProfilerStep#", 13) == 0;
    return step || json_is(&x->v[CAT], "user_annotation") ? EV_RANGE : EV_OP;
}

static bool host_row(struct ascend *x, enum ev_kind kind, int64_t start, int64_t length)
{
    struct event ev;
    size_t n;
    if (!rows_event(&x->r, kind, start, length, &ev))
        return true;
    rows_on_thread(&x->r, &ev, x->python, json_int(&x->v[TID], -1));
    const char *name = rows_str(&x->r, text(x, NAME));
    ev.name = ascend_api(&x->r, name, strlen(name));
    ev.correlation = kind == EV_RUNTIME ? json_int(&x->v[CONNECTION], -1) : -1;
    if (kind == EV_OP && !x->has_frames && x->v[STACK].type == JSON_STRING) {
        const char *stack = json_text(&x->v[STACK], &x->r.scratch, &n, NULL);
        ev.site = ascend_site(&x->r, stack, n);
    }
    return rows_add(&x->r, &ev);
}

/* Second reading. */
static bool event(void *ctx)
{
    struct ascend *x = ctx;
    int64_t start, length;
    if (x->v[PH].type != JSON_STRING)
        return true;
    x->events++;
    if (!json_is(&x->v[PH], "X"))
        return true;
    enum lane_kind lane = (enum lane_kind)idmap_get(&x->lanes, json_int(&x->v[PID], -1));
    if (lane == LANE_NONE || lane == LANE_OVERLAP)
        return true;
    if (!times(x, &start, &length)) {
        x->r.untimed++;
        return true;
    }
    if (lane == LANE_DEVICE)
        return device_row(x, start, length);
    if (lane == LANE_COMM)
        return comm_row(x, start, length);
    return host_row(x, lane == LANE_CANN ? EV_RUNTIME : python_kind(x), start, length);
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct ascend x = {.r = rows_start(d, in->path, e), .python = -1};
    x.r.rank = ascend_rank(in->path);
    memcpy(x.event_rows, event_rows, sizeof event_rows);
    x.event_rows[7].inside = &x.args;
    json_keys_init(&x.args, args_rows);
    json_keys_init(&x.event, x.event_rows);
    x.c = (struct chrome){.keys = &x.event, .v = x.v, .nv = SLOTS, .event = event, .ctx = &x, .e = e, .scratch = &x.r.scratch};
    bool ok = chrome_look(&x.c, in->path, look);
    if (ok) {
        sort_lanes(&x);
        enum json_step rc = chrome_read(&x.c, in);
        ok = e->kind == ERR_NONE && (x.events || chrome_refuse(&x.c, rc));
        if (ok && !x.r.n)
            ok = fail(e, ERR_FAIL, "%s: an Ascend trace without a row of the host or the device", in->path);
        if (ok) {
            chrome_losses(&x.c, rc, d, x.events);
            rows_facts(&x.r, "ascend-json", "ascend");
            tracedata_meta(d, "clean_end", rc == JSON_OK ? "1" : "0");
        }
    }
    chrome_close(&x.c);
    idmap_free(&x.lanes);
    free(x.labels);
    free(x.computing);
    rows_free(&x.r);
    return ok;
}

static enum sniffed marked(const char *text, size_t n)
{
    static const char *const words[] = {"\"Ascend Hardware\"", "AscendCL@", "\"Overlap Analysis\"", "enqueue_to_dequeue", "\"async_npu\""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(text, n, words[i], strlen(words[i])))
            return SNIFF_YES;
    return SNIFF_NO;
}

/* Words of Ascend, or a bare list with times in quotes and torch_npu's arguments. */
static enum sniffed sniff(const struct input *in)
{
    if (!chrome_begins(in))
        return SNIFF_NO;
    bool quoted = memmem(in->head, in->nhead, "\"ts\": \"1", 8) || memmem(in->head, in->nhead, "\"ts\":\"1", 7);
    quoted = quoted && in->head[0] == '[' && memmem(in->head, in->nhead, "\"Fwd thread id\"", 15);
    return quoted ? SNIFF_YES : marked((const char *)in->head, in->nhead);
}

const struct importer import_ascend_json = {.name = "ascend-json",
                                            .what = "text traces of the Ascend profiler (trace_view.json), also .gz and .zst",
                                            .sniff = sniff,
                                            .read = read,
                                            .marked = marked};
