/* stack.c - see stack.h. A tensor's split is a list of sections along its rows or columns, each cut by heads on its own:
 *
 *   w_in rows    | q0 q1 | k0 k1 | v0 v1 | z0 z1 | b0 b1 | a0 a1 |      rank 0 has q0 k0 v0 z0 b0 a0
 */
#include "kernels/model/stack.h"
#include "kernels/modes/attn_layer.h"
#include "kernels/modes/gdn_core.h"
#include "kernels/modes/gdn_heads.h"

#include <assert.h>
#include <string.h>

enum split { SPLIT_NONE, SPLIT_ROWS, SPLIT_COLS };

/* How a tensor is split: the first `sections` of the operator's widths, along rows or columns. */
static const struct tensor_split {
    enum split along;
    int first, sections;
} gdn_splits[GDN_PARAMS] =
    {
        [GDN_W_IN] = {SPLIT_ROWS, 0, GDN_SECTIONS}, [GDN_W_CONV] = {SPLIT_ROWS, 0, 3}, [GDN_A_LOG] = {SPLIT_COLS, GDN_A, 1},
        [GDN_DT_BIAS] = {SPLIT_COLS, GDN_A, 1},     [GDN_W_NORM] = {SPLIT_NONE, 0, 0}, [GDN_W_OUT] = {SPLIT_COLS, GDN_V, 1},
},
  attn_splits[ATTN_PARAMS] = {
      [ATTN_W_Q] = {SPLIT_ROWS, ATTN_W_Q, 1},     [ATTN_W_K] = {SPLIT_ROWS, ATTN_W_K, 1},       [ATTN_W_V] = {SPLIT_ROWS, ATTN_W_V, 1},
      [ATTN_W_OUT] = {SPLIT_COLS, ATTN_W_OUT, 1}, [ATTN_W_GATE] = {SPLIT_ROWS, ATTN_W_GATE, 1},
};

static const struct tensor_split *const splits[OP_COUNT] = {[OP_GDN] = gdn_splits, [OP_ATTN] = attn_splits};

enum { WIDTHS_MAX = 6 };
_Static_assert((int)GDN_SECTIONS <= (int)WIDTHS_MAX && (int)ATTN_PARAMS <= (int)WIDTHS_MAX, "room for every section");

/* Widths of the sections on one TP rank. */
static void widths_of(const struct cp_shape *s, enum cp_op op, int64_t w[WIDTHS_MAX])
{
    if (op == OP_GDN) {
        gdn_section_widths(s, w);
        return;
    }
    for (int i = 0; i < ATTN_PARAMS; i++) {
        int64_t out, in;
        attn_param_size(s, (enum attn_param)i, &out, &in);
        w[i] = i == ATTN_W_OUT ? in : out;
    }
}

/* Where position p of a rank's part is in the whole. */
static int64_t whole_of(const struct tensor_split *t, const int64_t *w, int tp, int tp_rank, int64_t p)
{
    int64_t at = 0;
    for (int i = t->first; i < t->first + t->sections; at += w[i++] * tp) {
        if (p < w[i])
            return at + tp_rank * w[i] + p;
        p -= w[i];
    }
    assert(!"a position lies in a section");
    return -1;
}

static int64_t *index_of(const struct stack *s, enum cp_op op, struct arena *a)
{
    const struct param_layout *part = &s->part[op], *whole = &s->whole[op];
    int64_t w[WIDTHS_MAX], *index = arena_array(a, int64_t, part->layer_floats);
    int tp = shape_tp(&s->shape);
    widths_of(&s->shape, op, w);
    for (int i = 0; i < part->n; i++) {
        const struct param_tensor *t = &part->t[i];
        const struct tensor_split *x = &splits[op][i];
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t c = 0; c < t->cols; c++) {
                int64_t row = x->along == SPLIT_ROWS ? whole_of(x, w, tp, s->tp_rank, r) : r;
                int64_t col = x->along == SPLIT_COLS ? whole_of(x, w, tp, s->tp_rank, c) : c;
                index[t->offset + r * t->cols + c] = whole->t[i].offset + row * whole->t[i].cols + col;
            }
    }
    return index;
}

