/* kv_index.c - plans from device boundaries, on the device. */
#include "kernels/layout/kv_cache.h"
#include "schemas/marker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t *read_back(struct stream *s, struct arena *a, const struct boundaries *b, const struct site *site)
{
    int64_t *cu = arena_array(a, int64_t, b->entries + 1);
    dev_download(s, cu, b->cu, (size_t)b->entries * sizeof *cu, site);
    return cu;
}

static bool equal(const int64_t *q, const int64_t *kv, int64_t n, struct err *e)
{
    for (int64_t i = 0; i < n; i++)
        if (q[i] != kv[i])
            return fail(e, ERR_USAGE, "cu_seqlens_kv[%" PRId64 "] is %" PRId64 ", cu_seqlens_q has %" PRId64 ": must be equal", i, kv[i], q[i]);
    return true;
}

/* NULL where there are none. host is NULL where the device stores nothing. */
static void *upload(struct stream *s, const void *host, int64_t n, size_t size)
{
    if (!n)
        return NULL;
    void *v = dev_alloc(stream_device(s), (size_t)n * size);
    dev_upload_async(s, v, host, (size_t)n * size);
    return v;
}

/* The name is the site of the wait. */
static bool kv_index_build(const struct packed_seqs *p, struct stream *s, const struct attn_place *at, struct attn_meta *m, struct err *e)
{
    const struct boundaries *q = packed_layout(p), *kv = p->kv_padded ? p->kv_padded : p->kv;
    if (q->entries != kv->entries)
        return fail(e, ERR_USAGE, "cu_seqlens_kv has %" PRId64 " entries, cu_seqlens_q %" PRId64 ": must be equal", kv->entries, q->entries);
    int64_t *cu = read_back(s, &m->arena, q, SITE_HERE);
    if (q->cu != kv->cu && !equal(cu, read_back(s, &m->arena, kv, SITE_HERE), q->entries, e))
        return false;
    struct attn_place here = *at;
    here.counted = !device_has_storage(m->device); /* every rank's index has all tokens: too much for thousands of ranks */
    if (!attn_plan_make(&m->arena, cu, q->entries, &here, &m->plan, e))
        return false;
    if (m->plan.tokens != p->total)
        return fail(e, ERR_USAGE, "cu_seqlens_q ends at %" PRId64 ", the micro-batch has %" PRId64 " tokens", m->plan.tokens, p->total);
    m->index = upload(s, m->plan.index, m->plan.indices, sizeof *m->index);
    m->q_index = upload(s, m->plan.q_index, m->plan.q_indices, sizeof *m->q_index);
    m->pieces = upload(s, m->plan.pieces, m->plan.npieces, sizeof *m->pieces);
    return true;
}

struct attn_meta *attn_meta_build(const struct packed_seqs *p, struct stream *s, const struct attn_place *at, struct err *e)
{
    size_t cap = 0;
    struct attn_meta *m = array_grow(NULL, &cap, 1, sizeof *m);
    DEV_RANGE(stream_device(s), RANGE_THD_ROUTE, -1);
    *m = (struct attn_meta){.device = stream_device(s), .refs = 1};
    if (kv_index_build(p, s, at, m, e))
        return m;
    attn_meta_release(m);
    return NULL;
}

struct attn_meta *attn_meta_retain(struct attn_meta *m)
{
    m->refs++;
    return m;
}

void attn_meta_release(struct attn_meta *m)
{
    if (!m || --m->refs)
        return;
    dev_free(m->device, m->index);
    dev_free(m->device, m->q_index);
    dev_free(m->device, m->pieces);
    arena_free(&m->arena);
    free(m);
}
