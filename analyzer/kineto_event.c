/* kineto_event.c - one event of a Kineto trace: time, process, thread or stream, rank.
 *
 * Which process do the rows of a device belong to? To the one that makes the API calls, or correlation ids would not
 * join. That is known once the first call is seen; until then device rows sit in a process of their own, and what was
 * given to it moves at the end.
 */
#include "analyzer/chrome.h"
#include "analyzer/decimal.h"
#include "analyzer/json_text.h"
#include "analyzer/kineto.h"

#include <stdlib.h>
#include <string.h>

static const int64_t FAR = INT64_C(1) << 61; /* import.h: no event lies further from t0 */

enum { SYNC_TRACK = 1000000 }; /* since 2026 waits are drawn on a track of their own: stream + this */

static const struct json_key args_rows[] = {
    {"device", K_DEVICE},
    {"stream", K_STREAM},
    {"correlation", K_CORRELATION},
    {"bytes", K_BYTES},
    {"grid", K_GRID},
    {"block", K_BLOCK},
    {"registers per thread", K_REGISTERS},
    {"shared memory", K_SHARED},
    {"graph id", K_GRAPH},
    {"graph node id", K_GRAPH_NODE},
    {"kind", K_KIND},
    {"Collective name", K_COLLECTIVE},
    {"In msg nelems", K_IN_ELEMENTS},
    {"Out msg nelems", K_OUT_ELEMENTS},
    {"dtype", K_DTYPE},
    {"Process Group Name", K_GROUP},
    {"Group size", K_GROUP_SIZE},
    {"Seq", K_SEQUENCE},
    {"rank", K_RANK},
    {"cuda_sync_kind", K_SYNC_KIND},
    {"wait_on_stream", K_WAIT_STREAM},
    {"wait_on_cuda_event_id", K_WAIT_EVENT},
    {"name", K_LABEL},
    {"process", K_PROCESS},
    {"peer", K_PEER},
    {"sync", K_SYNC_CLASS},
    {"did_block", K_DID_BLOCK},
    {"function", K_FUNCTION},
    {"file", K_FILE},
    {"line", K_LINE},
    {"range", K_RANGE},
    {"domain", K_DOMAIN},
    {0},
};

static const struct json_key event_rows[] = {
    {"ph", K_PH}, {"cat", K_CAT}, {"name", K_NAME}, {"pid", K_PID}, {"tid", K_TID}, {"ts", K_TS}, {"dur", K_DUR}, {"args"}, {0},
};

static bool matched(void *ctx, const struct event *ev)
{
    struct kineto *k = ctx;
    return tracedata_event(k->d, ev, k->e);
}

void kineto_start(struct kineto *k, struct tracedata *d, struct err *e)
{
    k->d = d;
    k->e = e;
    k->rank = -1;
    memcpy(k->event_rows, event_rows, sizeof event_rows);
    k->event_rows[K_DUR + 1].inside = &k->args;
    json_keys_init(&k->args, args_rows);
    json_keys_init(&k->event, k->event_rows);
    kineto_cats_init(k);
    k->open = (struct openrows){.row = matched, .ctx = k, .all_late = true};
}

/* The number in "stream 7", "7" or 7; `none` when there is none. */
static int64_t number(const struct json_value *v, int64_t none)
{
    if (v->type == JSON_NUMBER)
        return json_int(v, none);
    if (v->type != JSON_STRING)
        return none;
    uint32_t i = v->n;
    while (i > 0 && v->s[i - 1] >= '0' && v->s[i - 1] <= '9')
        i--;
    i -= i > 0 && v->s[i - 1] == '-';
    int64_t n;
    return decimal_int(v->s + i, v->n - i, &n) ? n : none;
}

static uint32_t new_process(struct tracedata *d, int64_t pid, int32_t rank)
{
    ARRAY_PUSH(d->processes, d->nprocesses, d->processes_cap, ((struct processkey){.pid = pid, .rank = rank}));
    return (uint32_t)d->nprocesses - 1;
}

/* The first host process takes over the one that device rows were put into. */
static uint32_t host_process(struct kineto *k, int64_t pid)
{
    uint32_t id = idmap_get(&k->hosts, pid);
    if (id)
        return id;
    bool take_over = k->device_process && !k->first_host;
    id = take_over ? k->device_process : new_process(k->d, pid, k->rank);
    k->d->processes[id].pid = pid;
    k->first_host = k->first_host ? k->first_host : id;
    idmap_set(&k->hosts, pid, id);
    return id;
}

/* Of rows that name their rank: a process each, whatever their pid, for on device rows that is a device. */
static uint32_t rank_process(struct kineto *k, int32_t rank)
{
    uint32_t id = idmap_get(&k->ranks, rank);
    if (!id)
        idmap_set(&k->ranks, rank, id = new_process(k->d, -1, rank));
    return id;
}

