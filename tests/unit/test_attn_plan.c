/* test_attn_plan.c - every split of attention covers exactly the causal pairs of every document, once, over all ranks; what is
 * balanced is balanced; schedules are permutations; boundaries that do not fit are refused; and the cache of eight plans. */
#include "unit.h"

#include "kernels/layout/kv_cache.h"
#include "kernels/layout/padding.h"
#include "kernels/layout/schedule.h"

/* ---- pairs ---- */

struct split_case {
    struct packing p;
    struct attn_place at;
    unsigned char *seen; /* [T][T]: how often query i met key j */
};

/* Global token of row `row` of the keys that call `call` works on. */
static int64_t key_token(const struct split_case *c, struct arena *a, const struct attn_plan *plan, int call, int64_t row)
{
    int cp = c->at.cp, u = c->at.ulysses;
    int64_t rows = c->p.total / cp, major;
    switch (c->at.split) {
    case SPLIT_WHOLE:
    case SPLIT_CONTIGUOUS:
        return row;
    case SPLIT_RING_CONTIGUOUS:
        return call * rows + row;
    case SPLIT_RING_ZIGZAG:
        return layout_rows(a, &c->p, cp, call, LAYOUT_ZIGZAG)[row];
    case SPLIT_USP: /* the index is the same in every group */
        major = plan->index[row] + (int64_t)call * u * rows;
        return layout_rows(a, &c->p, cp, (int)(major / rows), LAYOUT_ZIGZAG)[major % rows];
    default:
        major = plan->index[row];
        return layout_rows(a, &c->p, cp, (int)(major / rows), LAYOUT_ZIGZAG)[major % rows];
    }
}

static int64_t query_token(const struct split_case *c, struct arena *a, const struct attn_plan *plan, int64_t row)
{
    if (c->at.split == SPLIT_USP) {
        struct split_case mine = *c;
        return key_token(&mine, a, plan, c->at.rank / c->at.ulysses, row);
    }
    enum layout l = attn_split_zigzag(c->at.split) ? LAYOUT_ZIGZAG : LAYOUT_CONTIGUOUS;
    return layout_rows(a, &c->p, c->at.cp, c->at.rank, l)[plan->q_index ? plan->q_index[row] : row];
}

static void mark_piece(struct split_case *c, const struct attn_plan *plan, int call, const struct attn_piece *x)
{
    struct arena a = {0};
    int64_t *keys = arena_array(&a, int64_t, x->klen);
    for (int64_t j = 0; j < x->klen; j++)
        keys[j] = key_token(c, &a, plan, call, x->k + j);
    for (int64_t i = 0; i < x->qlen; i++) {
        int64_t q = query_token(c, &a, plan, x->q + i);
        for (int64_t j = 0; j < x->klen; j++)
            if (!x->causal || j <= i + x->klen - x->qlen)
                c->seen[q * c->p.total + keys[j]]++;
    }
    arena_free(&a);
}

/* A plan whose indices are only counted is the same plan. */
static void same_counted(const struct split_case *c, const struct attn_plan *plan, struct arena *a)
{
    struct attn_place at = c->at;
    struct attn_plan counted;
    struct err e = {0};
    at.counted = true;
    assert_ok(attn_plan_make(a, c->p.cu, c->p.sequences + 1, &at, &counted, &e), &e);
    assert_true(!counted.index && !counted.q_index);
    assert_int_equal(counted.indices, plan->indices);
    assert_int_equal(counted.q_indices, plan->q_indices);
    assert_int_equal(plan->q_indices, plan->q_index ? plan->tokens / at.cp : 0);
    assert_int_equal(counted.npieces, plan->npieces);
    for (int64_t i = 0; i < plan->npieces; i++) {
        const struct attn_piece *x = &counted.pieces[i], *y = &plan->pieces[i];
        assert_true(x->q == y->q && x->qlen == y->qlen && x->k == y->k && x->klen == y->klen && x->causal == y->causal);
    }
    assert_memory_equal(counted.calls, plan->calls, (size_t)plan->ncalls * sizeof *plan->calls);
}

