/* rows.c - a table of calls inside host rows, by their id, and one of collectives that are not complete, by their row. */
#include "collector/rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Ids are consecutive, so id modulo size is a good place: an entry goes when its place is needed again. */
enum { CALLS = 1 << 18, COMMS = 1 << 14 };

struct call {
    uint32_t id, row; /* row: the id of the first call in the row */
    int32_t rank;     /* of the row, in its first call: -1 not known yet */
    int64_t comm;     /* external id of the collective that it is a part of; 0 none */
};

struct comm {
    int64_t external; /* 0: free */
    uint32_t row;
    int32_t expected, seen; /* pieces */
    bool open;              /* its host row has not ended */
    bool timed, cut;        /* a piece had a time; one had no end, or one before its start */
    bool host;              /* nobody looks at kernels */
    struct activity a;      /* start and end: of the pieces so far */
    const char *dtype;
    int64_t message_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the tables */
static struct call *calls;                               /* CALLS, from the first one on */
static struct comm *comms;                               /* COMMS, from the first one on */
static int64_t unseen;                                   /* collectives of whose work nothing was seen */
static _Atomic bool listening, watching;

static __thread struct {
    int64_t external; /* of the row that the thread's latest call was in; 0 none */
    int64_t stream;   /* that it waited for; -1 none, or not known */
    uint32_t row;
    int32_t reports; /* rank + 1 of the thread's latest report; 0 none yet */
    bool in_comm;
} mine __attribute__((tls_model("initial-exec")));

void rows_listen(bool on)
{
    atomic_store(&listening, on);
}

bool rows_listening(void)
{
    return atomic_load_explicit(&listening, memory_order_relaxed);
}

void rows_watch(bool on)
{
    atomic_store(&watching, on);
}

bool rows_in_comm(void)
{
    return mine.in_comm;
}

/* ---- emitting ---- */

static void emit_comm(struct recorder *r, const struct comm *c)
{
    union emit_more more = {.comm = {.dtype = c->dtype, .message_bytes = c->message_bytes}};
    struct activity a = c->a;
    a.what = ACT_EVENT;
    a.kind = EV_COMM;
    a.correlation = c->row ? (int64_t)c->row : -1;
    recorder_emit_as(r, &a, &(struct emit_as){.more = &more});
}

/* In the thread of its call. */
static void emit_host(struct recorder *r, const struct comm *c)
{
    struct activity a = c->a;
    a.what = ACT_EVENT;
    a.kind = EV_OP;
    a.correlation = -1;
    a.stream = -1;
    recorder_emit(r, &a);
}

/* ---- collectives; with the lock held ---- */

static struct comm *comm_of(int64_t external)
{
    struct comm *c = comms && external > 0 ? &comms[external % COMMS] : NULL;
    return c && c->external == external ? c : NULL;
}

/* Nothing more is to come: *out is the collective, which is forgotten. */
static bool take_whole(struct comm *c, struct comm *out)
{
    if (c->open || c->seen < c->expected)
        return false;
    *out = *c;
    c->external = 0;
    return true;
}

static void add_piece(struct comm *c, const struct activity *piece, const struct nccl_work *w)
{
    c->seen++;
    if (w) {
        c->dtype = w->dtype;
        c->message_bytes = w->message_bytes;
    }
    if (!piece)
        return;
    bool first = !c->timed;
    c->timed = true;
    c->a.device = first ? piece->device : c->a.device;
    c->a.stream = first ? piece->stream : c->a.stream;
    c->a.start = first || piece->start < c->a.start ? piece->start : c->a.start;
    if (!c->cut && (first || piece->end > c->a.end || piece->end < piece->start))
        c->a.end = piece->end;
    c->cut |= piece->end < piece->start;
}

/* What is known of one that is not whole: *out, if that is something. */
static bool take_rest(struct comm *c, struct comm *out)
{
    bool some = c->external && c->timed;
    unseen += c->external && !c->timed;
    *out = *c;
    c->external = 0;
    return some;
}

void rows_comm(struct recorder *r, const struct activity *a)
{
    struct comm older;
    bool rest = false;
    mine.reports = a->rank + 1;
    mine.in_comm = true;
    if (a->correlation <= 0)
        return;
    pthread_mutex_lock(&lock);
    if (!comms)
        comms = calloc(COMMS, sizeof *comms);
    if (comms) {
        struct comm *c = &comms[a->correlation % COMMS];
        rest = take_rest(c, &older);
        *c = (struct comm){.external = a->correlation, .open = true, .a = *a, .message_bytes = -1};
        c->host = !atomic_load(&watching) || !launch_collecting();
        c->a.stream = -1;
    }
    pthread_mutex_unlock(&lock);
    if (rest)
        emit_comm(r, &older);
}

/* ---- calls ---- */

/* The external id of the calling thread; 0 none. CUPTI gives the latest one only as it takes it away. */
static int64_t external_id(const struct cupti *c)
{
    uint64_t id = 0;
    if (!rows_listening() || !c->push_external || !c->pop_external || c->pop_external(CUPTI_EXTERNAL_CUSTOM2, &id) != CUPTI_OK)
        return 0;
    c->push_external(CUPTI_EXTERNAL_CUSTOM2, id);
    return (int64_t)id;
}

static struct call *call_of(uint32_t id)
{
    struct call *c = calls && id ? &calls[id % CALLS] : NULL;
    return c && c->id == id ? c : NULL;
}

bool rows_call(const struct cupti *c, uint32_t id, bool work)
{
    int64_t external = external_id(c);
    if (external <= 0)
        return false;
    if (mine.external != external) {
        mine.external = external;
        mine.row = id;
        mine.stream = -1;
    }
    pthread_mutex_lock(&lock);
    struct comm *comm = comm_of(external);
    if (!calls)
        calls = calloc(CALLS, sizeof *calls);
    comm = comm && !comm->host ? comm : NULL;
    if (calls)
        calls[id % CALLS] = (struct call){id, mine.row, mine.reports - 1, comm ? external : 0};
    if (comm) {
        comm->row = mine.row;
        comm->expected += work;
    }
    pthread_mutex_unlock(&lock);
    return true;
}

void rows_waited(int64_t stream)
{
    mine.stream = stream;
}

/* Its host row ended. Work that it has not had by now it does not have. */
static void end_comm(struct comm *c, const struct activity *row)
{
    c->open = false;
    if (!c->host && c->expected)
        return;
    c->a.start = c->host ? row->start : row->end;
    c->a.end = row->end;
}

/* The row's numbers become CUPTI's. One without a call in it has nothing to join, and its id may be another call's. */
static bool renumber(struct activity *a)
{
    bool inside = mine.external && mine.external == a->correlation;
    if (inside || atomic_load(&watching)) {
        a->correlation = inside ? (int64_t)mine.row : -1;
        a->stream = inside ? (int32_t)mine.stream : -1;
    }
    return inside;
}

void rows_end(struct recorder *r, struct activity *a)
{
    struct comm whole = {0};
    int64_t external = a->correlation;
    bool inside = renumber(a), emit = false;
    mine.reports = a->rank + 1;
    mine.in_comm = false;
    mine.external = 0;
    pthread_mutex_lock(&lock);
    struct call *first = inside ? call_of(mine.row) : NULL;
    struct comm *c = comm_of(external);
    if (first)
        first->rank = a->rank;
    if (c) {
        end_comm(c, a);
        emit = take_whole(c, &whole);
    }
    pthread_mutex_unlock(&lock);
    if (emit)
        (whole.host ? emit_host : emit_comm)(r, &whole);
}

/* ---- records ---- */

struct row rows_find(uint32_t id)
{
    struct row row = {ROW_NONE, id, -1, 0};
    if (!rows_listening())
        return row;
    pthread_mutex_lock(&lock);
    const struct call *c = call_of(id), *first = c ? call_of(c->row) : NULL;
    if (c) {
        row.id = c->row;
        row.rank = first ? first->rank : c->rank;
        row.comm = c->comm;
        row.state = c->comm ? ROW_COMM : row.rank < 0 ? ROW_PENDING : ROW_PLAIN;
    }
    pthread_mutex_unlock(&lock);
    return row;
}

bool rows_piece(struct recorder *r, const struct row *row, const struct activity *piece, const struct nccl_work *w)
{
    struct comm whole;
    bool emit = false;
    pthread_mutex_lock(&lock);
    struct comm *c = comm_of(row->comm);
    bool known = c != NULL;
    if (known) {
        add_piece(c, piece, w);
        emit = take_whole(c, &whole);
    }
    pthread_mutex_unlock(&lock);
    if (emit)
        emit_comm(r, &whole);
    return known;
}

int64_t rows_rest(struct recorder *r)
{
    for (size_t i = 0; comms && i < COMMS; i++) {
        struct comm rest;
        pthread_mutex_lock(&lock);
        bool emit = take_rest(&comms[i], &rest);
        pthread_mutex_unlock(&lock);
        if (emit)
            emit_comm(r, &rest);
    }
    pthread_mutex_lock(&lock);
    int64_t n = unseen;
    unseen = 0;
    pthread_mutex_unlock(&lock);
    return n;
}

void rows_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    rows_watch(false);
    unseen = 0;
    for (size_t i = 0; comms && i < COMMS; i++)
        comms[i].external = 0;
    mine.external = 0;
    mine.in_comm = false;
}
