/* test_modes_isolation.c - packed documents do not see each other, in any mode: memory lasts (slow decay), so that a leak
 * through a halo, a state or a gradient cannot hide; and inside a document it does reach from end to end, across ranks. */
#include "modes_run.h"

enum { HIDDEN = 12, DOCS = 3 };
static const struct set {
    int64_t lengths[DOCS];
    int most; /* cp size */
} sets[] = {
    {{48, 112, 96}, 8}, /* the second lies across cuts for every cp */
    {{16, 48, 8}, 4},   /* at cp 4 the second begins two tokens before a cut: a halo row before it is the first's */
};

struct fixture {
    struct layer_case c;
    float *x, *dy; /* what c points to */
};

static struct fixture fixture_of(const struct set *set, const struct cp_mode *mode, int cp, struct arena *a)
{
    struct fixture f = {.c = {.mode = mode, .pack = pack_of(a, set->lengths, DOCS)}};
    struct param_layout l;
    int64_t n = f.c.pack.total * HIDDEN;
    f.c.shape = (struct cp_shape){
        .tokens = f.c.pack.total, .hidden = HIDDEN, .cp = cp, .kheads = 8, .vheads = 8, .dk = 4, .dv = 4, .conv = 4, .layers = 1, .microbatches = 1};
    param_layout(&l, &f.c.shape);
    float *params = arena_array(a, float, l.floats);
    param_draw(params, &l, &f.c.shape, (struct param_init){0.001, 0.01}, 3);
    f.c.params = params;
    f.c.x = f.x = random_floats(a, n);
    f.c.dy = f.dy = random_floats(a, n);
    return f;
}

static bool same_rows(const float *x, const float *y, int64_t from, int64_t to)
{
    return !memcmp(x + from * HIDDEN, y + from * HIDDEN, (size_t)((to - from) * HIDDEN) * sizeof *x);
}

/* Everything of document d and its gradient is moved; only its own rows may change. */
static void others_stay(struct fixture *f, const struct layer_result *before, int d, struct arena *a)
{
    const int64_t *cu = f->c.pack.cu;
    for (int64_t i = cu[d] * HIDDEN; i < cu[d + 1] * HIDDEN; i++) {
        f->x[i] += 0.5f;
        f->dy[i] -= 0.25f;
    }
    struct layer_result after = layer_run(&f->c, a);
    for (int i = 0; i < DOCS; i++)
        if (same_rows(before->out, after.out, cu[i], cu[i + 1]) != (i != d) || same_rows(before->dx, after.dx, cu[i], cu[i + 1]) != (i != d))
            fail_msg("%s, cp %d: moving document %d, document %d %s", f->c.mode->name, f->c.shape.cp, d, i, i == d ? "did not change" : "changed");
}

static void isolated(struct fixture *f, struct arena *a)
{
    for (int d = 0; d < DOCS; d++) {
        struct layer_result before = layer_run(&f->c, a);
        others_stay(f, &before, d, a);
    }
}

/* The first token is felt by the last, the last token's gradient by the first. */
static void connected(struct fixture *f, struct arena *a)
{
    int64_t first = f->c.pack.cu[1], last = f->c.pack.cu[2] - 1;
    struct layer_result before = layer_run(&f->c, a);
    f->x[first * HIDDEN] += 1;
    f->dy[last * HIDDEN] += 1;
    struct layer_result after = layer_run(&f->c, a);
    assert_false(same_rows(before.out, after.out, last, last + 1));
    assert_false(same_rows(before.dx, after.dx, first, first + 1));
}

static void everywhere(void (*check)(struct fixture *f, struct arena *a))
{
    EACH_MODE(m, OP_GDN)
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int cp = 1; cp <= sets[i].most; cp *= 2) {
            struct arena a = {0};
            struct fixture f = fixture_of(&sets[i], *m, cp, &a);
            check(&f, &a);
            arena_free(&a);
        }
}

TEST(documents_are_isolated)
{
    everywhere(isolated);
}

TEST(memory_reaches_from_end_to_end)
{
    everywhere(connected);
}

UNIT_MAIN(UNIT(documents_are_isolated), UNIT(memory_reaches_from_end_to_end))
