/* modes.c - what all modes share: their names, resolution of boundaries, the rule of the zigzag layout. */
#include "kernels/modes/mode.h"
#include "kernels/layout/resolve.h"
#include "schemas/nearest.h"

#include <inttypes.h>
#include <string.h>

const char *cp_op_name(enum cp_op op)
{
    static const char *const names[] = {[OP_GDN] = "gdn", [OP_ATTN] = "attention"};
    return names[op];
}

const struct cp_mode *mode_find(const char *name, struct err *e)
{
    return mode_find_named("mode", name, e);
}

const struct cp_mode *mode_find_named(const char *option, const char *name, struct err *e)
{
    struct arena a = {0};
    size_t n = 0;
    while (modes[n] && strcmp(modes[n]->name, name) != 0)
        n++;
    if (modes[n])
        return modes[n];
    const char **names = arena_array(&a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = modes[i]->name;
    const char *near = nearest_name(name, names);
    fail(e, ERR_USAGE, "--%s %s: no such mode%s%s (cpbench list shows all)", option, name, near ? "; the nearest is " : "", near ? near : "");
    arena_free(&a);
    return NULL;
}

void *batch_device(struct cp_batch *b, struct device *d, size_t bytes)
{
    if (!b->pool.d)
        devpool_init(&b->pool, d);
    return devpool_bytes(&b->pool, bytes);
}

bool mode_resolve(struct cp_rank *r, struct err *e)
{
    struct packed_seqs *p = &r->batch->packed;
    return r->shape->boundaries_cached ? resolve_boundaries_cached(p, r->stream, r->shape->cp, e) : resolve_boundaries(p, r->stream, r->shape->cp, e);
}

bool mode_check_length(int64_t length, int cp, struct err *e)
{
    return cp == 1 || length % (2 * (int64_t)cp) == 0 ||
           fail(e, ERR_USAGE, "a sequence of %" PRId64 " tokens is not divisible by 2 x cp = %d (zigzag layout): see --seqs, --cp", length, 2 * cp);
}

bool mode_check_zigzag(const struct cp_shape *s, struct err *e)
{
    bool ok = true;
    for (int64_t b = 0; b < s->microbatches; b++)
        for (int64_t i = 0; ok && i < s->packs[b].sequences; i++)
            ok = mode_check_length(s->packs[b].cu[i + 1] - s->packs[b].cu[i], s->cp, e);
    return ok;
}

void layer_state_init(struct layer_state *st, struct device *d, bool for_backward)
{
    *st = (struct layer_state){.for_backward = for_backward};
    devpool_init(&st->pool, d);
}

void layer_state_free(struct layer_state *st)
{
    if (st->drop)
        st->drop(st->kept);
    devpool_free(&st->pool);
    arena_free(&st->arena);
    st->kept = NULL;
    st->drop = NULL;
}
