/* test_comm_events.c - what a collective announces; matching of communicators; a rank that fails hangs nobody. */
#include "activity_log.h"
#include "slow_kernel.h"
#include "kernels/comm/comm.h"

/* ---- events ---- */

static bool events_main(int rank, void *ctx, struct err *e)
{
    struct comm_world *w = ctx;
    struct device *d = device_open("cpu", rank, 10 + rank, e);
    struct comm *cp = comm_open(w, rank, "cp", e), *grad = comm_open(w, rank, "grad", e);
    struct stream *s = device_stream(d);
    int size = comm_size(cp);
    int64_t splits[8];
    for (int i = 0; i < size; i++)
        splits[i] = 5;
    float *a = dev_alloc(d, 100 * 8 * sizeof *a), *b = dev_alloc(d, 100 * 8 * sizeof *b);
    double *x = dev_alloc(d, 101 * sizeof *x);
    dev_set_async(s, a, 0, 100 * 8 * sizeof *a);
    dev_set_async(s, x, 0, 101 * sizeof *x);
    comm_all_gather(cp, s, a, b, 60);
    comm_all_to_all_rows(cp, s, a, b, 10);
    comm_all_to_all_v_rows(cp, s, a, (struct comm_split){splits, 5 * size}, b, (struct comm_split){splits, 5 * size}, 5);
    comm_reduce_scatter_f32(grad, s, a, b, 25);
    comm_all_reduce_f32(grad, s, a, 100);
    comm_all_reduce_f64(grad, s, x, 101);
    comm_close(grad); /* what is enqueued still runs */
    dev_stream_sync(s, SITE_HERE);
    comm_close(cp);
    device_close(d);
    return true;
}

struct wanted {
    const char *name, *group, *function;
    int64_t sequence, bytes;
};

static void check_event(const struct activity *a, const struct wanted *w, int size)
{
    assert_int_equal(a->kind, EV_COMM);
    assert_string_equal(a->name, w->name);
    assert_string_equal(a->group, w->group);
    assert_string_equal(a->function, w->function);
    assert_int_equal(a->sequence, w->sequence);
    assert_int_equal(a->bytes, w->bytes);
    assert_int_equal(a->group_size, size);
    assert_int_equal(a->device, 10 + a->rank);
    assert_int_equal(a->stream, 7);
}

static void check_events(int size)
{
    int64_t others = size - 1;
    const struct wanted wanted[] = {{"cp_all_gather", "cp", "all_gather", 0, size > 1 ? 60 : 0},
                                    {"cp_all_to_all", "cp", "all_to_all", 1, others * 40},
                                    {"cp_all_to_all_v", "cp", "all_to_all_v", 2, others * 100},
                                    {"grad_reduce_scatter", "grad", "reduce_scatter", 0, others * 100},
                                    {"grad_all_reduce", "grad", "all_reduce", 1, 2 * others * 400 / size},
                                    {"grad_all_reduce", "grad", "all_reduce", 2, 2 * others * 808 / size}};
    int seen[8] = {0};
    for (size_t i = 0; i < log_.n; i++)
        if (log_.a[i].what == ACT_EVENT && log_.a[i].kind == EV_COMM) {
            int *k = &seen[log_.a[i].rank];
            assert_true(*k < 6);
            check_event(&log_.a[i], &wanted[(*k)++], size);
        }
    for (int r = 0; r < size; r++)
        assert_int_equal(seen[r], 6);
    assert_int_equal(log_count(EV_RUNTIME, "deviceLaunchKernel"), 6 * size);
}

TEST(a_collective_is_one_event_a_rank)
{
    static const int sizes[] = {1, 2, 3, 8};
    for (int i = 0; i < 4; i++) {
        struct err e = {0};
        struct comm_world *w = comm_world_open("threads", sizes[i], &e);
        log_start();
        assert_ok(ranks_run(sizes[i], events_main, w, &e), &e);
        log_stop();
        comm_world_close(w);
        check_events(sizes[i]);
    }
}

static bool late_main(int rank, void *ctx, struct err *e)
{
    struct device *d = device_open("cpu", rank, rank, e);
    struct comm *c = comm_open(ctx, rank, "cp", e);
    int64_t late = 100 * MS;
    double *x = dev_alloc(d, sizeof *x);
    dev_set_async(device_stream(d), x, 0, sizeof *x);
    comm_barrier(c);
    if (rank == 1)
        dev_launch(device_stream(d), &k_sleep, &late, sizeof late);
    comm_all_reduce_f64(c, device_stream(d), x, 1);
    dev_stream_sync(device_stream(d), SITE_HERE);
    comm_close(c);
    device_close(d);
    return true;
}

