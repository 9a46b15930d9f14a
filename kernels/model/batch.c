/* batch.c - inputs by number, boundary objects, marks. */
#include "kernels/model/batch.h"
#include "kernels/layout/kv_cache.h"
#include "kernels/model/draw.h"
#include "kernels/model/groups.h"
#include "schemas/marker.h"

#include <inttypes.h>
#include <stdio.h>

int64_t *batch_rows(const struct packing *p, int cp, int rank, enum layout l, struct arena *a)
{
    if (cp > 1)
        return layout_rows(a, p, cp, rank, l);
    int64_t *rows = arena_array(a, int64_t, p->total);
    for (int64_t i = 0; i < p->total; i++)
        rows[i] = i;
    return rows;
}

void batch_inputs(float *host, const struct run_config *c, const int64_t *tokens, int64_t n, int64_t step, int64_t microbatch)
{
    const struct cp_shape *s = &c->shape;
    for (int64_t i = 0; i < n; i++) {
        struct draw d = draw_from(c->seed, DRAW_TOKENS, step * s->microbatches + microbatch, tokens[i]);
        for (int64_t k = 0; k < s->hidden; k++)
            host[i * s->hidden + k] = (float)draw_signed(&d);
    }
}

/* Where documents end; with padding another buffer says where their rows do. */
static void open_boundaries(struct cp_batch *b, struct cp_rank *r, const struct packing *p)
{
    struct arena a = {0};
    struct boundaries *rows = boundaries_create(r->stream, p->cu, p->sequences + 1), *cu = rows;
    if (p->valid) {
        int64_t *ends = arena_array(&a, int64_t, p->sequences + 1);
        for (int64_t i = 0; i < p->sequences; i++)
            ends[i + 1] = ends[i] + p->valid[i];
        cu = boundaries_create(r->stream, ends, p->sequences + 1);
    }
    packed_init(&b->packed, cu, cu, r->shape->tokens);
    if (p->valid)
        b->packed.q_padded = b->packed.kv_padded = rows;
    arena_free(&a);
}

/* Where each of the CP rank's rows lies in its sequence. */
static void upload_positions(struct cp_batch *b, struct cp_rank *r, const struct packing *p, enum layout l)
{
    struct arena a = {0};
    int64_t rows = shape_rows(r->shape), *positions = arena_array(&a, int64_t, rows), *v = batch_device(b, r->device, (size_t)rows * sizeof *v);
    const int64_t *tokens = batch_rows(p, r->shape->cp, r->rank, l, &a);
    for (int64_t i = 0, n = 0; i < rows; i++) {
        while (tokens[i] < p->cu[n] || tokens[i] >= p->cu[n + 1])
            n = n + 1 == p->sequences ? 0 : n + 1;
        positions[i] = tokens[i] - p->cu[n];
    }
    dev_upload_async(r->stream, v, positions, (size_t)rows * sizeof *v);
    b->positions = v;
    arena_free(&a);
}

static bool make_ahead(struct cp_rank *r, const struct cp_mode *mode, struct err *e)
{
    const struct cp_shape *s = r->shape;
    if (mode->converts && s->route == ROUTE_PREBUILT && !route_prebuild(&r->batch->packed, r->stream, s->cp, r->rank, e))
        return false;
    return !mode->hoist || mode->hoist(r, e);
}

bool batch_open(struct cp_batch *b, struct cp_rank *r, const struct batch_modes *of, const struct packing *p, struct err *e)
{
    const struct cp_shape *s = r->shape;
    *b = (struct cp_batch){.pack = p};
    open_boundaries(b, r, p);
    if (!recurrent_context(&b->arena, p->cu, p->sequences + 1, s->cp, r->rank, 0, &b->recurrent, e))
        return false;
    size_t bytes = (size_t)(b->recurrent.segments + 1) * sizeof(int64_t);
    b->local_cu = dev_alloc(r->device, bytes);
    dev_upload_async(r->stream, b->local_cu, b->recurrent.local_cu, bytes);
    if (s->rotary)
        upload_positions(b, r, p, of->mode->entry_layout);
    return make_ahead(r, of->mode, e) && (!of->attn || make_ahead(r, of->attn, e));
}

void batch_close(struct cp_batch *b, struct cp_rank *r)
{
    struct boundaries *cu = b->packed.q, *rows = b->packed.q_padded;
    attn_meta_release(b->hoisted);
    packed_close(&b->packed);
    boundaries_close(cu);
    boundaries_close(rows);
    dev_free(r->device, b->local_cu);
    devpool_free(&b->pool);
    arena_free(&b->arena);
    *b = (struct cp_batch){0};
}

void batch_mark(struct cp_rank *r, const struct packing *p)
{
    char text[192];
    int64_t work = 0, padded = packing_padded(p);
    for (int64_t i = 0; i < p->sequences; i++)
        work += (p->cu[i + 1] - p->cu[i]) * (p->cu[i + 1] - p->cu[i]);
    snprintf(text, sizeof text, MARK_BATCH " tokens=%" PRId64 " padded=%" PRId64 " sequences=%" PRId64 " work=%" PRId64 " cp=%d", p->total - padded,
             padded, p->sequences, work, r->shape->cp);
    dev_mark(r->device, text);
}

static void mark_cache(struct cp_rank *r, const char *name, const struct cache_stats *st)
{
    char text[192];
    if (st->hits + st->misses + st->rebuilds + st->uncached == 0)
        return; /* the mode does not use this cache */
    cache_stats_text(text, sizeof text, name, st);
    dev_mark(r->device, text);
}

void batch_mark_caches(const struct cp_batch *b, struct cp_rank *r)
{
    mark_cache(r, "route", &b->packed.route_stats);
    mark_cache(r, "boundaries", &b->packed.resolve_stats);
    if (r->kv) {
        mark_cache(r, "attention", &r->kv->stats);
        r->kv->stats = (struct cache_stats){0};
    }
}
