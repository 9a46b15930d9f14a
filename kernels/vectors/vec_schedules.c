/* vec_schedules.c - who uses whose keys at which step, USP's groups and shards, the rounds of a prefix. */
#include "kernels/layout/schedule.h"
#include "kernels/vectors/case_list.h"

#include <stdlib.h>

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"ring_kv_owner", "double_ring", "usp", "log_prefix_rounds_src_dst", NULL};
    return vec_has(root, keys);
}

/* The number of ranks that the key of a member is. */
static bool ranks_of(const char *key, int *n, struct err *e)
{
    char *end;
    long v = strtol(key, &end, 10);
    *n = (int)v;
    return (!*end && v >= 1 && v <= CASE_CP_MAX) || fail(e, ERR_FAIL, "%s: not a number of ranks", key);
}

static bool compare_owners(const struct vec_out *o, const struct jtree *want, int n, int window, struct arena *a, struct err *e)
{
    struct int_list list;
    int64_t *owner = arena_array(a, int64_t, n * n), *holder = arena_array(a, int64_t, n * n);
    if (!int_list(want, "kv_owner", a, &list, e))
        return false;
    for (int r = 0; r < n; r++)
        for (int k = 0; k < n; k++) {
            owner[r * n + k] = ring_owner(n, window, r, k);
            holder[ring_holder(n, window, r, k) * n + k] = r;
        }
    case_compare(o, "kv_owner", owner, n * n, &list);
    case_compare(o, "kv_owner by holder", holder, n * n, &list);
    return true;
}

static bool rings(const struct jtree *all, const char *file, struct table *t, struct err *e)
{
    for (size_t i = 0; jtree_key(all, i); i++) {
        struct arena a = {0};
        int n;
        struct vec_out o = {t, file, table_text(t, "ring %s", jtree_key(all, i))};
        bool ok = ranks_of(jtree_key(all, i), &n, e) && compare_owners(&o, jtree_get(all, jtree_key(all, i)), n, n, &a, e);
        arena_free(&a);
        if (!ok)
            return false;
    }
    return true;
}

static bool double_ring(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    int64_t cp, window;
    if (!vec_int(one, "cp", 1, CASE_CP_MAX, &cp, e) || !vec_int(one, "window", 1, cp, &window, e))
        return false;
    if (cp % window)
        return fail(e, ERR_FAIL, "window: does not divide cp");
    return compare_owners(o, jtree_get(one, "kv_owner"), (int)cp, (int)window, a, e);
}

static bool usp_groups(const struct jtree *one, const struct vec_out *o, int u, int ring, struct arena *a, struct err *e)
{
    struct int_list ulysses, rings_;
    int64_t *by_ulysses = arena_array(a, int64_t, u * ring), *by_ring = arena_array(a, int64_t, u * ring);
    if (!int_member(one, "ulysses_groups", a, &ulysses, e) || !int_member(one, "ring_groups", a, &rings_, e))
        return false;
    for (int g = 0; g < ring; g++)
        for (int i = 0; i < u; i++) {
            by_ulysses[g * u + i] = usp_group_rank(u, g, i);
            by_ring[i * ring + g] = usp_ring_rank(u, i, g);
        }
    case_compare(o, "ulysses_groups", by_ulysses, u * ring, &ulysses);
    case_compare(o, "ring_groups", by_ring, u * ring, &rings_);
    return true;
}

static bool usp(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    int64_t u, ring, T;
    const struct jtree *rows = jtree_get(one, "shard_rows");
    if (!vec_int(one, "ulysses", 1, CASE_CP_MAX, &u, e) || !vec_int(one, "ring", 1, CASE_CP_MAX, &ring, e) ||
        !vec_int(one, "T", 1, CASE_TOKENS_MAX, &T, e) || !usp_groups(one, o, (int)u, (int)ring, a, e))
        return false;
    for (int r = 0; r < (int)(u * ring); r++) {
        struct int_list want;
        struct vec_out mine = case_rank(o, r);
        int64_t *got = usp_shard_rows(a, T, (int)u, (int)ring, r, e);
        if (!got || !int_list(jtree_at(rows, (size_t)r), "shard_rows", a, &want, e))
            return false;
        case_compare(&mine, "shard_rows", got, T / (u * ring), &want);
    }
    return true;
}

/* [source, destination] of every message, round by round. */
static bool prefix(const struct vec_out *o, const struct jtree *want, int n, struct arena *a, struct err *e)
{
    struct int_list list;
    int64_t *got = arena_array(a, int64_t, 2 * n * (prefix_rounds(n) + 1)), m = 0;
    if (!int_list(want, "rounds", a, &list, e))
        return false;
    for (int round = 0; round < prefix_rounds(n); round++)
        for (int r = 0; r + (1 << round) < n; r++) {
            got[m++] = r;
            got[m++] = r + (1 << round);
        }
    case_compare(o, "source and destination", got, m, &list);
    case_number(o, "rounds", prefix_rounds(n), (int64_t)jtree_len(want));
    return true;
}

static bool prefixes(const struct jtree *all, const char *file, struct table *t, struct err *e)
{
    for (size_t i = 0; jtree_key(all, i); i++) {
        struct arena a = {0};
        int n;
        struct vec_out o = {t, file, table_text(t, "prefix %s", jtree_key(all, i))};
        bool ok = ranks_of(jtree_key(all, i), &n, e) && prefix(&o, jtree_get(all, jtree_key(all, i)), n, &a, e);
        arena_free(&a);
        if (!ok)
            return false;
    }
    return true;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return rings(jtree_get(root, "ring_kv_owner"), file, t, e) &&
           case_each(jtree_get(root, "double_ring"), "double ring ", file, t, double_ring, e) &&
           case_each(jtree_get(root, "usp"), "usp ", file, t, usp, e) && prefixes(jtree_get(root, "log_prefix_rounds_src_dst"), file, t, e);
}

const struct vector_form vec_schedules = {
    .name = "schedules", .what = "owners of keys in rings, groups and shards of USP, rounds of a prefix", .sniff = sniff, .run = run};
