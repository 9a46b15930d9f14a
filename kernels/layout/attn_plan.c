/* attn_plan.c - one planner per split, by table; all of them append pieces to calls. */
#include "kernels/layout/attn_plan.h"

#include <inttypes.h>
#include <string.h>

struct planner {
    struct arena *a;
    const struct packing *p;
    const struct attn_place *at;
    struct attn_plan *out;
};

/* Room for all pieces and calls. */
static void begin(struct planner *x, int64_t pieces, int calls)
{
    x->out->pieces = arena_array(x->a, struct attn_piece, pieces);
    x->out->calls = arena_array(x->a, struct attn_call, calls);
}

static void begin_call(struct planner *x)
{
    x->out->calls[x->out->ncalls++] = (struct attn_call){.first = x->out->npieces};
}

static void add(struct planner *x, struct attn_piece piece)
{
    struct attn_call *c = &x->out->calls[x->out->ncalls - 1];
    if (piece.qlen <= 0 || piece.klen <= 0)
        return;
    x->out->pieces[x->out->npieces++] = piece;
    c->n++;
    c->pairs += attn_piece_pairs(&piece);
    c->work += piece.qlen * piece.klen;
}

/* NULL: only counted. */
static int64_t *new_index(struct planner *x, int64_t n)
{
    return x->at->counted ? NULL : arena_array(x->a, int64_t, n);
}

static void append_run(int64_t *index, int64_t *n, int64_t start, int64_t length)
{
    for (int64_t i = 0; index && i < length; i++)
        index[*n + i] = start + i;
    *n += length;
}

static int64_t sequence_length(const struct packing *p, int64_t i)
{
    return p->cu[i + 1] - p->cu[i];
}

/* First rank-major row of chunk j of sequence i, zigzag over cp ranks. */
static int64_t chunk_row(const struct packing *p, int cp, int64_t i, int64_t j)
{
    int64_t owner = j < cp ? j : 2 * cp - 1 - j, chunk = sequence_length(p, i) / (2 * cp);
    return owner * (p->total / cp) + p->cu[i] / cp + (j < cp ? 0 : chunk);
}

static void plan_whole(struct planner *x)
{
    begin(x, x->p->sequences, 1);
    begin_call(x);
    for (int64_t i = 0; i < x->p->sequences; i++)
        add(x, (struct attn_piece){x->p->cu[i], sequence_length(x->p, i), x->p->cu[i], sequence_length(x->p, i), true});
}

/* ---- all-gather of K/V, zigzag ---- */

/* The local chunk in slot 0 or 1 of sequence i against its prefix, which is appended to the index. */
static void add_direct(struct planner *x, int64_t i, int slot)
{
    int cp = x->at->cp;
    int64_t chunk = sequence_length(x->p, i) / (2 * cp), last = slot ? 2 * cp - 1 - x->at->rank : x->at->rank, from = x->out->indices;
    for (int64_t j = 0; j <= last; j++)
        append_run(x->out->index, &x->out->indices, chunk_row(x->p, cp, i, j), chunk);
    add(x, (struct attn_piece){x->p->cu[i] / cp + slot * chunk, chunk, from, x->out->indices - from, true});
}

static void plan_direct1(struct planner *x)
{
    begin(x, 2 * x->p->sequences, 1);
    x->out->index = new_index(x, x->p->total * (2 * x->at->cp + 1) / (2 * x->at->cp));
    begin_call(x);
    for (int64_t i = 0; i < x->p->sequences; i++)
        for (int slot = 0; slot < 2; slot++)
            add_direct(x, i, slot);
}

static void plan_direct2(struct planner *x)
{
    begin(x, 2 * x->p->sequences, 2);
    x->out->index = new_index(x, x->p->total * (2 * x->at->cp + 1) / (2 * x->at->cp));
    for (int slot = 0; slot < 2; slot++) {
        begin_call(x);
        for (int64_t i = 0; i < x->p->sequences; i++)
            add_direct(x, i, slot);
    }
}

