/* peers.c - see peers.h. */
#include "kernels/comm/peers.h"

#include <string.h>

static const struct device_peer_ops *ops_of(const struct stream *s)
{
    return s->d->backend->ops->peer;
}

bool peers_enqueue(const struct stream *s)
{
    return ops_of(s) != NULL;
}

/* ---- marks ---- */

void peer_mark(struct stream *s, struct peer_mark *m)
{
    m->ops = ops_of(s);
    if (m->ops)
        m->ops->mark(s, &m->mark);
}

void peer_await(struct stream *s, const struct peer_mark *m)
{
    if (m->mark)
        m->ops->await(s, m->mark);
}

void peer_mark_close(struct peer_mark *m)
{
    if (m->mark)
        m->ops->mark_close(m->mark);
    *m = (struct peer_mark){0};
}

/* ---- transfers ---- */

void peer_copy(struct stream *s, void *to, const void *from, int64_t bytes)
{
    const struct device_peer_ops *ops = ops_of(s);
    if (bytes == 0 || to == from)
        return;
    if (ops)
        ops->copy(s, to, from, (size_t)bytes);
    else
        memcpy(to, from, (size_t)bytes);
}

void peer_clear(struct stream *s, void *to, int64_t bytes)
{
    const struct device_peer_ops *ops = ops_of(s);
    if (bytes && ops)
        ops->clear(s, to, (size_t)bytes);
    else if (bytes)
        memset(to, 0, (size_t)bytes);
}

enum { REDUCE_BLOCK = 512 };

#define DEFINE_ADD(name, type)                                                                                                                       \
    static void name(type *to, const void *const *parts, int nparts, int64_t n)                                                                      \
    {                                                                                                                                                \
        type sum[REDUCE_BLOCK];                                                                                                                      \
        for (int64_t at = 0; at < n; at += REDUCE_BLOCK) {                                                                                           \
            int count = (int)(n - at < REDUCE_BLOCK ? n - at : REDUCE_BLOCK);                                                                        \
            for (int r = 0; r < nparts; r++) {                                                                                                       \
                const type *part = (const type *)parts[r] + at;                                                                                      \
                for (int i = 0; i < count; i++)                                                                                                      \
                    sum[i] = r ? sum[i] + part[i] : part[i];                                                                                         \
            }                                                                                                                                        \
            memcpy(to + at, sum, (size_t)count * sizeof *sum);                                                                                       \
        }                                                                                                                                            \
    }
DEFINE_ADD(add_f32, float)
DEFINE_ADD(add_f64, double)

void peer_add(struct stream *s, bool f64, void *to, const void *const *parts, int nparts, int64_t n)
{
    const struct device_peer_ops *ops = ops_of(s);
    if (ops)
        ops->add(s, f64, to, parts, nparts, n);
    else if (f64)
        add_f64(to, parts, nparts, n);
    else
        add_f32(to, parts, nparts, n);
}
