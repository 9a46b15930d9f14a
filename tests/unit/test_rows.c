/* test_rows.c - threads with host rows of every make, whose records come in any order and at any time: each collective is one row from
 * the first start to the last end of its own pieces, each call is found in its row, whatever other threads do meanwhile. */
#include "recorder_run.h"

#include "collector/rows.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, ROWS = 400, CALLS_MOST = 5, WAITING = 16, EXTERNAL_NONE = 18 };

static __thread uint64_t external; /* of the calling thread; 0 none */
static _Atomic uint32_t ids;
static _Atomic int64_t externals;

static int pop(int kind, uint64_t *id)
{
    assert_int_equal(kind, CUPTI_EXTERNAL_CUSTOM2);
    *id = external;
    external = 0;
    return *id ? CUPTI_OK : EXTERNAL_NONE;
}

static int push(int kind, uint64_t id)
{
    assert_int_equal(kind, CUPTI_EXTERNAL_CUSTOM2);
    external = id;
    return CUPTI_OK;
}

static const struct cupti cupti = {.push_external = push, .pop_external = pop};

struct want { /* of a row */
    int64_t start, end;
    int pieces;
    bool comm;
    uint32_t id;
};

struct rank {
    struct recorder *r;
    int rank;
    uint32_t seed;
    struct want rows[ROWS];
    struct piece { /* whose record has not come yet */
        uint32_t id;
        int row;
        int64_t start, end;
    } waiting[WAITING];
    int nwaiting;
    int wrong;
};

static uint32_t next(struct rank *t, uint32_t n)
{
    t->seed = t->seed * 1664525u + 1013904223u;
    return (t->seed >> 8) % n;
}

static void deliver(struct rank *t, int i)
{
    struct piece p = t->waiting[i];
    const struct want *w = &t->rows[p.row];
    struct row row = rows_find(p.id);
    struct activity a = event(-1, p.id);
    a.start = p.start;
    a.end = p.end;
    a.device = 3;
    a.stream = 20 + t->rank;
    t->waiting[i] = t->waiting[--t->nwaiting];
    t->wrong += row.id != w->id || row.rank != t->rank || row.state != (w->comm ? ROW_COMM : ROW_PLAIN);
    if (row.state == ROW_COMM)
        t->wrong += !rows_piece(t->r, &row, &a, NULL);
}

static void call(struct rank *t, int n, int64_t base)
{
    struct want *w = &t->rows[n];
    bool work = next(t, 3) > 0;
    uint32_t id = atomic_fetch_add(&ids, 1) + 1;
    t->wrong += !rows_call(&cupti, id, work);
    w->id = w->id ? w->id : id;
    if (!work)
        return;
    struct piece p = {id, n, base + next(t, 1000), 0};
    p.end = p.start + next(t, 1000);
    w->start = !w->pieces || p.start < w->start ? p.start : w->start;
    w->end = !w->pieces || p.end > w->end ? p.end : w->end;
    w->pieces++;
    if (t->nwaiting == WAITING)
        deliver(t, (int)next(t, WAITING));
    t->waiting[t->nwaiting++] = p;
}

static void one_row(struct rank *t, int n)
{
    struct want *w = &t->rows[n];
    struct activity a = event(t->rank, atomic_fetch_add(&externals, 1) + 1);
    int64_t base = a.start;
    int calls = 1 + (int)next(t, CALLS_MOST);
    push(CUPTI_EXTERNAL_CUSTOM2, (uint64_t)a.correlation);
    w->comm = next(t, 2);
    if (w->comm) {
        struct activity c = a;
        c.what = ACT_COMM;
        c.kind = EV_COMM;
        c.name = c.function = "all_gather";
        c.group = "cp";
        c.sequence = n;
        rows_comm(t->r, &c);
    }
    for (int i = 0; i < calls; i++)
        call(t, n, base);
    uint64_t last;
    pop(CUPTI_EXTERNAL_CUSTOM2, &last);
    t->wrong += rows_call(&cupti, atomic_fetch_add(&ids, 1) + 1, true); /* outside of any row */
    a.kind = EV_RUNTIME;
    a.end = base + 5000;
    rows_end(t->r, &a);
    t->wrong += a.correlation != w->id;
    if (!w->pieces)
        w->start = w->end = a.end;
}

