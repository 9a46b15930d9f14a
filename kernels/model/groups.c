/* groups.c - see groups.h. */
#include "kernels/model/groups.h"
#include "kernels/model/stack.h"
#include "kernels/modes/expect.h"
#include "kernels/modes/tensor.h"

#include <inttypes.h>
#include <stdio.h>

struct place place_of(const struct run_config *c, int64_t microbatch, int rank)
{
    int cp = c->nsizes ? c->sizes[microbatch % c->nsizes] : c->shape.cp, tp = shape_tp(&c->shape), member = rank / tp;
    return (struct place){cp, member / cp, member % cp, rank % tp};
}

struct packing place_pack(const struct packing *whole, const struct place *at, int64_t rows, struct arena *a)
{
    int64_t total = at->cp * rows, start = at->group * total, first = 0;
    struct packing out = {.cu = arena_array(a, int64_t, whole->sequences + 1), .total = total};
    if (total + at->cp > whole->total)
        return *whole;
    while (whole->cu[first] < start)
        first++;
    while (whole->cu[first + out.sequences] < start + total) {
        out.sequences++;
        out.cu[out.sequences] = whole->cu[first + out.sequences] - start;
    }
    out.valid = whole->valid ? whole->valid + first : NULL;
    return out;
}

struct cp_shape place_shape(const struct run_config *c, int cp)
{
    struct cp_shape s = c->shape;
    if (cp != s.cp)
        s.tokens = shape_rows(&c->shape) * cp;
    s.cp = cp;
    return s;
}

int place_sizes(const struct run_config *c, int sizes[DYNAMIC_MAX])
{
    int n = 0;
    sizes[0] = c->shape.cp;
    for (int64_t b = 0; b < c->nsizes; b++) {
        int i = 0;
        while (i < n && sizes[i] != c->sizes[b])
            i++;
        if (i == n)
            sizes[n++] = c->sizes[b];
    }
    return n ? n : 1;
}

/* ---- packings ---- */

struct packing packing_cut(const struct packing *p, int64_t rows, struct arena *a)
{
    int64_t most = p->sequences + p->total / rows;
    struct packing out = {.cu = arena_array(a, int64_t, most + 1), .total = p->total, .valid = p->valid ? arena_array(a, int64_t, most) : NULL};
    for (int64_t i = 0; i < p->sequences; i++)
        for (int64_t at = p->cu[i]; at < p->cu[i + 1]; at = out.cu[out.sequences]) {
            int64_t next = (at / rows + 1) * rows, end = next < p->cu[i + 1] ? next : p->cu[i + 1];
            if (out.valid) {
                int64_t left = p->cu[i] + p->valid[i] - at;
                out.valid[out.sequences] = left < 0 ? 0 : left < end - at ? left : end - at;
            }
            out.cu[++out.sequences] = end;
        }
    return out;
}

bool packing_check_cut(const struct packing *p, int64_t rows, int cp, struct err *e)
{
    for (int64_t i = 0; i < p->sequences; i++)
        if (p->cu[i] / rows != (p->cu[i + 1] - 1) / rows)
            return fail(e, ERR_USAGE,
                        "--dynamic-cp %d: sequence %" PRId64 " (tokens %" PRId64 " to %" PRId64 ") reaches over the cuts every %" PRId64
                        " tokens between the groups' micro-batches: see --seqs",
                        cp, i, p->cu[i], p->cu[i + 1] - 1, rows);
    return true;
}

int64_t packing_padded(const struct packing *p)
{
    int64_t n = 0;
    for (int64_t i = 0; p->valid && i < p->sequences; i++)
        n += p->cu[i + 1] - p->cu[i] - p->valid[i];
    return n;
}

int64_t *packing_numbers(const struct packing *p, struct arena *a)
{
    int64_t *out = arena_array(a, int64_t, p->total), number = 0;
    for (int64_t i = 0; i < p->sequences; i++)
        for (int64_t row = p->cu[i]; row < p->cu[i + 1]; row++)
            out[row] = !p->valid || row - p->cu[i] < p->valid[i] ? number++ : p->total + row;
    return out;
}

/* ---- rules and declarations ---- */

/* All parts of micro-batches that groups of `cp` ranks work on: those of one rank, or (rank -1) of all. */
static struct cp_shape shape_with_packs(const struct run_config *c, int cp, int rank, struct arena *a)
{
    struct cp_shape s = place_shape(c, cp);
    int ranks = c->shape.cp * shape_tp(&c->shape), step = cp * shape_tp(&c->shape), n = 0;
    struct packing *packs = arena_array(a, struct packing, c->shape.microbatches * (ranks / step));
    for (int64_t b = 0; b < c->shape.microbatches; b++)
        for (int r = rank < 0 ? 0 : rank; r <= (rank < 0 ? ranks - 1 : rank); r += step) {
            struct place at = place_of(c, b, r);
            if (at.cp == cp)
                packs[n++] = place_pack(&c->shape.packs[b], &at, shape_rows(&c->shape), a);
        }
    s.packs = packs;
    s.microbatches = n;
    return s;
}

bool groups_check(const struct run_config *c, struct err *e)
{
    struct arena a = {0};
    int sizes[DYNAMIC_MAX], n = place_sizes(c, sizes);
    bool ok = true;
    for (int64_t b = 0; ok && c->nsizes && b < c->shape.microbatches; b++) {
        int cp = place_of(c, b, 0).cp;
        ok = packing_check_cut(&c->shape.packs[b], shape_rows(&c->shape) * cp, cp, e);
    }
    for (int i = 0; ok && i < n; i++) {
        struct cp_shape s = shape_with_packs(c, sizes[i], -1, &a);
        ok = c->mode->check(&s, e) && (!c->attn || c->attn->check(&s, e));
    }
    arena_free(&a);
    return ok;
}

static void expect_layers(const struct cp_mode *mode, const struct cp_shape *shape, int64_t layers, int rank, struct expect *x)
{
    struct cp_shape s = *shape;
    s.layers = layers;
    s.op = mode->op;
    mode->expect(&s, rank, x);
    tensor_expect(&s, x);
}

void groups_expect(const struct run_config *c, int rank, struct expect *x)
{
    static const char *const names[] = {"cp1", "cp2", "cp4", "cp8"};
    struct arena a = {0};
    int sizes[DYNAMIC_MAX], n = place_sizes(c, sizes);
    int64_t attn = c->attn ? c->shape.layers / STACK_PERIOD : 0;
    for (int i = 0; i < n; i++) {
        struct cp_shape s = shape_with_packs(c, sizes[i], rank, &a);
        int number = rank / shape_tp(&s) % sizes[i];
        expect_layers(c->mode, &s, c->shape.layers - attn, number, x);
        if (attn)
            expect_layers(c->attn, &s, attn, number, x);
        for (int k = 0; c->nsizes && k < 4; k++)
            if (sizes[i] == 1 << k)
                expect_schedule(x, names[k], s.microbatches);
    }
    arena_free(&a);
}