/* The process that the row names (our own export does, where there are several), else that of its rank; 0 neither. */
static uint32_t named_process(struct kineto *k, int32_t rank)
{
    int64_t pid = k->v[K_PROCESS].type == JSON_NUMBER ? number(&k->v[K_PROCESS], -1) : -1;
    return pid >= 0 ? host_process(k, pid) : rank >= 0 ? rank_process(k, rank) : 0;
}

/* Once chosen it stays until the end: a stream has one number. */
static uint32_t device_process(struct kineto *k)
{
    if (!k->device_process)
        k->device_process = k->runtime_process ? k->runtime_process : k->first_host ? k->first_host : new_process(k->d, -1, k->rank);
    return k->device_process;
}

static int64_t id_of(struct kineto *k, enum kineto_slot slot)
{
    return json_id(&k->v[slot], &k->d->strings, &k->scratch);
}

static void place_on_host(struct kineto *k, struct event *ev, int32_t rank)
{
    int64_t tid = id_of(k, K_TID);
    uint32_t process = named_process(k, rank);
    process = process ? process : host_process(k, id_of(k, K_PID));
    ev->thread = tracedata_thread(k->d, process, tid, NULL);
}

/* Device and stream from the arguments, else from the track that the row is drawn on. */
static void place_on_device(struct kineto *k, struct event *ev, int32_t rank)
{
    int64_t device = json_int(&k->v[K_DEVICE], number(&k->v[K_PID], -1));
    int64_t stream = json_int(&k->v[K_STREAM], number(&k->v[K_TID], -1));
    ev->device = device >= 0 && device <= INT32_MAX ? (int32_t)device : -1;
    if (ev->kind == EV_SYNC && stream == UINT32_MAX) /* -1 in 32 bits */
        stream = -1;
    if (ev->kind == EV_SYNC && stream >= SYNC_TRACK)
        stream -= SYNC_TRACK;
    uint32_t process = named_process(k, rank);
    if (stream >= 0)
        ev->stream = tracedata_stream(k->d, process ? process : device_process(k), ev->device, stream);
    k->devices = true;
}

/* dur in ns. One beyond reason stays one. */
static bool length(const struct kineto *k, int64_t *ns)
{
    const struct json_value *dur = &k->v[K_DUR];
    if (dur->type == JSON_NONE)
        return false;
    if (!decimal_scaled(dur->s, dur->n, 3, ns)) {
        if (dur->type != JSON_NUMBER)
            return false;
        *ns = dur->s[0] == '-' ? -FAR : FAR;
    }
    *ns = *ns > FAR ? FAR : *ns < -FAR ? -FAR : *ns;
    return true;
}

/* ts in ns since t0. */
static bool instant(struct kineto *k, int64_t *ns)
{
    const struct json_value *ts = &k->v[K_TS];
    int64_t at;
    if (!json_scaled(ts, 3, &at))
        return false;
    if (!k->has_t0 && at <= FAR && at >= -FAR) { /* an absurd one would leave no room for the rest */
        k->has_t0 = true;
        k->d->t0 = at;
    }
    return !__builtin_sub_overflow(at, k->d->t0, ns) && *ns <= FAR && *ns >= -FAR;
}

static void label(struct kineto *k)
{
    bool of_thread = json_is(&k->v[K_NAME], "thread_name");
    if (!of_thread && !json_is(&k->v[K_NAME], "process_name"))
        return;
    struct kineto_label l = {id_of(k, K_PID), id_of(k, K_TID), 0, of_thread};
    l.name = json_intern(&k->v[K_LABEL], &k->d->strings, &k->scratch, NULL);
    ARRAY_PUSH(k->labels, k->nlabels, k->labels_cap, l);
}

static uint32_t row_name(struct kineto *k)
{
    return json_intern(&k->v[K_NAME], &k->d->strings, &k->scratch, &k->feed->scan.repairs.bytes);
}

/* What a row is, but for its times and what is particular to its category. */
static void describe(struct kineto *k, struct event *ev)
{
    int64_t named = number(&k->v[K_RANK], -1);
    int32_t rank = k->rank < 0 && named >= 0 && named <= INT32_MAX ? (int32_t)named : -1;
    ev->rank = rank >= 0 ? rank : k->rank;
    ev->name = row_name(k);
    ev->correlation = json_int(&k->v[K_CORRELATION], -1);
    if (ev_kind_class((enum ev_kind)ev->kind) == EV_HOST)
        place_on_host(k, ev, rank);
    else
        place_on_device(k, ev, rank);
}