static int64_t mark_rank(struct split_case *c, struct arena *a)
{
    struct attn_plan plan;
    struct err e = {0};
    assert_ok(attn_plan_make(a, c->p.cu, c->p.sequences + 1, &c->at, &plan, &e), &e);
    same_counted(c, &plan, a);
    for (int call = 0; call < plan.ncalls; call++)
        for (int64_t i = 0; i < plan.calls[call].n; i++)
            mark_piece(c, &plan, call, &plan.pieces[plan.calls[call].first + i]);
    return attn_plan_work(&plan);
}

static int64_t document(const struct packing *p, int64_t t)
{
    int64_t i = 0;
    while (p->cu[i + 1] <= t)
        i++;
    return i;
}

static void exactly_once(const struct split_case *c)
{
    for (int64_t q = 0; q < c->p.total; q++)
        for (int64_t k = 0; k < c->p.total; k++) {
            int want = k <= q && document(&c->p, q) == document(&c->p, k);
            if (c->seen[q * c->p.total + k] != want)
                fail_msg("split %d, cp %d, ulysses %d: query %lld and key %lld meet %d times, want %d", (int)c->at.split, c->at.cp, c->at.ulysses,
                         (long long)q, (long long)k, c->seen[q * c->p.total + k], want);
        }
}

/* All ranks (of USP one of every group, for the others work on other heads). */
static void check_split(struct split_case c, struct arena *a)
{
    int64_t work = -1;
    c.seen = arena_array(a, unsigned char, c.p.total *c.p.total);
    for (c.at.rank = 0; c.at.rank < c.at.cp; c.at.rank += c.at.split == SPLIT_USP ? c.at.ulysses : 1) {
        int64_t mine = mark_rank(&c, a);
        if (attn_split_zigzag(c.at.split) && work >= 0)
            assert_int_equal(mine, work);
        work = mine;
    }
    exactly_once(&c);
}

static void all_splits(const struct packing *p, int cp, struct arena *a)
{
    for (int s = SPLIT_DIRECT1; s < SPLIT_COUNT; s++)
        for (int u = 1; u <= (s == SPLIT_USP ? cp : 1); u++)
            if (cp % u == 0)
                check_split((struct split_case){.p = *p, .at = {.split = (enum attn_split)s, .cp = cp, .ulysses = u}}, a);
}

TEST(splits_cover_every_pair_once)
{
    PROP(25)
    {
        struct arena a = {0};
        int cp = 1 + (int)rnd(4), n = 1 + (int)rnd(3);
        cp = rnd(4) ? cp : 8;
        struct packing p = {.cu = arena_array(&a, int64_t, n + 1), .sequences = n};
        for (int i = 0; i < n; i++)
            p.cu[i + 1] = p.cu[i] + 2 * cp * (1 + (int64_t)rnd(3));
        p.total = p.cu[n];
        all_splits(&p, cp, &a);
        arena_free(&a);
    }
}

/* Even cuts may go through documents of any length. */
TEST(even_cuts_need_no_divisible_lengths)
{
    struct arena a = {0};
    struct packing p = {.cu = (int64_t[]){0, 7, 14, 16, 33, 40}, .sequences = 5, .total = 40};
    for (int cp = 1; cp <= 8; cp *= 2) {
        check_split((struct split_case){.p = p, .at = {.split = SPLIT_CONTIGUOUS, .cp = cp}}, &a);
        check_split((struct split_case){.p = p, .at = {.split = SPLIT_RING_CONTIGUOUS, .cp = cp}}, &a);
    }
    arena_free(&a);
}

