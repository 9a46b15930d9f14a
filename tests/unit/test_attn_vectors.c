/* test_attn_vectors.c - the reference-file forms of attention and its layouts: right files pass, any wrong digit is noticed. The
 * texts are small cases of our own, made token by token; those of attention and of the ledger are computed here. */
#include "attn_oracle.h"
#include "vector_judge.h"

extern const struct vector_form vec_attention, vec_kv_allgather, vec_schedules, vec_prefix_split, vec_padding, vec_headwise_perms, vec_ledger;

static const char kv_allgather[] =
    "{\"doc\":\"\",\"load_balanced\":[{\"endpoints\":[4,12],\"cp\":2,\"ranks\":[{\"rank\":0,\"local_tokens\":6,\"full_token"
    "s\":12,\"kv_index\":[0,0,6,7,1,2,3,2,3,8,9,10,11,4,5],\"q_ends\":[1,2,4,6],\"kv_ends\":[1,5,7,15],\"workload_qlen_time"
    "s_kvlen\":25,\"causal_pairs\":23},{\"rank\":1,\"local_tokens\":6,\"full_tokens\":12,\"kv_index\":[0,6,0,6,7,2,3,8,9,2,"
    "3,8,9,10,11],\"q_ends\":[1,2,4,6],\"kv_ends\":[2,5,9,15],\"workload_qlen_times_kvlen\":25,\"causal_pairs\":23}]}],\"co"
    "ntiguous_baseline\":[{\"endpoints\":[4,12],\"cp\":2,\"ranks\":[{\"rank\":0,\"q_ends\":[4,6],\"kv_ends\":[4,6],\"kv_ran"
    "ge\":[0,6],\"workload_qlen_times_kvlen\":20,\"causal_pairs\":13},{\"rank\":1,\"q_ends\":[6],\"kv_ends\":[8],\"kv_range"
    "\":[4,12],\"workload_qlen_times_kvlen\":48,\"causal_pairs\":33}]}]}";

static const char schedules[] =
    "{\"ring_kv_owner\":{\"2\":[[0,1],[1,0]]},\"double_ring\":[{\"cp\":4,\"window\":2,\"kv_owner\":[[0,1,2,3],[1,0,3,2],[2,"
    "3,0,1],[3,2,1,0]]}],\"usp\":[{\"ulysses\":2,\"ring\":2,\"ulysses_groups\":[[0,1],[2,3]],\"ring_groups\":[[0,2],[1,3]],"
    "\"T\":8,\"shard_rows\":[[0,1],[6,7],[2,3],[4,5]]}],\"log_prefix_rounds_src_dst\":{\"3\":[[[0,1],[1,2]],[[0,2]]]}}";

static const char prefix[] = "[{\"cu_seqlens\":[0,5,6],\"cp\":2,\"ranks\":[{\"rank\":0,\"cu_q\":[0,3],\"cu_k\":[0,3],\"k_slice\":[0,3],\"max_q\":3,\""
                             "max_k\":3},{\"rank\":1,\"cu_q\":[0,2,3],\"cu_k\":[0,5,6],\"k_slice\":[0,6],\"max_q\":2,\"max_k\":5}]}]";

static const char padding[] = "{\"doc\":\"\",\"cases\":[{\"real\":[7,2],\"cp\":2,\"divisor\":4,\"cu\":[0,7,9],\"cu_padded\":[0,8,12],\"ranks\":[{\"ra"
                              "nk\":0,\"valid_first_chunk\":[2,1],\"valid_second_chunk\":[1,0],\"valid\":[3,1],\"floor_len_over_cp\":[3,1]},{\"rank\""
                              ":1,\"valid_first_chunk\":[2,1],\"valid_second_chunk\":[2,0],\"valid\":[4,1],\"floor_len_over_cp\":[3,1]}]}]}";

