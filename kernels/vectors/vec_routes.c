/* vec_routes.c - both routes of every rank, built on real ranks: row lists and splits. */
#include "kernels/layout/route_naive.h"
#include "kernels/vectors/layout_case.h"

#include <string.h>

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"cu_seqlens", "cp", "source", "target", "ranks", NULL};
    const struct jtree *cases = vec_cases(root);
    return cases && vec_has(jtree_at(cases, 0), keys);
}

/* A route brought home. */
struct found {
    int64_t *send_rows, *recv_rows; /* NULL: identity */
    int64_t *send_split, *recv_split;
    int64_t rows;
    bool there;
};

struct rank_part {
    struct arena arena; /* of the rank's thread */
    struct found interval, naive;
};

struct job {
    struct comm_world *world;
    struct int_list cu;
    int cp;
    int64_t rows;
    enum layout source, target;
    struct rank_part *part; /* [cp] */
};

static int64_t *list_home(struct arena *a, struct stream *s, const int64_t *index, int64_t n)
{
    if (!index)
        return NULL;
    int64_t *v = arena_array(a, int64_t, n + 1);
    if (n > 0)
        dev_download(s, v, index, (size_t)n * sizeof *v, SITE_HERE);
    return v;
}

static struct found bring_home(struct arena *a, struct stream *s, const struct route *r)
{
    struct found f = {.rows = r->rows, .there = true};
    f.send_rows = list_home(a, s, r->send_index, r->rows);
    f.recv_rows = list_home(a, s, r->recv_index, r->rows);
    f.send_split = memcpy(arena_array(a, int64_t, r->cp), r->send_split, (size_t)r->cp * sizeof(int64_t));
    f.recv_split = memcpy(arena_array(a, int64_t, r->cp), r->recv_split, (size_t)r->cp * sizeof(int64_t));
    return f;
}

static bool build_both(const struct job *j, struct rank_part *out, struct comm *c, struct stream *s, const struct boundaries *b, struct err *e)
{
    struct route *r = route_build(b, s, j->cp, comm_rank(c), j->source, j->target, e);
    if (!r)
        return false;
    out->interval = bring_home(&out->arena, s, r);
    route_release(r);
    struct device *d = stream_device(s);
    float *x = dev_alloc(d, (size_t)(j->rows + 1) * sizeof *x);
    dev_set_async(s, x, 0, (size_t)(j->rows + 1) * sizeof *x);
    float *y = zigzag_contiguous_swap(c, s, b, j->source, x, j->rows, 1, &r, e);
    if (y && r)
        out->naive = bring_home(&out->arena, s, r);
    route_release(r);
    if (y != x)
        dev_free(d, y);
    dev_free(d, x);
    return y;
}

static bool rank_main(int rank, void *ctx, struct err *e)
{
    const struct job *j = ctx;
    struct device *d = device_open("cpu", rank, rank, e);
    struct comm *c = d ? comm_open(j->world, rank, "cp", e) : NULL;
    bool ok = false;
    if (c) {
        struct boundaries *b = boundaries_create(device_stream(d), j->cu.v, (int64_t)j->cu.n);
        ok = build_both(j, &j->part[rank], c, device_stream(d), b, e);
        boundaries_close(b);
    }
    comm_close(c);
    device_close(d);
    return ok;
}

/* null in the file is the identity: the interval route must say so, the naive one lists it. */
static bool compare_rows(const struct vec_out *o, const char *quantity, const struct jtree *want, const struct found *got, const int64_t *rows,
                         bool says_identity, struct arena *a, struct err *e)
{
    struct int_list list = {arena_array(a, int64_t, got->rows + 1), (size_t)got->rows};
    for (size_t i = 0; i < list.n; i++)
        list.v[i] = (int64_t)i;
    if (jtree_is_null(want) && says_identity) {
        vec_check(o, quantity, !rows);
        return true;
    }
    const int64_t *mine = rows ? rows : list.v;
    if (!jtree_is_null(want) && !int_list(want, quantity, a, &list, e))
        return false;
    case_compare(o, quantity, mine, got->rows, &list);
    return true;
}

