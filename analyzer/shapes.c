/* shapes.c - exact numbers for kernel shapes, by way of groups of four integers. */
#include "analyzer/shapes.h"

void shapes_init(struct shapes *s, const struct trace_file *f, struct arena *a)
{
    *s = (struct shapes){.f = f, .of_detail = arena_array(a, uint32_t, f->d.nkernels + 1)};
}

void shapes_free(struct shapes *s)
{
    groups_free(&s->grids);
    groups_free(&s->blocks);
    groups_free(&s->works);
    *s = (struct shapes){0};
}

static uint32_t kernel_shape(struct shapes *s, const struct event *ev)
{
    const struct ev_kernel *k = ev_kernel_of(&s->f->d, ev);
    if (!k)
        return 0;
    uint32_t *of = &s->of_detail[ev->detail];
    if (!*of) {
        uint32_t grid = (uint32_t)groups_at(&s->grids, (uint32_t)k->grid[0], (uint32_t)k->grid[1], (uint32_t)k->grid[2], (uint32_t)k->block[0]);
        *of = 1 + (uint32_t)groups_at(&s->blocks, grid, (uint32_t)k->block[1], (uint32_t)k->block[2], (uint32_t)k->dynamic_shared);
    }
    return *of;
}

uint32_t shapes_id(struct shapes *s, const struct event *ev)
{
    const struct ev_copy *c = ev_copy_of(&s->f->d, ev);
    uint32_t bytes[2] = {(uint32_t)ev->bytes, (uint32_t)((uint64_t)ev->bytes >> 32)};
    uint32_t kind = (uint32_t)ev->kind;
    if (kind == EV_KERNEL)
        return 1 + (uint32_t)groups_at(&s->works, kind, ev->name, kernel_shape(s, ev), 0);
    if (kind == EV_COMM)
        return 1 + (uint32_t)groups_at(&s->works, kind, ev->name, bytes[0], bytes[1]);
    return 1 + (uint32_t)groups_at(&s->works, kind, c ? (uint32_t)c->kind : 0, bytes[0], bytes[1]);
}