static bool has(const struct stack *s, enum cp_op op)
{
    return s->mode->op == op || (s->attn && s->attn->op == op);
}

void stack_init(struct stack *s, const struct run_config *c, int tp_rank, bool places, struct arena *a)
{
    *s = (struct stack){.mode = c->mode, .attn = c->attn, .shape = c->shape, .all = c->whole, .tp_rank = tp_rank};
    for (int op = 0; op < OP_COUNT; op++) {
        struct cp_shape one = s->shape, whole = s->all;
        if (!has(s, (enum cp_op)op))
            continue;
        one.op = whole.op = (enum cp_op)op;
        one.layers = whole.layers = 1;
        param_layout(&s->part[op], &one);
        param_layout(&s->whole[op], &whole);
        if (places)
            s->index[op] = index_of(s, (enum cp_op)op, a);
    }
    s->floats = stack_offset(s, s->shape.layers);
}

const struct cp_mode *stack_mode(const struct stack *s, int64_t layer)
{
    return s->attn && layer % STACK_PERIOD == STACK_PERIOD - 1 ? s->attn : s->mode;
}

/* Layers of `attn` before a layer. */
static int64_t attn_before(const struct stack *s, int64_t layer)
{
    return s->attn ? layer / STACK_PERIOD : 0;
}

int64_t stack_offset(const struct stack *s, int64_t layer)
{
    int64_t attn = attn_before(s, layer);
    return (layer - attn) * s->part[s->mode->op].layer_floats + (attn ? attn * s->part[s->attn->op].layer_floats : 0);
}

struct layer_tensors stack_layer(const struct stack *s, float *flat, int64_t layer)
{
    return param_layer(&s->part[stack_mode(s, layer)->op], flat + stack_offset(s, layer), 0);
}

void stack_draw(float *host, const struct stack *s, uint64_t seed)
{
    struct arena a = {0};
    struct cp_shape whole = s->all;
    for (int64_t l = 0; l < s->shape.layers; l++) {
        enum cp_op op = whole.op = stack_mode(s, l)->op;
        float *all = arena_array(&a, float, s->whole[op].layer_floats), *part = host + stack_offset(s, l);
        param_draw_layer(all, &s->whole[op], &whole, PARAM_INIT_DEFAULT, seed, l);
        for (int64_t i = 0; i < s->part[op].layer_floats; i++)
            part[i] = dtype_round(s->shape.dtype, all[s->index[op][i]]);
        arena_free(&a);
    }
}

/* The finaliser of splitmix64. */
uint64_t stack_mix(float v, int64_t place)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint64_t z = ((uint64_t)place * UINT64_C(0x9e3779b97f4a7c15)) ^ bits;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool counts(const struct stack *s, enum cp_op op, int tensor)
{
    return s->tp_rank == 0 || splits[op][tensor].along != SPLIT_NONE;
}

bool stack_counts(const struct stack *s, enum cp_op op, int64_t i)
{
    const struct param_tensor *t = s->part[op].t;
    int n = 0;
    while (n + 1 < s->part[op].n && t[n + 1].offset <= i)
        n++;
    return counts(s, op, n);
}

uint64_t stack_hash(const struct stack *s, const float *floats)
{
    uint64_t sum = 0;
    int64_t first = 0; /* of the layer, in the whole stack */
    for (int64_t l = 0; l < s->shape.layers; l++) {
        enum cp_op op = stack_mode(s, l)->op;
        const struct param_layout *part = &s->part[op];
        const float *v = floats + stack_offset(s, l);
        for (int i = 0; i < part->n; i++)
            for (int64_t k = part->t[i].offset; counts(s, op, i) && k < part->t[i].offset + part->t[i].rows * part->t[i].cols; k++)
                sum += stack_mix(v[k], first + s->index[op][k]);
        first += s->whole[op].layer_floats;
    }
    return sum;
}

float *stack_shared(const struct stack *s, float *flat, int64_t layer, int64_t *length)
{
    enum cp_op op = stack_mode(s, layer)->op;
    const struct param_tensor *t = &s->part[op].t[GDN_W_NORM];
    *length = op == OP_GDN && shape_tp(&s->shape) > 1 ? t->rows * t->cols : 0;
    return flat + stack_offset(s, layer) + t->offset;
}
