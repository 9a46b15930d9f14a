/* route_interval.c - the interval route on a device: one copy of the boundaries down, at most one index up. */
#include "kernels/layout/route.h"
#include "kernels/ops/index.h"
#include "schemas/marker.h"

#include <stdlib.h>
#include <string.h>

struct route *route_new(struct device *d, int cp, int rank, enum layout source, int64_t rows)
{
    size_t cap = 0;
    struct route *r = array_grow(NULL, &cap, 1, sizeof *r);
    *r = (struct route){.cp = cp, .rank = rank, .source = source, .rows = rows, .device = d, .refs = 1};
    r->target = source == LAYOUT_ZIGZAG ? LAYOUT_CONTIGUOUS : LAYOUT_ZIGZAG;
    cap = 0;
    r->send_split = array_grow(NULL, &cap, 2 * (size_t)cp, sizeof *r->send_split); /* one block for both */
    memset(r->send_split, 0, 2 * (size_t)cp * sizeof *r->send_split);
    r->recv_split = r->send_split + cp;
    return r;
}

struct route *route_retain(struct route *r)
{
    r->refs++;
    return r;
}

void route_release(struct route *r)
{
    if (!r || --r->refs > 0)
        return;
    dev_free(r->device, r->flat ? r->flat : r->send_index);
    dev_free(r->device, r->flat ? NULL : r->recv_index);
    free(r->send_split);
    free(r);
}

static int64_t *index_upload(struct stream *s, const int64_t *rows, int64_t n, const struct site *site)
{
    if (!rows)
        return NULL;
    int64_t *index = dev_alloc(stream_device(s), (size_t)n * sizeof *index);
    dev_upload(s, index, rows, (size_t)n * sizeof *index, site);
    return index;
}

struct route *route_build(const struct boundaries *b, struct stream *s, int cp, int rank, enum layout source, enum layout target, struct err *e)
{
    if (!route_check_direction(source, target, e) || !layout_check_place(b->entries, cp, rank, source, e))
        return NULL;
    struct device *d = stream_device(s);
    DEV_RANGE(d, RANGE_THD_ROUTE, -1);
    DEV_RANGE(d, thd_range(THD_ROUTE, source), -1);
    struct arena a = {0};
    struct route_plan plan;
    struct route *r = NULL;
    int64_t *cu = arena_array(&a, int64_t, b->entries);
    dev_download(s, cu, b->cu, (size_t)b->entries * sizeof *cu, SITE_HERE);
    if (route_plan(&a, cu, b->entries, cp, rank, source, target, &plan, e)) {
        r = route_new(d, cp, rank, source, plan.rows);
        memcpy(r->send_split, plan.send_split, (size_t)cp * sizeof *r->send_split);
        memcpy(r->recv_split, plan.recv_split, (size_t)cp * sizeof *r->recv_split);
        r->send_index = index_upload(s, plan.send_rows, plan.rows, SITE_HERE);
        r->recv_index = index_upload(s, plan.recv_rows, plan.rows, SITE_HERE);
    }
    arena_free(&a);
    return r;
}

static int64_t *index_identity(const struct route *r, struct stream *s)
{
    int64_t *index = dev_alloc_index(r->device, (size_t)r->rows * sizeof *index);
    index_arange(s, index, r->rows, 0);
    return index;
}

void route_use_blocks(struct route *r, struct stream *s)
{
    DEV_RANGE(r->device, RANGE_THD_ROUTE, -1);
    r->send_index = r->send_index ? r->send_index : index_identity(r, s);
    r->recv_index = r->recv_index ? r->recv_index : index_identity(r, s);
    r->blocks = true;
}
