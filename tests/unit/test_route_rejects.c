/* test_route_rejects.c - both builders refuse the same inputs with the same words, and before any communication (spec D.2). */
#include "unit.h"

#include "kernels/layout/route_naive.h"
#include "layout_ranks.h"

static enum layout other(enum layout l)
{
    return l == LAYOUT_ZIGZAG ? LAYOUT_CONTIGUOUS : LAYOUT_ZIGZAG;
}

/* One input for one rank: refused by both, with one message. cu may be valid: then both take it. */
static void same_verdict(struct stream *s, const int64_t *cu, int64_t entries, int cp, int rank, enum layout l, bool want)
{
    struct boundaries *b = boundaries_create(s, cu, entries);
    struct err naive = {0}, interval = {0};
    struct rank_rows rows;
    struct route *r = route_build(b, s, cp, rank, l, other(l), &interval);
    bool taken = thd_rank_indices(s, b, cp, rank, l, &rows, &naive);
    assert_int_equal(taken, r != NULL);
    assert_int_equal(taken, want);
    assert_string_equal(naive.msg, interval.msg);
    assert_int_equal(naive.kind, want ? ERR_NONE : ERR_USAGE);
    if (taken)
        dev_free(stream_device(s), rows.memory);
    route_release(r);
    boundaries_close(b);
}

TEST(both_builders_refuse_alike)
{
    struct err e = {0};
    struct device *d = device_open("cpu", 0, 0, &e);
    assert_ok(d, &e);
    struct stream *s = device_stream(d);
    for (int l = 0; l < LAYOUT_COUNT; l++) {
        same_verdict(s, (int64_t[]){0, 12}, 2, 4, 0, (enum layout)l, false);
        same_verdict(s, (int64_t[]){0, 10}, 2, 2, 0, (enum layout)l, false);
        same_verdict(s, (int64_t[]){0, 4, 9}, 3, 2, 1, (enum layout)l, false);
        same_verdict(s, (int64_t[]){8, 16}, 2, 2, 0, (enum layout)l, false);
        same_verdict(s, (int64_t[]){0, 16, 8}, 3, 2, 0, (enum layout)l, false);
        same_verdict(s, (int64_t[]){0}, 0, 2, 0, (enum layout)l, false);
        same_verdict(s, (int64_t[]){0, 16}, 2, 0, 0, (enum layout)l, false);
        same_verdict(s, (int64_t[]){0, 16}, 2, 2, 2, (enum layout)l, false);
        same_verdict(s, (int64_t[]){0, 16}, 2, 2, -1, (enum layout)l, false);
        same_verdict(s, (int64_t[]){0, 16}, 2, 2, 1, (enum layout)l, true);
        same_verdict(s, (int64_t[]){0, 0}, 2, 2, 1, (enum layout)l, true);
        same_verdict(s, (int64_t[]){0}, 1, 2, 1, (enum layout)l, true);
    }
    device_close(d);
}

TEST(random_boundaries_get_one_verdict)
{
    struct err e = {0};
    struct device *d = device_open("cpu", 0, 0, &e);
    assert_ok(d, &e);
    PROP(300)
    {
        int cp = 1 + (int)rnd(4);
        int64_t cu[6] = {rnd(10) == 0}, entries = 1 + (int64_t)rnd(6);
        bool want = cu[0] == 0;
        for (int64_t i = 1; i < entries; i++) {
            cu[i] = cu[i - 1] + 2 * cp * (int64_t)rnd(3) + (rnd(8) ? 0 : (int64_t)rnd(5) - 2);
            want = want && cu[i] >= cu[i - 1] && (cu[i] - cu[i - 1]) % (2 * cp) == 0;
        }
        same_verdict(device_stream(d), cu, entries, cp, (int)rnd((uint64_t)cp), (enum layout)rnd(2), want);
    }
    device_close(d);
}

/* x with a row too many: refused by every route on every rank, before the exchange, which would hang. */
static bool wrong_rows(struct rank_env *x, struct err *e)
{
    static const int64_t cu[] = {0, 16, 40};
    static const char *const why = "the local tensor has 21 rows: want T / cp = 20";
    struct boundaries *b = boundaries_create(x->stream, cu, 3);
    struct packed_seqs p;
    packed_init(&p, b, b, 40);
    float *in = dev_alloc(x->device, 21 * sizeof *in);
    dev_set_async(x->stream, in, 0, 21 * sizeof *in);
    bool ok = true;
    for (int kind = ROUTE_NAIVE; ok && kind <= ROUTE_INTERVAL; kind++) {
        struct swap_ctx ctx = {x->comm, x->stream, &p, (enum route_kind)kind};
        struct err got = {0};
        struct route *saved;
        if (swap_forward(&ctx, LAYOUT_ZIGZAG, in, 21, 1, &saved, &got) || saved || got.kind != ERR_USAGE || strcmp(got.msg, why))
            ok = fail(e, ERR_FAIL, "route %d: \"%s\"", kind, got.msg);
    }
    dev_free(x->device, in);
    packed_close(&p);
    boundaries_close(b);
    return ok;
}

TEST(a_tensor_of_another_length_is_refused)
{
    struct err e = {0};
    assert_ok(on_ranks(2, wrong_rows, NULL, &e), &e);
}

UNIT_MAIN(UNIT(both_builders_refuse_alike), UNIT(random_boundaries_get_one_verdict), UNIT(a_tensor_of_another_length_is_refused))
