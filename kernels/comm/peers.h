/* peers.h - how ranks that are threads of one process reach each other's buffers, whatever device they are in.
 *
 *   host memory (cpu)      a collective runs on the stream's worker, in its turn: what is done here is done at once, and the
 *                          gates between the ranks order it
 *   device memory (cuda)   a collective is called by the host thread and enqueues: a gate says that a peer has enqueued its
 *                          part, a mark that its stream has come to it
 *
 *   rank 0   host  post, mark p0 | gate | await p1, copy from 1, mark l0 | gate | await l1
 *            stream  ... producers  p0        (p1) copy            l0            (l1) what follows may reuse its buffer
 *
 * A mark may be used again once all that await it have enqueued that: the ranks' gates see to it.
 */
#pragma once
#include "kernels/device/backend.h"

struct peer_mark {
    const struct device_peer_ops *ops; /* NULL: none was made, as in host memory */
    void *mark;
};

bool peers_enqueue(const struct stream *s); /* device memory: only pointers may be looked at here */
void peer_mark(struct stream *s, struct peer_mark *m);
void peer_await(struct stream *s, const struct peer_mark *m); /* one that was never made: nothing */
void peer_mark_close(struct peer_mark *m);

/* In place means the same place, so overlap is all or nothing. */
void peer_copy(struct stream *s, void *to, const void *from, int64_t bytes);
void peer_clear(struct stream *s, void *to, int64_t bytes);
/* to[i] <- parts[0][i] + parts[1][i] + ... in that order, n floats or doubles; `to` may be one of the parts. */
void peer_add(struct stream *s, bool f64, void *to, const void *const *parts, int nparts, int64_t n);
