/* test_comm.c - collectives of rank threads against what every rank can work out by itself.
 *
 * The data of every rank is a function of (rank, round, element), so each rank knows what it must receive. All ranks draw
 * the same random numbers for a round's sizes.
 */
#include "activity_log.h"
#include "kernels/comm/comm.h"

#include <math.h>

enum { SIZE_MAX_ = 8, ROUNDS = 120, BLOCK_MAX = 700, FLOAT = sizeof(float) };

static const int sizes[] = {1, 2, 3, 4, 8};

static uint64_t hash(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c * 0x94d049bb133111ebu + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static unsigned char byte_of(int rank, int round, int64_t i)
{
    return (unsigned char)hash((uint64_t)rank, (uint64_t)round, (uint64_t)i);
}

static double real_of(int rank, int round, int64_t i)
{
    return ldexp((double)(int64_t)hash((uint64_t)rank, (uint64_t)round, (uint64_t)i), (int)(i % 7) - 63);
}

static int64_t split_of(int from, int to, int round)
{
    uint64_t h = hash((uint64_t)from, (uint64_t)to, (uint64_t)round + 1000000);
    return h % 3 ? (int64_t)(h / 3 % BLOCK_MAX) : 0; /* a third are empty */
}

struct job {
    struct comm_world *world;
    int size;
};

struct rank {
    struct comm *c;
    struct device *d;
    struct stream *s;
    int rank, size;
    unsigned char *send, *recv; /* device memory, large enough for anything */
};

enum { BUFFER = SIZE_MAX_ * BLOCK_MAX * 8 };

static bool open_rank(struct rank *r, const struct job *j, int rank, struct err *e)
{
    *r = (struct rank){.rank = rank, .size = j->size};
    r->d = device_open("cpu", rank, rank, e);
    r->c = r->d ? comm_open(j->world, rank, "cp", e) : NULL;
    if (!r->c)
        return false;
    r->s = device_stream(r->d);
    r->send = dev_alloc(r->d, BUFFER);
    r->recv = dev_alloc(r->d, BUFFER);
    return true;
}

static void close_rank(struct rank *r)
{
    comm_close(r->c);
    device_close(r->d);
}

/* Assertions of cmocka do not work outside the main thread: a rank that sees something wrong fails. */
static bool check(bool right, struct err *e, const char *what, int rank, int round)
{
    return right || fail(e, ERR_FAIL, "%s: rank %d, round %d: wrong", what, rank, round);
}

static void run_on(int size, bool (*rank_main)(int rank, void *ctx, struct err *e))
{
    struct err e = {0};
    struct job j = {comm_world_open("threads", size, &e), size};
    assert_non_null(j.world);
    assert_ok(ranks_run(size, rank_main, &j, &e), &e);
    assert_false(comm_world_broken(j.world));
    comm_world_close(j.world);
}

static void run_on_all(bool (*rank_main)(int rank, void *ctx, struct err *e))
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        run_on(sizes[i], rank_main);
}

static void fill_bytes(struct rank *r, int64_t n, int round)
{
    static _Thread_local unsigned char host[BUFFER];
    for (int64_t i = 0; i < n; i++)
        host[i] = byte_of(r->rank, round, i);
    dev_upload_async(r->s, r->send, host, (size_t)n);
}

/* Does recv hold count bytes of `from`'s data of that round, starting at its element `at`? Moves *recv on. */
static bool holds(const unsigned char **recv, int from, int round, int64_t at, int64_t count)
{
    bool right = true;
    for (int64_t i = 0; i < count; i++)
        right &= (*recv)[i] == byte_of(from, round, at + i);
    *recv += count;
    return right;
}

static const unsigned char *received(struct rank *r, int64_t n)
{
    static _Thread_local unsigned char host[BUFFER];
    dev_download(r->s, host, r->recv, (size_t)n, SITE_HERE);
    return host;
}

/* ---- all-gather and all-to-all ---- */

static bool gather_main(int rank, void *ctx, struct err *e)
{
    struct rank r;
    bool ok = open_rank(&r, ctx, rank, e);
    for (int round = 0; ok && round < ROUNDS; round++) {
        int64_t n = split_of(99, 99, round);
        fill_bytes(&r, n, round);
        if (round % 2) {
            comm_all_gather(r.c, r.s, r.send, r.recv, (size_t)n);
        } else { /* in place */
            dev_copy_async(r.s, r.recv + rank * n, r.send, (size_t)n);
            comm_all_gather(r.c, r.s, r.recv + rank * n, r.recv, (size_t)n);
        }
        const unsigned char *got = received(&r, n * r.size);
        for (int from = 0; from < r.size; from++)
            ok = check(holds(&got, from, round, 0, n), e, "all_gather", rank, round) && ok;
    }
    close_rank(&r);
    return ok;
}