static void plan_reorder2(struct planner *x)
{
    int cp = x->at->cp;
    begin(x, 2 * x->p->sequences, 2);
    x->out->index = new_index(x, x->p->total);
    x->out->q_index = new_index(x, x->p->total / cp);
    for (int64_t i = 0; i < x->p->sequences; i++)
        for (int64_t j = 0; j < 2 * cp; j++)
            append_run(x->out->index, &x->out->indices, chunk_row(x->p, cp, i, j), sequence_length(x->p, i) / (2 * cp));
    for (int slot = 0; slot < 2; slot++) {
        begin_call(x);
        for (int64_t i = 0; i < x->p->sequences; i++) {
            int64_t chunk = sequence_length(x->p, i) / (2 * cp), last = slot ? 2 * cp - 1 - x->at->rank : x->at->rank;
            add(x, (struct attn_piece){x->out->q_indices, chunk, x->p->cu[i], (last + 1) * chunk, true});
            append_run(x->out->q_index, &x->out->q_indices, x->p->cu[i] / cp + slot * chunk, chunk);
        }
    }
}

/* ---- cut evenly ---- */

/* Rows [*from, *to) of sequence i inside global rows [low, high); empty when they do not meet. */
static void clip(const struct packing *p, int64_t i, int64_t low, int64_t high, int64_t *from, int64_t *to)
{
    *from = p->cu[i] > low ? p->cu[i] : low;
    *to = p->cu[i + 1] < high ? p->cu[i + 1] : high;
}

static void plan_contiguous(struct planner *x)
{
    int64_t rows = x->p->total / x->at->cp, low = x->at->rank * rows, from, to;
    begin(x, x->p->sequences, 1);
    begin_call(x);
    for (int64_t i = 0; i < x->p->sequences; i++) {
        clip(x->p, i, low, low + rows, &from, &to);
        add(x, (struct attn_piece){from - low, to - from, x->p->cu[i], to - x->p->cu[i], true});
    }
}

static void plan_ring_contiguous(struct planner *x)
{
    int64_t rows = x->p->total / x->at->cp, low = x->at->rank * rows, from, to, k_from, k_to;
    begin(x, x->at->cp * x->p->sequences, x->at->cp);
    for (int owner = 0; owner < x->at->cp; owner++) {
        begin_call(x);
        for (int64_t i = 0; owner <= x->at->rank && i < x->p->sequences; i++) {
            clip(x->p, i, low, low + rows, &from, &to);
            clip(x->p, i, owner * rows, (owner + 1) * rows, &k_from, &k_to);
            add(x, (struct attn_piece){from - low, to - from, k_from - owner * rows, k_to - k_from, owner == x->at->rank});
        }
    }
}

/* ---- rings of zigzag shards ---- */

static void ring_zigzag(struct planner *x, int n, int me)
{
    begin(x, n * x->p->sequences, n);
    for (int owner = 0; owner < n; owner++) {
        begin_call(x);
        for (int64_t i = 0; i < x->p->sequences; i++) {
            int64_t at = x->p->cu[i] / n, chunk = sequence_length(x->p, i) / (2 * n);
            if (owner == me)
                add(x, (struct attn_piece){at, 2 * chunk, at, 2 * chunk, true});
            else if (owner < me)
                add(x, (struct attn_piece){at, 2 * chunk, at, chunk, false});
            else
                add(x, (struct attn_piece){at + chunk, chunk, at, 2 * chunk, false});
        }
    }
}

static void plan_ring_zigzag(struct planner *x)
{
    ring_zigzag(x, x->at->cp, x->at->rank);
}