TEST(waiting_for_a_late_rank_is_inside_the_event)
{
    struct err e = {0};
    struct comm_world *w = comm_world_open("threads", 2, &e);
    log_start();
    assert_ok(ranks_run(2, late_main, w, &e), &e);
    log_stop();
    comm_world_close(w);
    int64_t took[2] = {0};
    for (int k = 0; k < 2; k++) {
        const struct activity *a = log_find(EV_COMM, "cp_all_reduce", k);
        took[a->rank] = a->end - a->start;
    }
    assert_true(took[0] > 20 * MS);
    assert_true(took[0] > took[1]);
}

/* Two communicators of one name and one of another, each on its own stream, used in different orders: the first of a
 * name is everybody's first. */
static bool matching_main(int rank, void *ctx, struct err *e)
{
    struct device *d = device_open("cpu", rank, rank, e);
    struct comm *c[3] = {comm_open(ctx, rank, "cp", e), comm_open(ctx, rank, "tp", e), comm_open(ctx, rank, "cp", e)};
    struct stream *s[3] = {device_stream(d), stream_open(d), stream_open(d)};
    double *x = dev_alloc(d, 3 * sizeof *x), host[3];
    dev_upload(s[0], x, (double[]){1, 10, 100}, sizeof host, SITE_HERE);
    for (int k = 0; k < 3; k++) {
        int i = rank ? 2 - k : k;
        comm_all_reduce_f64(c[i], s[i], &x[i], 1);
    }
    dev_device_sync(d, SITE_HERE);
    dev_download(s[0], host, x, sizeof host, SITE_HERE);
    for (int i = 0; i < 3; i++)
        comm_close(c[i]);
    device_close(d);
    bool right = host[0] == 2 && host[1] == 20 && host[2] == 200;
    return right || fail(e, ERR_FAIL, "got %g %g %g", host[0], host[1], host[2]);
}

TEST(communicators_match_by_name_and_order)
{
    for (int i = 0; i < 50; i++) {
        struct err e = {0};
        struct comm_world *w = comm_world_open("threads", 2, &e);
        assert_ok(ranks_run(2, matching_main, w, &e), &e);
        comm_world_close(w);
    }
}

/* ---- a rank that fails ---- */

struct failing {
    struct comm_world *world;
    int size, rank; /* who fails */
    int after;      /* collectives */
    bool before_open;
};

static bool failing_main(int rank, void *ctx, struct err *e)
{
    const struct failing *f = ctx;
    if (rank == f->rank && f->before_open)
        return fail(e, ERR_USAGE, "rank %d does not like its shape", rank);
    struct device *d = device_open("cpu", rank, rank, e);
    struct comm *c = comm_open(f->world, rank, "cp", e);
    int64_t *x = dev_alloc(d, 64 * sizeof *x), host[8] = {0};
    bool ok = true;
    for (int i = 0; ok && i < 12; i++) {
        dev_set_async(device_stream(d), x, 0x5a, 64 * sizeof *x);
        ok = rank != f->rank || i < f->after || fail(e, ERR_USAGE, "rank %d does not like its shape", rank);
        if (ok)
            comm_all_gather(c, device_stream(d), &x[32], x, sizeof *x);
        if (ok && i % 3 == 0)
            comm_barrier(c);
    }
    if (ok) {
        dev_download(device_stream(d), host, x, (size_t)f->size * sizeof *x, SITE_HERE);
        for (int i = 0; i < f->size; i++)
            ok = ok && (host[i] == 0 || fail(e, ERR_FAIL, "an aborted collective left data"));
    }
    comm_close(c);
    device_close(d);
    return ok && fail(e, ERR_FAIL, "rank %d noticed", rank);
}

TEST(a_failed_rank_hangs_nobody)
{
    PROP(150)
    {
        struct err e = {0};
        int size = 2 + (int)rnd(3);
        struct failing f = {comm_world_open("threads", size, &e), size, (int)rnd((uint64_t)size), (int)rnd(6), rnd(5) == 0};
        assert_false(ranks_run(size, failing_main, &f, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_non_null(strstr(e.msg, "does not like its shape"));
        assert_true(comm_world_broken(f.world));
        comm_world_close(f.world);
    }
}

static bool silent_main(int rank, void *ctx, struct err *e)
{
    (void)ctx, (void)e;
    return rank != 2;
}

TEST(failures_have_a_message)
{
    struct err e = {0};
    assert_false(ranks_run(4, silent_main, NULL, &e));
    assert_string_equal(e.msg, "rank 2 failed");
    e = (struct err){0};
    assert_null(comm_world_open("pigeons", 2, &e));
    assert_int_equal(e.kind, ERR_USAGE);
}

UNIT_MAIN(UNIT(a_collective_is_one_event_a_rank), UNIT(waiting_for_a_late_rank_is_inside_the_event), UNIT(communicators_match_by_name_and_order),
          UNIT(a_failed_rank_hangs_nobody), UNIT(failures_have_a_message))