static bool exchange_main(int rank, void *ctx, struct err *e)
{
    struct rank r;
    bool ok = open_rank(&r, ctx, rank, e);
    for (int round = 0; ok && round < ROUNDS; round++) {
        int64_t floats = split_of(99, 99, round), n = floats * FLOAT;
        fill_bytes(&r, n * r.size, round);
        comm_all_to_all_rows(r.c, r.s, (float *)r.send, (float *)r.recv, floats);
        const unsigned char *got = received(&r, n * r.size);
        for (int from = 0; from < r.size; from++)
            ok = check(holds(&got, from, round, rank * n, n), e, "all_to_all", rank, round) && ok;
    }
    close_rank(&r);
    return ok;
}

static bool exchange_v_main(int rank, void *ctx, struct err *e)
{
    struct rank r;
    bool ok = open_rank(&r, ctx, rank, e);
    for (int round = 0; ok && round < ROUNDS; round++) {
        int64_t to[SIZE_MAX_], from[SIZE_MAX_], sent = 0, all = 0;
        for (int p = 0; p < r.size; p++) {
            sent += to[p] = split_of(rank, p, round);
            all += from[p] = split_of(p, rank, round);
        }
        fill_bytes(&r, sent * FLOAT, round);
        comm_all_to_all_v_rows(r.c, r.s, (float *)r.send, (struct comm_split){to, sent}, (float *)r.recv, (struct comm_split){from, all}, 1);
        memset(to, 0xff, sizeof to); /* the sizes were copied */
        memset(from, 0xff, sizeof from);
        const unsigned char *got = received(&r, all * FLOAT);
        for (int p = 0; p < r.size; p++) {
            int64_t at = 0;
            for (int q = 0; q < rank; q++)
                at += split_of(p, q, round);
            ok = check(holds(&got, p, round, at * FLOAT, split_of(p, rank, round) * FLOAT), e, "all_to_all_v", rank, round) && ok;
        }
    }
    close_rank(&r);
    return ok;
}

TEST(all_gather_is_in_rank_order)
{
    run_on_all(gather_main);
}

TEST(all_to_all_transposes)
{
    run_on_all(exchange_main);
}

TEST(all_to_all_v_takes_uneven_splits)
{
    run_on_all(exchange_v_main);
}

/* ---- reductions: bit by bit the sum in rank order ---- */

static float sum_f32(int size, int round, int64_t i)
{
    float sum = (float)real_of(0, round, i);
    for (int r = 1; r < size; r++)
        sum += (float)real_of(r, round, i);
    return sum;
}

static double sum_f64(int size, int round, int64_t i)
{
    double sum = real_of(0, round, i);
    for (int r = 1; r < size; r++)
        sum += real_of(r, round, i);
    return sum;
}

static bool reduce_scatter_round(struct rank *r, int round, struct err *e)
{
    static _Thread_local float host[SIZE_MAX_ * BLOCK_MAX];
    int64_t n = split_of(99, 99, round);
    for (int64_t i = 0; i < n * r->size; i++)
        host[i] = (float)real_of(r->rank, round, i);
    dev_upload_async(r->s, r->send, host, (size_t)(n * r->size) * sizeof *host);
    comm_reduce_scatter_f32(r->c, r->s, (float *)(void *)r->send, (float *)(void *)r->recv, n);
    dev_download(r->s, host, r->recv, (size_t)n * sizeof *host, SITE_HERE);
    bool right = true;
    for (int64_t i = 0; i < n; i++) {
        float want = sum_f32(r->size, round, r->rank * n + i);
        right &= memcmp(&want, &host[i], sizeof want) == 0;
    }
    return check(right, e, "reduce_scatter", r->rank, round);
}