/* seeds/003's sets: equal work on every rank, and how much (spec E.2). */
TEST(work_of_the_seed)
{
    static const struct {
        int64_t ends[3];
        int n, cp;
        int64_t work, pairs;
    } sets[] = {{{16, 40, 72}, 3, 2, 580, 482}, {{32, 80, 144}, 3, 4, 1044, 946}, {{16, 40}, 2, 2, 260, 218}};
    for (size_t i = 0; i < 3; i++)
        for (int rank = 0; rank < sets[i].cp; rank++) {
            struct arena a = {0};
            struct packing p;
            struct attn_plan plan;
            struct err e = {0};
            assert_ok(attn_endpoints(&a, sets[i].ends, sets[i].n, sets[i].cp, &p, &e), &e);
            assert_ok(attn_plan_make(&a, p.cu, p.sequences + 1, &(struct attn_place){SPLIT_DIRECT1, sets[i].cp, rank, 0}, &plan, &e), &e);
            assert_int_equal(attn_plan_work(&plan), sets[i].work);
            assert_int_equal(attn_plan_pairs(&plan), sets[i].pairs);
            assert_int_equal(plan.indices, p.total * (2 * sets[i].cp + 1) / (2 * sets[i].cp));
            arena_free(&a);
        }
}

static void refused(const int64_t *ends, int n, int cp, const char *message)
{
    struct arena a = {0};
    struct packing p;
    struct err e = {0};
    assert_false(attn_endpoints(&a, ends, n, cp, &p, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, message);
    arena_free(&a);
}

TEST(endpoints_are_checked)
{
    refused(NULL, 0, 2, "the list of sequence ends is empty");
    refused((int64_t[]){16, 16}, 2, 2, "sequence end 1 is 16, after 16: must increase");
    refused((int64_t[]){16, 8}, 2, 2, "sequence end 1 is 8, after 16: must increase");
    refused((int64_t[]){0, 16}, 2, 2, "sequence end 0 is 0, after 0: must increase");
    refused((int64_t[]){16, 30}, 2, 2, "sequence end 1 ends 14 tokens: not a multiple of 2 * cp = 4, pad it");
    refused((int64_t[]){16}, 1, 0, "cp size 0: want at least 1");
}

static void plan_refused(const int64_t *cu, int n, struct attn_place at, const char *message)
{
    struct arena a = {0};
    struct attn_plan p;
    struct err e = {0};
    assert_false(attn_plan_make(&a, cu, n, &at, &p, &e));
    assert_string_equal(e.msg, message);
    arena_free(&a);
}

TEST(plans_are_checked)
{
    plan_refused((int64_t[]){8, 16}, 2, (struct attn_place){SPLIT_CONTIGUOUS, 2, 0, 0}, "cu_seqlens[0] is 8: must be 0");
    plan_refused((int64_t[]){0, 16, 8}, 3, (struct attn_place){SPLIT_CONTIGUOUS, 2, 0, 0}, "cu_seqlens[2] is 8, after 16: must not decrease");
    plan_refused((int64_t[]){0, 15}, 2, (struct attn_place){SPLIT_RING_CONTIGUOUS, 2, 0, 0}, "15 tokens are not divisible by cp = 2");
    plan_refused((int64_t[]){0, 16}, 2, (struct attn_place){SPLIT_USP, 4, 0, 3}, "--ulysses 3 does not divide cp = 4");
    plan_refused((int64_t[]){0, 10}, 2, (struct attn_place){SPLIT_DIRECT1, 2, 0, 0},
                 "cu_seqlens[1] ends a sequence of 10 tokens: not a multiple of 2 * cp = 4, pad it");
    plan_refused((int64_t[]){0, 16}, 2, (struct attn_place){SPLIT_DIRECT1, 2, 2, 0}, "cp rank 2: want 0 to 1");
}

/* ---- schedules, padding, prefixes ---- */

/* At every step each block is used by one rank; holder is the inverse of owner; a block moves to a neighbour. */
TEST(rings_are_permutations)
{
    for (int n = 1; n <= 12; n++)
        for (int w = 1; w <= n; w++)
            for (int k = 0; n % w == 0 && k < n; k++)
                for (int r = 0; r < n; r++) {
                    int owner = ring_owner(n, w, r, k);
                    assert_in_range(owner, 0, n - 1);
                    assert_int_equal(ring_holder(n, w, owner, k), r);
                    assert_int_equal(ring_neighbour(n, w, ring_neighbour(n, w, r, k % 2, 1), k % 2, -1), r);
                    if (k)
                        assert_int_not_equal(owner, ring_owner(n, w, r, k - 1));
                }
}

TEST(padded_rows_add_up)
{
    PROP(200)
    {
        struct arena a = {0};
        struct padding p;
        struct err e = {0};
        int cp = 1 + (int)rnd(8), n = 1 + (int)rnd(4);
        int64_t lengths[4], valid = 0, sum = 0;
        for (int i = 0; i < n; i++)
            sum += lengths[i] = (int64_t)rnd(100);
        assert_ok(padding_make(&a, lengths, n, cp, &p, &e), &e);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 2 * cp; j++)
                valid += padding_valid(&p, i, j);
        assert_int_equal(valid, sum);
        assert_int_equal(p.cu_padded[n] - p.cu[n], p.padding);
        assert_true(p.padding >= 0 && p.padding < n * p.divisor && p.cu_padded[n] % p.divisor == 0);
        arena_free(&a);
    }
}

