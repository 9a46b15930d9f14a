/* vec_ledger.c - what modes declare, against the counts of seeds/000: host reads of the two routes, collectives.
 *
 * `item` alone is not declared by itself; a rank-index call has 4 of them (spec D.3), a swap 1, a resolution 2 a buffer.
 */
#include "kernels/modes/expect.h"
#include "kernels/vectors/case_list.h"

#include <string.h>

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"sync", "collectives", NULL};
    return vec_has(root, keys);
}

struct setting {
    int64_t layers, batches, passes, cp, sequences; /* sequences over all micro-batches */
};

/* Sequences of 2 cp tokens, spread over the micro-batches as evenly as their number allows. */
static struct packing *packs_of(const struct setting *x, struct arena *a)
{
    struct packing *p = arena_array(a, struct packing, x->batches);
    for (int64_t b = 0; b < x->batches; b++) {
        int64_t n = x->sequences / x->batches + (b < x->sequences % x->batches), length = 2 * x->cp * 8;
        p[b] = (struct packing){.cu = arena_array(a, int64_t, n + 1), .sequences = n, .total = n * length};
        for (int64_t i = 0; i < n; i++)
            p[b].cu[i + 1] = (i + 1) * length;
    }
    return p;
}

static bool declare(const char *mode, const struct setting *x, bool naive, struct arena *a, struct expect *out, struct err *e)
{
    const struct cp_mode *m = mode_find(mode, e);
    struct cp_shape s = {.cp = (int)x->cp,
                         .tokens = 2 * x->cp * 64,
                         .hidden = 64,
                         .kheads = 64,
                         .vheads = 64,
                         .dk = 8,
                         .dv = 8,
                         .conv = 4,
                         .layers = x->layers,
                         .microbatches = x->batches,
                         .recompute = x->passes == 2,
                         .route = naive ? ROUTE_NAIVE : ROUTE_INTERVAL,
                         .boundaries_cached = !naive,
                         .packs = packs_of(x, a)};
    *out = (struct expect){0};
    if (m)
        m->expect(&s, 0, out);
    return m != NULL;
}

/* Sum of the counts of `what` whose kind is `kind` (NULL: of all kinds). */
static int64_t count(const struct expect *x, const char *what, const char *kind)
{
    int64_t n = 0;
    for (int i = 0; i < x->n; i++)
        if (!strcmp(x->rows[i].what, what) && (!kind || !strcmp(x->rows[i].kind, kind)))
            n += x->rows[i].count;
    return n;
}

struct quantity {
    const char *key;
    int64_t got;
};

static bool compare(const struct jtree *one, const struct vec_out *o, const struct quantity *q, struct err *e)
{
    for (; q->key; q++) {
        int64_t want;
        if (!vec_int(one, q->key, 0, INT64_MAX, &want, e))
            return false;
        case_number(o, q->key, q->got, want);
    }
    return true;
}

static bool sync_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    static const char index[] = "thd_rank_indices", swap[] = "zigzag_contiguous_swap", resolve[] = "resolve_cu_seqlens";
    struct setting s;
    struct expect before, after;
    if (!vec_int(one, "L", 1, 10000, &s.layers, e) || !vec_int(one, "B", 1, 10000, &s.batches, e) || !vec_int(one, "passes", 1, 2, &s.passes, e) ||
        !vec_int(one, "cp", 1, CASE_CP_MAX, &s.cp, e))
        return false;
    s.sequences = s.batches;
    if (!declare("gdn.chunkwise", &s, true, a, &before, e) || !declare("gdn.chunkwise", &s, false, a, &after, e))
        return false;
    int64_t conversions = 2 * s.layers * s.batches * s.passes, nonzero = conversions * s.cp, swaps = count(&before, "op_sync", swap);
    return compare(one, o,
                   (const struct quantity[]){{"conversions", swaps / (2 * s.cp + 1)},
                                             {"rank_index_ops", count(&before, "op_sync", index)},
                                             {"explicit_nonzero_ops", nonzero},
                                             {"swap_body_ops", swaps - nonzero},
                                             {"layout_ops_reported", count(&before, "op_sync", index) + nonzero},
                                             {"layout_ops_all", count(&before, "op_sync", index) + swaps},
                                             {"resolve_ops", count(&before, "op_sync", resolve)},
                                             {"total_ops", count(&before, "op_sync", NULL)},
                                             {"resolve_ops_cached", count(&after, "op_sync", resolve)},
                                             {"total_ops_cached", count(&after, "op_sync", NULL)},
                                             {"item_only_rank_index", count(&before, "op_sync", index) / 16 * 8},
                                             {"item_only_resolve", count(&before, "op_sync", resolve) / 6 * 4},
                                             {"item_only_swap", swaps / (2 * s.cp + 1)},
                                             {"device_syncs_layout", count(&before, "wait_sync", index) + count(&before, "wait_sync", swap)},
                                             {"device_syncs_resolve", count(&before, "wait_sync", resolve)},
                                             {0}},
                   e);
}

static bool collectives_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    static const char *const modes_[] = {"gdn.chunkwise", "gdn.replicated_allgather", "gdn.headwise.per_seq", "gdn.headwise.fused"};
    struct setting s = {.cp = 4};
    struct expect x[4];
    if (!vec_int(one, "L", 1, 10000, &s.layers, e) || !vec_int(one, "B", 1, 10000, &s.batches, e) ||
        !vec_int(one, "fwd_passes", 1, 2, &s.passes, e) || !vec_int(one, "packed_seqs", s.batches, 1 << 20, &s.sequences, e))
        return false;
    for (int i = 0; i < 4; i++)
        if (!declare(modes_[i], &s, false, a, &x[i], e))
            return false;
    return compare(one, o,
                   (const struct quantity[]){{"chunkwise_a2a", count(&x[0], "comm", "all_to_all_v")},
                                             {"chunkwise_allgather", count(&x[0], "comm", "all_gather")},
                                             {"chunkwise_total", count(&x[0], "comm", NULL)},
                                             {"replicated_total", count(&x[1], "comm", NULL)},
                                             {"headwise_per_seq_total", count(&x[2], "comm", NULL)},
                                             {"headwise_fused_total", count(&x[3], "comm", NULL)},
                                             {0}},
                   e);
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return case_each(jtree_get(root, "sync"), "sync ", file, t, sync_case, e) &&
           case_each(jtree_get(root, "collectives"), "collectives ", file, t, collectives_case, e);
}

const struct vector_form vec_ledger = {.name = "ledger", .what = "declared host reads and collectives of the seed", .sniff = sniff, .run = run};