static bool complete(struct kineto *k, const struct kineto_cat *cat)
{
    int64_t start, ns;
    if (!length(k, &ns) || !instant(k, &start)) {
        k->untimed++;
        return true;
    }
    struct event ev = event_none(cat->kind, start, start + ns);
    describe(k, &ev);
    if (cat->detail)
        cat->detail(k, &ev);
    kineto_own(k, &ev);
    return tracedata_event(k->d, &ev, k->e);
}

static int64_t lane_of(struct kineto *k)
{
    return openrows_lane(id_of(k, K_PID), id_of(k, K_TID));
}

/* Side rows are written with their event, which is yet to come: a begin has none, and those of the host need none. */
static bool begin(struct kineto *k, const struct kineto_cat *cat)
{
    struct event ev = event_none(EV_NKINDS, OPENROWS_UNTIMED, 0);
    int64_t start;
    bool known = cat && instant(k, &start);
    k->untimed += cat && !known;
    if (known) {
        ev = event_none(cat->kind, start, start);
        describe(k, &ev);
        if (cat->detail && ev_kind_class(cat->kind) == EV_HOST)
            cat->detail(k, &ev);
    }
    ev.name = row_name(k);
    return openrows_begin(&k->open, lane_of(k), &ev);
}

/* An end names no category as a rule. */
static bool end(struct kineto *k)
{
    int64_t at;
    bool known = instant(k, &at);
    k->untimed += !known;
    return openrows_end(&k->open, lane_of(k), known ? at : OPENROWS_UNTIMED, row_name(k));
}

bool kineto_event(struct kineto *k)
{
    const struct json_value *ph = &k->v[K_PH];
    if (ph->type != JSON_STRING || ph->n != 1)
        return true;
    k->events++;
    if (k->scratch.total > 1 << 20)
        arena_free(&k->scratch);
    if (*ph->s == 'M')
        label(k);
    if (*ph->s == 'E')
        return end(k);
    k->asynchronous += *ph->s == 'b' || *ph->s == 'S';
    if (*ph->s != 'X' && *ph->s != 'B')
        return true;
    const struct kineto_cat *cat = kineto_cat_find(k, &k->v[K_CAT]);
    k->skipped += !cat;
    k->unknown += !cat && !kineto_cat_is_no_row(&k->v[K_CAT]);
    k->rows += cat != NULL;
    return *ph->s == 'B' ? begin(k, cat) : !cat || complete(k, cat);
}

static int by_key(const void *x, const void *y)
{
    const struct kineto_label *a = x, *b = y;
    int order = (a->of_thread > b->of_thread) - (a->of_thread < b->of_thread);
    order = order ? order : (a->pid > b->pid) - (a->pid < b->pid);
    return order || !a->of_thread ? order : (a->tid > b->tid) - (a->tid < b->tid);
}

/* The name that metadata rows give; 0 none. */
static uint32_t name_of(const struct kineto *k, struct kineto_label key)
{
    const struct kineto_label *l = k->nlabels ? bsearch(&key, k->labels, k->nlabels, sizeof key, by_key) : NULL;
    return l ? l->name : 0;
}

static void apply_labels(struct kineto *k)
{
    struct tracedata *d = k->d;
    if (k->nlabels)
        qsort(k->labels, k->nlabels, sizeof *k->labels, by_key);
    for (size_t i = 1; i < d->nprocesses; i++)
        d->processes[i].name = name_of(k, (struct kineto_label){.pid = d->processes[i].pid});
    for (size_t i = 1; i < d->nthreads; i++) {
        const struct threadkey *t = &d->threads[i];
        d->threads[i].name = name_of(k, (struct kineto_label){.pid = d->processes[t->process].pid, .tid = t->tid, .of_thread = true});
    }
    chrome_settle_ids(d);
}

/* Device rows that were put elsewhere before the first API call move to the process that made it. */
static void move_device_rows(struct kineto *k)
{
    for (size_t i = 1; k->device_process && k->runtime_process && i < k->d->nstreams; i++)
        if (k->d->streams[i].process == k->device_process)
            k->d->streams[i].process = k->runtime_process;
}

void kineto_rank(struct kineto *k, int32_t rank)
{
    k->rank = rank;
    for (size_t i = 1; i < k->d->nprocesses; i++)
        if (k->d->processes[i].rank < 0)
            k->d->processes[i].rank = rank;
}

bool kineto_finish(struct kineto *k)
{
    bool ok = openrows_finish(&k->open);
    apply_labels(k);
    move_device_rows(k);
    return ok;
}

void kineto_free(struct kineto *k)
{
    idmap_free(&k->hosts);
    idmap_free(&k->ranks);
    openrows_free(&k->open);
    free(k->labels);
    arena_free(&k->scratch);
}