/* A group of u consecutive ranks holds the chunks of one shard of the ring, in rank-major order. */
static void plan_usp(struct planner *x)
{
    int cp = x->at->cp, u = x->at->ulysses, first = x->at->rank / u * u;
    x->out->index = new_index(x, x->p->total / (cp / u));
    for (int64_t i = 0; i < x->p->sequences; i++)
        for (int k = 0; k < 2 * u; k++) {
            int64_t j = k < u ? first + k : 2 * cp - first - u + (k - u);
            append_run(x->out->index, &x->out->indices, chunk_row(x->p, cp, i, j) - first * (x->p->total / cp), sequence_length(x->p, i) / (2 * cp));
        }
    ring_zigzag(x, cp / u, x->at->rank / u);
}

/* ---- all of them ---- */

static const struct {
    void (*plan)(struct planner *x);
    bool zigzag;
} splits[SPLIT_COUNT] = {
    [SPLIT_WHOLE] = {plan_whole, false},
    [SPLIT_DIRECT1] = {plan_direct1, true},
    [SPLIT_DIRECT2] = {plan_direct2, true},
    [SPLIT_REORDER2] = {plan_reorder2, true},
    [SPLIT_CONTIGUOUS] = {plan_contiguous, false},
    [SPLIT_RING_ZIGZAG] = {plan_ring_zigzag, true},
    [SPLIT_RING_CONTIGUOUS] = {plan_ring_contiguous, false},
    [SPLIT_USP] = {plan_usp, true},
};

bool attn_split_zigzag(enum attn_split s)
{
    return splits[s].zigzag;
}

bool attn_plan_make(struct arena *a, const int64_t *cu, int64_t entries, const struct attn_place *at, struct attn_plan *out, struct err *e)
{
    struct packing p;
    enum layout l = splits[at->split].zigzag ? LAYOUT_ZIGZAG : LAYOUT_CONTIGUOUS;
    if (!layout_check_place(entries, at->cp, at->rank, l, e))
        return false;
    if (splits[at->split].zigzag ? !packing_check(a, cu, entries, at->cp, at->rank, l, &p, e) : !packing_compact(a, cu, entries, &p, e))
        return false;
    if (p.total % at->cp)
        return fail(e, ERR_USAGE, "%" PRId64 " tokens are not divisible by cp = %d", p.total, at->cp);
    if (at->split == SPLIT_USP && (at->ulysses < 1 || at->cp % at->ulysses))
        return fail(e, ERR_USAGE, "--ulysses %d does not divide cp = %d", at->ulysses, at->cp);
    *out = (struct attn_plan){.tokens = p.total};
    struct planner x = {a, &p, at, out};
    splits[at->split].plan(&x);
    return true;
}

static int64_t over_calls(const struct attn_plan *p, bool pairs)
{
    int64_t sum = 0;
    for (int i = 0; i < p->ncalls; i++)
        sum += pairs ? p->calls[i].pairs : p->calls[i].work;
    return sum;
}

int64_t attn_plan_work(const struct attn_plan *p)
{
    return over_calls(p, false);
}

int64_t attn_plan_pairs(const struct attn_plan *p)
{
    return over_calls(p, true);
}

bool attn_endpoints(struct arena *a, const int64_t *ends, int64_t n, int cp, struct packing *out, struct err *e)
{
    if (cp < 1)
        return fail(e, ERR_USAGE, "cp size %d: want at least 1", cp);
    if (n < 1)
        return fail(e, ERR_USAGE, "the list of sequence ends is empty");
    *out = (struct packing){.cu = arena_array(a, int64_t, n + 1), .sequences = n, .total = ends[n - 1]};
    for (int64_t i = 0; i < n; i++) {
        int64_t length = ends[i] - out->cu[i];
        if (length <= 0)
            return fail(e, ERR_USAGE, "sequence end %" PRId64 " is %" PRId64 ", after %" PRId64 ": must increase", i, ends[i], out->cu[i]);
        if (length % (2 * (int64_t)cp))
            return fail(e, ERR_USAGE, "sequence end %" PRId64 " ends %" PRId64 " tokens: not a multiple of 2 * cp = %d, pad it", i, length, 2 * cp);
        out->cu[i + 1] = ends[i];
    }
    return true;
}