static void *run(void *arg)
{
    struct rank *t = arg;
    rows_end(t->r, &(struct activity){.rank = t->rank, .correlation = -1}); /* so that the rank is known from the first row on */
    for (int n = 0; n < ROWS; n++)
        one_row(t, n);
    while (t->nwaiting)
        deliver(t, (int)next(t, (uint32_t)t->nwaiting));
    return NULL;
}

static void compare(const struct rank *t, const struct tracedata *d)
{
    int seen[ROWS] = {0};
    for (size_t i = 0; i < d->n; i++) {
        const struct event *ev = &d->ev[i];
        if (ev->kind != EV_COMM || ev->rank != t->rank)
            continue;
        const struct want *w = &t->rows[ev_comm_of(d, ev)->sequence];
        seen[ev_comm_of(d, ev)->sequence]++;
        assert_int_equal(ev->start + d->t0, w->start);
        assert_int_equal(ev->end + d->t0, w->end);
        assert_int_equal(ev->correlation, w->id);
        if (w->pieces)
            assert_int_equal(d->streams[ev->stream].native, 20 + t->rank);
    }
    for (int n = 0; n < ROWS; n++)
        assert_int_equal(seen[n], t->rows[n].comm);
}

TEST(each_collective_once_with_its_own_times)
{
    static struct rank ranks[THREADS];
    pthread_t threads[THREADS];
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    rows_listen(true);
    rows_watch(true);
    launch_collect(true);
    for (int i = 0; i < THREADS; i++) {
        ranks[i] = (struct rank){.r = r, .rank = i, .seed = (uint32_t)rnd(1 << 30)};
        pthread_create(&threads[i], NULL, run, &ranks[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(rows_rest(r), 0);
    recorder_close(r);
    recorder_free(r);
    load(&d);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(ranks[i].wrong, 0);
        compare(&ranks[i], &d);
    }
    tracedata_free(&d);
    rows_forked();
}

/* Nobody's records: what is known is kept, what is not is counted; without CUPTI a collective is an op row as long as its call. */
TEST(what_is_missing_is_said)
{
    struct recorder *r = open_recorder(0);
    struct tracedata d;
    int ops = 0, comms = 0;
    rows_listen(true);
    for (int i = 0; i < 3; i++) {
        struct activity a = event(0, 900001 + i), c = a;
        rows_watch(i < 2);
        c.what = ACT_COMM;
        push(CUPTI_EXTERNAL_CUSTOM2, (uint64_t)a.correlation);
        rows_comm(r, &c);
        assert_true(rows_in_comm());
        assert_true(rows_call(&cupti, (uint32_t)(3000000 + 2 * i), true));
        assert_true(rows_call(&cupti, (uint32_t)(3000001 + 2 * i), true));
        struct row row = rows_find((uint32_t)(3000001 + 2 * i));
        assert_int_equal(row.id, 3000000 + 2 * i);
        assert_int_equal(row.state, i < 2 ? ROW_COMM : ROW_PLAIN);
        a.end = a.start + 77;
        if (i == 1)
            assert_true(rows_piece(r, &row, &a, NULL)); /* one of two */
        rows_end(r, &a);
        assert_false(rows_in_comm());
    }
    assert_int_equal(rows_rest(r), 1);
    assert_int_equal(rows_rest(r), 0);
    recorder_close(r);
    recorder_free(r);
    load(&d);
    for (size_t i = 0; i < d.n; i++) {
        ops += d.ev[i].kind == EV_OP && d.ev[i].end - d.ev[i].start == 77;
        comms += d.ev[i].kind == EV_COMM && d.ev[i].end - d.ev[i].start == 77;
    }
    assert_int_equal(ops, 1);
    assert_int_equal(comms, 1);
    tracedata_free(&d);
    rows_forked();
}

UNIT_MAIN(UNIT(each_collective_once_with_its_own_times), UNIT(what_is_missing_is_said))