static bool all_reduce_round(struct rank *r, int round, struct err *e)
{
    static _Thread_local float f[2 * BLOCK_MAX];
    static _Thread_local double g[2 * BLOCK_MAX];
    int64_t n = round % 5 ? 2 * split_of(99, 99, round) : round % 9; /* fewer elements than ranks, too */
    for (int64_t i = 0; i < n; i++)
        f[i] = (float)real_of(r->rank, round, i), g[i] = real_of(r->rank, round, i);
    float *df = (float *)(void *)r->send;
    double *dg = (double *)(void *)r->recv;
    dev_upload_async(r->s, df, f, (size_t)n * sizeof *f);
    dev_upload_async(r->s, dg, g, (size_t)n * sizeof *g);
    comm_all_reduce_f32(r->c, r->s, df, n);
    comm_all_reduce_f64(r->c, r->s, dg, n);
    dev_download(r->s, f, df, (size_t)n * sizeof *f, SITE_HERE);
    dev_download(r->s, g, dg, (size_t)n * sizeof *g, SITE_HERE);
    bool right = true;
    for (int64_t i = 0; i < n; i++) {
        float want_f = sum_f32(r->size, round, i);
        double want_g = sum_f64(r->size, round, i);
        right &= memcmp(&want_f, &f[i], sizeof want_f) == 0 && memcmp(&want_g, &g[i], sizeof want_g) == 0;
    }
    return check(right, e, "all_reduce", r->rank, round);
}

static bool reduce_main(int rank, void *ctx, struct err *e)
{
    struct rank r;
    bool ok = open_rank(&r, ctx, rank, e);
    for (int round = 0; ok && round < ROUNDS; round++)
        ok = reduce_scatter_round(&r, round, e) && all_reduce_round(&r, round, e);
    close_rank(&r);
    return ok;
}

TEST(reductions_add_in_rank_order)
{
    run_on_all(reduce_main);
}

/* ---- point to point ---- */

/* Around the ring by a distance that the round draws (0: to myself), all ranks at once. */
static bool ring_main(int rank, void *ctx, struct err *e)
{
    struct rank r;
    bool ok = open_rank(&r, ctx, rank, e);
    for (int round = 0; ok && round < ROUNDS; round++) {
        int64_t n = split_of(99, 99, round);
        int distance = (int)split_of(98, 98, round) % r.size, from = (rank + r.size - distance) % r.size;
        fill_bytes(&r, n, round);
        comm_send_recv(r.c, r.s, r.send, (rank + distance) % r.size, r.recv, from, (size_t)n);
        const unsigned char *got = received(&r, n);
        ok = check(holds(&got, from, round, 0, n), e, "send_recv", rank, round);
    }
    close_rank(&r);
    return ok;
}

/* One message handed on from rank 0 to the last: a rank can send it only once it has it. */
static bool chain_main(int rank, void *ctx, struct err *e)
{
    struct rank r;
    bool ok = open_rank(&r, ctx, rank, e);
    for (int round = 0; ok && round < ROUNDS; round++) {
        int64_t n = split_of(99, 99, round);
        if (rank == 0)
            fill_bytes(&r, n, round);
        else
            comm_send_recv(r.c, r.s, NULL, -1, r.send, rank - 1, (size_t)n);
        if (rank + 1 < r.size)
            comm_send_recv(r.c, r.s, r.send, rank + 1, NULL, -1, (size_t)n);
        dev_copy_async(r.s, r.recv, r.send, (size_t)n);
        const unsigned char *got = received(&r, n);
        ok = check(holds(&got, 0, round, 0, n), e, "send_recv in a chain", rank, round);
    }
    close_rank(&r);
    return ok;
}

TEST(send_recv_goes_around)
{
    run_on_all(ring_main);
}

TEST(send_recv_hands_on)
{
    run_on_all(chain_main);
}

/* Rank 1 fails before it sends; the others, who wait for each other around the ring, end with zeros or with their data. */
static bool broken_main(int rank, void *ctx, struct err *e)
{
    struct rank r;
    bool ok = open_rank(&r, ctx, rank, e);
    if (ok && rank == 1) {
        close_rank(&r);
        return fail(e, ERR_FAIL, "rank 1 gives up");
    }
    for (int round = 0; ok && round < 20; round++)
        comm_send_recv(r.c, r.s, r.send, (rank + 1) % r.size, r.recv, (rank + r.size - 1) % r.size, 100);
    close_rank(&r);
    return ok;
}

TEST(send_recv_of_a_broken_world_ends)
{
    for (int i = 0; i < 20; i++) {
        struct err e = {0};
        struct job j = {comm_world_open("threads", 4, &e), 4};
        assert_false(ranks_run(4, broken_main, &j, &e));
        assert_string_equal(e.msg, "rank 1 gives up");
        comm_world_close(j.world);
    }
}

UNIT_MAIN(UNIT(all_gather_is_in_rank_order), UNIT(all_to_all_transposes), UNIT(all_to_all_v_takes_uneven_splits), UNIT(reductions_add_in_rank_order),
          UNIT(send_recv_goes_around), UNIT(send_recv_hands_on), UNIT(send_recv_of_a_broken_world_ends))
