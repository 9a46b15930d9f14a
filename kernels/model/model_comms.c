/* model_comms.c - a rank's groups, and what is summed over them at the end of a step.
 *
 *   parameter gradients   over the ranks of one TP number: each has the same part of the parameters
 *   shared parameters     over the TP group, too: its ranks hold them all, with gradients of their own heads, or rows
 *   loss, squares         over all ranks
 */
#include "kernels/model/model_impl.h"
#include "kernels/ops/elementwise.h"

static struct comm *open_part(struct model *m, struct comm_world *w, const char *group, struct comm_part part, struct err *e)
{
    return part.size == 1 || e->kind ? NULL : comm_open_part(w, m->number, group, part, e);
}

/* A group of every size, in the same order on all ranks. */
static void open_groups(struct model *m, struct comm_world *w, struct err *e)
{
    int sizes[DYNAMIC_MAX], tp = shape_tp(m->shape), member = m->number / tp;
    m->ngroups = place_sizes(m->config, sizes);
    for (int i = 0; i < m->ngroups; i++) {
        struct comm_part part = {member / sizes[i] * sizes[i] * tp + m->number % tp, tp, sizes[i]};
        m->groups[i] = (struct cp_group){place_shape(m->config, sizes[i]), open_part(m, w, "cp", part, e)};
        comm_set_rows(m->groups[i].comm, m->shape->dtype);
    }
}

bool model_comms_open(struct model *m, struct comm_world *w, struct err *e)
{
    int cp = m->shape->cp, tp = shape_tp(m->shape), tp_rank = m->number % tp;
    const struct comm_part neighbours = {m->number - tp_rank, 1, tp};
    open_groups(m, w, e);
    m->rank.tp = open_part(m, w, "tp", neighbours, e);
    comm_set_rows(m->rank.tp, m->shape->dtype);
    m->all = open_part(m, w, "grad", (struct comm_part){0, 1, cp * tp}, e);
    m->same = tp == 1 ? m->all : open_part(m, w, "grad", (struct comm_part){tp_rank, tp, cp}, e);
    m->part = open_part(m, w, "grad", neighbours, e);
    return e->kind == ERR_NONE;
}

void model_comms_close(struct model *m)
{
    for (int i = 0; i < m->ngroups; i++)
        comm_close(m->groups[i].comm);
    if (m->same != m->all)
        comm_close(m->same);
    comm_close(m->all);
    comm_close(m->part);
    comm_close(m->rank.tp);
}

/* The shared tensors of all layers, side by side in `floats` or back in their places; how many floats. */
static int64_t move_shared(struct model *m, float *floats, bool back)
{
    int64_t n = 0, length;
    for (int64_t l = 0; l < m->shape->layers; l++, n += length) {
        float *g = stack_shared(&m->stack, m->grads, l, &length);
        if (length && floats)
            dev_copy_async(m->rank.stream, back ? g : floats + n, back ? floats + n : g, (size_t)length * sizeof *g);
    }
    return n;
}

static void add_squares(struct model *m, const float *v, int64_t n, double factor)
{
    op_elementwise_sumsq(m->rank.stream, &(struct elementwise_sumsq_args){.x = v, .sum = m->sums + SUM_PARAM_GRADS, .n = n, .factor = factor});
}

/* Sums them over the TP group, and leaves them out of this rank's squares unless it is the first: they count once. */
static void reduce_shared(struct model *m)
{
    int64_t n = move_shared(m, NULL, false);
    if (!m->part || !n)
        return;
    float *floats = dev_alloc(m->rank.device, (size_t)n * sizeof *floats);
    move_shared(m, floats, false);
    comm_all_reduce_f32(m->part, m->rank.stream, floats, n);
    move_shared(m, floats, true);
    if (comm_rank(m->part) > 0)
        add_squares(m, floats, n, -1);
    dev_free(m->rank.device, floats);
}

/* Every gradient counts once: parameter gradients are the same on all ranks of a TP number when they are squared, inputs are
 * not. */
void model_reduce(struct model *m)
{
    int64_t parts = m->same == m->all ? m->net.floats : m->net.shared, whole = m->net.floats - m->net.shared;
    if (m->same)
        comm_all_reduce_f32(m->same, m->rank.stream, m->grads, parts);
    if (parts < m->net.floats)
        comm_all_reduce_f32(m->all, m->rank.stream, m->grads + m->net.shared, whole);
    reduce_shared(m);
    add_squares(m, m->grads, m->net.shared, 1);
    if (whole && (!m->part || comm_rank(m->part) == 0))
        add_squares(m, m->grads + m->net.shared, whole, 1);
    if (m->all)
        comm_all_reduce_f64(m->all, m->rank.stream, m->sums, SUM_PARAM_GRADS);
    if (m->part)
        comm_all_reduce_f64(m->part, m->rank.stream, m->sums + SUM_PARAM_GRADS, 1);
}