static const char perms[] = "{\"head_perm\":[{\"sections\":[2,4],\"cp\":2,\"perm\":[0,2,3,1,4,5]}],\"token_perm\":[{\"cu_seqlens\":[0,4,12],\"cp\":"
                            "2,\"rank_major_to_sequence_gather\":[0,6,7,1,2,3,8,9,10,11,4,5],\"sequence_to_rank_major_gather\":[0,3,4,5,10,11,1,2,6"
                            ",7,8,9]}]}";

/* One layer, two micro-batches, two forward passes, cp 2: four forwards, eight conversions. */
static const char ledger[] =
    "{\"sync\":[{\"L\":1,\"B\":2,\"passes\":2,\"cp\":2,\"conversions\":8,\"rank_index_ops\":256,\"explicit_nonzero_ops\":16,\"swap_body_ops\":24,"
    "\"layout_ops_reported\":272,\"layout_ops_all\":296,\"resolve_ops\":24,\"total_ops\":320,\"resolve_ops_cached\":12,\"total_ops_cached\":12,"
    "\"item_only_rank_index\":128,\"item_only_resolve\":16,\"item_only_swap\":8,\"device_syncs_layout\":232,\"device_syncs_resolve\":16}],"
    "\"collectives\":[{\"L\":1,\"B\":2,\"packed_seqs\":3,\"fwd_passes\":2,\"chunkwise_a2a\":12,\"chunkwise_allgather\":12,\"chunkwise_total\":24,"
    "\"replicated_total\":6,\"headwise_per_seq_total\":63,\"headwise_fused_total\":12}]}";

TEST(right_files_pass)
{
    right(&vec_kv_allgather, kv_allgather, 2 * 7 + 2 * 5);
    right(&vec_schedules, schedules, 2 + 2 + 2 + 4 + 2);
    right(&vec_prefix_split, prefix, 2 * 5);
    right(&vec_padding, padding, 4 + 2 * 4);
    right(&vec_headwise_perms, perms, 1 + 2);
    right(&vec_ledger, ledger, 15 + 6);
}

TEST(wrong_numbers_are_noticed)
{
    every_digit(&vec_kv_allgather, kv_allgather);
    every_digit(&vec_schedules, schedules);
    every_digit(&vec_prefix_split, prefix);
    every_digit(&vec_padding, padding);
    every_digit(&vec_headwise_perms, perms);
    every_digit(&vec_ledger, ledger);
}

/* ---- attention ---- */

enum { T = 8, H = 2, D = 3, E = 2 }; /* one key head; one document on two ranks: chunks of 2 */

struct text {
    char p[20000];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->p + t->n, sizeof t->p - t->n, fmt, ap);
    va_end(ap);
}

static void put_reals(struct text *t, const char *key, const double *x, int n)
{
    put(t, ",\"%s\":[", key);
    for (int i = 0; i < n; i++)
        put(t, "%s%.17g", i ? "," : "", isinf(x[i]) ? -1e30 : x[i]);
    put(t, "]");
}

static void put_floats(struct text *t, const char *key, const float *x, int n)
{
    double d[T * H * D];
    for (int i = 0; i < n; i++)
        d[i] = x[i];
    put_reals(t, key, d, n);
}

struct whole {
    float q[T * H * D], k[T * D], v[T * E], d_o[T * H * E];
    double o[T * H * E], lse[T * H], dq[T * H * D], dk[T * D], dv[T * E];
};

static struct attn_oracle oracle_of(struct whole *w, const bool *see)
{
    return (struct attn_oracle){T, T, H, 1, D, E, see, 0.5, w->q, w->k, w->v, w->d_o, w->o, w->lse, w->dq, w->dk, w->dv};
}

static int chunk_owner(int t)
{
    return t / 2 == 0 || t / 2 == 3 ? 0 : 1;
}