/* ---- the cache ---- */

struct fixture {
    struct device *d;
    struct stream *s;
    struct kv_cache cache;
};

static struct fixture fixture_open(void)
{
    struct err e = {0};
    struct fixture f = {.d = device_open("cpu", 0, 0, &e)};
    assert_non_null(f.d);
    f.s = device_stream(f.d);
    return f;
}

static void fixture_close(struct fixture *f)
{
    kv_cache_clear(&f->cache);
    device_close(f->d);
}

/* One use; gives the number of pieces. */
static int64_t use(struct fixture *f, struct boundaries *q, struct boundaries *kv, struct attn_place at)
{
    struct packed_seqs p;
    struct err e = {0};
    packed_init(&p, q, kv, 16);
    struct attn_meta *m = kv_cache_get(&f->cache, &p, f->s, &at, &e);
    if (!m)
        fail_msg("%s", e.msg);
    int64_t n = m->plan.npieces;
    attn_meta_release(m);
    packed_close(&p);
    return n;
}

static const struct attn_place place = {SPLIT_DIRECT1, 2, 1, 0};
static const int64_t two[] = {0, 8, 16}, one[] = {0, 16, 16};

/* Of `sets` boundary buffers, used in turn five times: how many uses found their plan. */
static int64_t hits(int sets)
{
    struct fixture f = fixture_open();
    struct boundaries *b[12];
    for (int i = 0; i < sets; i++)
        b[i] = boundaries_create(f.s, two, 3);
    for (int i = 0; i < 5 * sets; i++)
        use(&f, b[i % sets], b[i % sets], place);
    struct cache_stats s = f.cache.stats;
    assert_int_equal(s.hits + s.misses, 5 * sets);
    for (int i = 0; i < sets; i++)
        boundaries_close(b[i]);
    fixture_close(&f);
    return s.hits;
}

TEST(eight_sets_hit_and_nine_thrash)
{
    assert_int_equal(hits(1), 4);
    assert_int_equal(hits(KV_CACHE_CAPACITY), 4 * KV_CACHE_CAPACITY);
    assert_int_equal(hits(KV_CACHE_CAPACITY + 1), 0);
    assert_int_equal(hits(KV_CACHE_CAPACITY + 4), 0);
}