/* The quantities' names, by builder. */
static const struct names {
    const char *send_rows, *recv_rows, *send_split, *recv_split;
} interval_names = {"send_rows", "recv_rows", "input_split_sizes", "output_split_sizes"},
  naive_names = {"naive_send_rows", "naive_recv_rows", "naive_input_split_sizes", "naive_output_split_sizes"};

static bool compare(const struct vec_out *o, const struct jtree *want, const struct found *f, int cp, const struct names *n, bool says_identity,
                    struct arena *a, struct err *e)
{
    struct int_list in, out;
    if (!int_member(want, "input_split_sizes", a, &in, e) || !int_member(want, "output_split_sizes", a, &out, e) ||
        !compare_rows(o, n->send_rows, jtree_get(want, "send_rows"), f, f->send_rows, says_identity, a, e) ||
        !compare_rows(o, n->recv_rows, jtree_get(want, "recv_rows"), f, f->recv_rows, says_identity, a, e))
        return false;
    case_compare(o, n->send_split, f->send_split, cp, &in);
    case_compare(o, n->recv_split, f->recv_split, cp, &out);
    return true;
}

static bool compare_rank(const struct vec_out *o, const struct jtree *want, const struct job *j, struct arena *a, struct err *e)
{
    int64_t rank, before, after, kept;
    if (!vec_int(want, "rank", 0, j->cp - 1, &rank, e) || !vec_int(want, "local_source_length", 0, INT64_MAX, &before, e) ||
        !vec_int(want, "local_target_length", 0, INT64_MAX, &after, e) || !vec_int(want, "rows_kept_local", 0, INT64_MAX, &kept, e))
        return false;
    const struct rank_part *p = &j->part[rank];
    struct vec_out mine = case_rank(o, (int)rank);
    case_number(&mine, "local_source_length", p->interval.rows, before);
    case_number(&mine, "local_target_length", p->interval.rows, after);
    case_number(&mine, "rows_kept_local", p->interval.send_split[rank], kept);
    return compare(&mine, want, &p->interval, j->cp, &interval_names, true, a, e) &&
           (!p->naive.there || compare(&mine, want, &p->naive, j->cp, &naive_names, false, a, e));
}

static bool compare_ranks(const struct vec_out *o, const struct jtree *ranks, const struct job *j, struct arena *a, struct err *e)
{
    if (jtree_len(ranks) != (size_t)j->cp)
        return fail(e, ERR_FAIL, "ranks: %zu of them, cp is %d", jtree_len(ranks), j->cp);
    for (size_t r = 0; r < jtree_len(ranks); r++)
        if (!compare_rank(o, jtree_at(ranks, r), j, a, e))
            return false;
    return true;
}

static bool read_job(const struct jtree *one, struct job *j, struct arena *a, struct err *e)
{
    const char *source = jtree_text(jtree_get(one, "source")), *target = jtree_text(jtree_get(one, "target"));
    struct packing p;
    int64_t cp;
    if (!source || !target)
        return fail(e, ERR_FAIL, "source, target: not texts");
    if (!layout_from_name(source, &j->source, e) || !layout_from_name(target, &j->target, e) || !vec_int(one, "cp", 1, CASE_CP_MAX, &cp, e) ||
        !int_member(one, "cu_seqlens", a, &j->cu, e) || !case_size(&j->cu, e) ||
        !packing_check(a, j->cu.v, (int64_t)j->cu.n, (int)cp, 0, j->source, &p, e))
        return false;
    j->cp = (int)cp;
    j->rows = p.total / cp;
    return true;
}

static bool run_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct job j = {0};
    if (!read_job(one, &j, a, e))
        return false;
    j.part = arena_array(a, struct rank_part, j.cp);
    j.world = comm_world_open("threads", j.cp, e);
    bool ok = j.world && ranks_run(j.cp, rank_main, &j, e);
    comm_world_close(j.world);
    struct vec_out named = {o->t, o->file, table_text(o->t, "%s from %s", o->name, layout_name(j.source))};
    ok = ok && compare_ranks(&named, jtree_get(one, "ranks"), &j, a, e);
    for (int r = 0; r < j.cp; r++)
        arena_free(&j.part[r].arena);
    return ok;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return vec_each_case(root, file, t, run_case, e);
}

const struct vector_form vec_routes = {
    .name = "routes", .what = "row lists and split sizes of both routes, both directions, every rank", .sniff = sniff, .run = run};