/* One step: the log-sum-exp of rank's rows over the keys of one owner. */
static void put_step(struct text *t, struct whole *w, int rank, int k)
{
    bool see[T * T] = {0};
    double lse[T * H];
    int pairs = 0, n = 0, owner = k ? 1 - rank : rank;
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++)
            if (chunk_owner(i) == rank && chunk_owner(j) == owner)
                see[i * T + j] = true, pairs++;
    struct whole part = *w;
    struct attn_oracle a = oracle_of(&part, see);
    attn_oracle(&a);
    for (int i = 0; i < T * H; i++)
        if (chunk_owner(i / H) == rank)
            lse[n++] = part.lse[i];
    put(t, "%s{\"step\":%d,\"kv_owner\":%d,\"unmasked_pairs\":%d,\"kind\":\"%s\"", k ? "," : "", k, owner, pairs,
        owner == rank  ? "diagonal"
        : owner < rank ? "lower: all"
                       : "upper: half");
    put_reals(t, "lse", lse, n);
    put(t, "}");
}

static const char *attention_text(void)
{
    static struct text t;
    static struct whole w;
    bool see[T * T] = {0};
    unit_prop("attention_text");
    float *const all[] = {w.q, w.k, w.v, w.d_o};
    const int sizes[] = {T * H * D, T * D, T * E, T * H * E};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < sizes[k]; i++)
            all[k][i] = (float)rnd_real();
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++)
            see[i * T + j] = true;
    struct attn_oracle a = oracle_of(&w, see);
    attn_oracle(&a);
    t.n = 0;
    put(&t, "{\"doc\":\"\",\"cases\":[{\"name\":\"x\",\"cu_seqlens\":[0,8],\"cp\":2,\"H\":2,\"Hk\":1,\"d\":3,\"e\":2,\"scale\":0.5");
    put_floats(&t, "q", w.q, T * H * D), put_floats(&t, "k", w.k, T * D), put_floats(&t, "v", w.v, T * E), put_floats(&t, "d_out", w.d_o, T * H * E);
    put_reals(&t, "out", w.o, T * H * E), put_reals(&t, "lse", w.lse, T * H), put_reals(&t, "dq", w.dq, T * H * D);
    put_reals(&t, "dk", w.dk, T * D), put_reals(&t, "dv", w.dv, T * E);
    put(&t, ",\"ring\":[");
    for (int rank = 0; rank < 2; rank++) {
        put(&t, "%s{\"rank\":%d,\"rows\":[%s],\"steps\":[", rank ? "," : "", rank, rank ? "2,3,4,5" : "0,1,6,7");
        put_step(&t, &w, rank, 0);
        put_step(&t, &w, rank, 1);
        put(&t, "]}");
    }
    put(&t, "]}]}");
    return t.p;
}

/* The first digit behind `key` (the `nth` place where it stands) changed. */
static void damaged(const char *key, int nth)
{
    char *text = strdup(attention_text()), *p = text;
    for (int i = 0; i <= nth; i++)
        p = strstr(p, key) + strlen(key);
    while (!isdigit((unsigned char)*p))
        p++;
    *p = *p == '9' ? '1' : (char)(*p + 1);
    struct outcome o = judge(&vec_attention, text);
    if (o.taken && !o.bad)
        fail_msg("attention: not noticed behind %s", key);
    free(text);
}

TEST(attention_passes_and_notices)
{
    static const char *const keys[] = {
        "\"out\":", "\"lse\":", "\"dq\":", "\"dk\":", "\"dv\":", "\"q\":", "\"scale\":", "\"rows\":", "\"kv_owner\":", "\"unmasked_pairs\":"};
    right(&vec_attention, attention_text(), 2 * 5 + 2 * (1 + 2 * 5));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        damaged(keys[i], 0);
    for (int step = 1; step < 5; step++)
        damaged("\"lse\":", step);
}

UNIT_MAIN(UNIT(right_files_pass), UNIT(wrong_numbers_are_noticed), UNIT(attention_passes_and_notices))