TEST(the_least_recently_used_goes)
{
    struct fixture f = fixture_open();
    struct boundaries *b[KV_CACHE_CAPACITY + 1];
    for (int i = 0; i <= KV_CACHE_CAPACITY; i++)
        b[i] = boundaries_create(f.s, two, 3);
    for (int i = 0; i < KV_CACHE_CAPACITY; i++)
        use(&f, b[i], b[i], place);
    use(&f, b[0], b[0], place); /* so that 1 is the oldest */
    use(&f, b[KV_CACHE_CAPACITY], b[KV_CACHE_CAPACITY], place);
    f.cache.stats = (struct cache_stats){0};
    use(&f, b[0], b[0], place);
    assert_int_equal(f.cache.stats.hits, 1);
    use(&f, b[1], b[1], place);
    assert_int_equal(f.cache.stats.misses, 1);
    for (int i = 0; i <= KV_CACHE_CAPACITY; i++)
        boundaries_close(b[i]);
    fixture_close(&f);
}

TEST(what_makes_a_plan_stale)
{
    struct fixture f = fixture_open();
    struct boundaries *b = boundaries_create(f.s, two, 3), *u = boundaries_create_unversioned(f.s, two, 3);
    struct attn_place other = place;
    assert_int_equal(use(&f, b, b, place), 4);
    assert_int_equal(use(&f, b, b, place), 4);
    assert_int_equal(f.cache.stats.hits, 1);
    boundaries_write(b, f.s, 1, (int64_t[]){16}, 1);
    assert_int_equal(use(&f, b, b, place), 2); /* a sequence and an empty slot */
    assert_int_equal(f.cache.stats.rebuilds, 1);
    assert_string_equal(f.cache.stats.reason, "written-in-place");
    struct boundaries *view = boundaries_view(b, 0, 3);
    boundaries_write(view, f.s, 1, (int64_t[]){8}, 1);
    assert_int_equal(use(&f, b, b, place), 4); /* written through a view */
    other.rank = 0;
    use(&f, b, b, other);
    other.split = SPLIT_RING_ZIGZAG;
    use(&f, b, b, other);
    assert_int_equal(f.cache.stats.misses, 3);
    use(&f, u, u, place);
    use(&f, u, u, place);
    assert_int_equal(f.cache.stats.uncached, 2);
    f.cache.stats = (struct cache_stats){0};
    kv_cache_clear(&f.cache);
    use(&f, b, b, place);
    assert_int_equal(f.cache.stats.misses, 1);
    boundaries_close(view);
    boundaries_close(b);
    boundaries_close(u);
    fixture_close(&f);
}

/* q and kv in buffers of their own: equal values are fine, others are not. */
TEST(queries_and_keys_must_agree)
{
    struct fixture f = fixture_open();
    struct boundaries *q = boundaries_create(f.s, two, 3), *same = boundaries_create(f.s, two, 3), *not_same = boundaries_create(f.s, one, 3);
    struct packed_seqs p;
    struct err e = {0};
    assert_int_equal(use(&f, q, same, place), 4);
    packed_init(&p, q, not_same, 16);
    assert_null(kv_cache_get(&f.cache, &p, f.s, &place, &e));
    assert_string_equal(e.msg, "cu_seqlens_kv[1] is 16, cu_seqlens_q has 8: must be equal");
    packed_close(&p);
    packed_init(&p, q, q, 24);
    e = (struct err){0};
    assert_null(kv_cache_get(&f.cache, &p, f.s, &(struct attn_place){SPLIT_WHOLE, 1, 0, 0}, &e));
    assert_string_equal(e.msg, "cu_seqlens_q ends at 16, the micro-batch has 24 tokens");
    packed_close(&p);
    boundaries_close(q);
    boundaries_close(same);
    boundaries_close(not_same);
    fixture_close(&f);
}

UNIT_MAIN(UNIT(splits_cover_every_pair_once), UNIT(even_cuts_need_no_divisible_lengths), UNIT(work_of_the_seed), UNIT(endpoints_are_checked),
          UNIT(plans_are_checked), UNIT(rings_are_permutations), UNIT(padded_rows_add_up), UNIT(eight_sets_hit_and_nine_thrash),
          UNIT(the_least_recently_used_goes), UNIT(what_makes_a_plan_stale), UNIT(queries_and_keys_must_agree))
