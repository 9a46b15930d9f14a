/* route_encoded.c - a route as one flat tensor, so that it could be the input of a captured graph (seeds/000 2.4).
 *
 *   flat   | cp rows has_send has_recv | send_split[cp] | recv_split[cp] | send_index[rows] | recv_index[rows] |    int64, device
 *            '---- first copy -------'   '-- second --'   '-- third ---'   '--- used where they are ---'
 *
 * The price is paid at each use: the host learns the split lists by three blocking copies.
 */
#include "kernels/layout/route.h"
#include "schemas/marker.h"

#include <assert.h>

enum { HEADER = 4 };

static int64_t *encode(const struct route *r, struct stream *s)
{
    int64_t n = HEADER + 2 * r->cp + (r->send_index ? r->rows : 0) + (r->recv_index ? r->rows : 0);
    int64_t *flat = dev_alloc_index(r->device, (size_t)n * sizeof *flat), *rows = flat + HEADER + 2 * r->cp;
    const int64_t header[HEADER] = {r->cp, r->rows, r->send_index != NULL, r->recv_index != NULL};
    const int64_t *const lists[] = {r->send_index, r->recv_index};
    dev_upload_async(s, flat, header, sizeof header);
    dev_upload_async(s, flat + HEADER, r->send_split, 2 * (size_t)r->cp * sizeof *flat); /* the two lists are one block */
    for (int i = 0; i < 2; i++)
        if (lists[i]) {
            dev_copy_async(s, rows, lists[i], (size_t)r->rows * sizeof *flat);
            rows += r->rows;
        }
    return flat;
}

static void route_decode(struct route *r, struct stream *s)
{
    int64_t header[HEADER], *rows = r->flat + HEADER + 2 * r->cp;
    dev_download(s, header, r->flat, sizeof header, SITE_HERE);
    assert(header[0] == r->cp && header[1] == r->rows);
    dev_download(s, r->send_split, r->flat + HEADER, (size_t)r->cp * sizeof *rows, SITE_HERE);
    dev_download(s, r->recv_split, r->flat + HEADER + r->cp, (size_t)r->cp * sizeof *rows, SITE_HERE);
    r->send_index = header[2] ? rows : NULL;
    r->recv_index = header[3] ? rows + (header[2] ? r->rows : 0) : NULL;
}

void route_use_encoded(struct route *r, struct stream *s)
{
    DEV_RANGE(r->device, RANGE_THD_ROUTE, -1);
    if (!r->flat) {
        r->flat = encode(r, s);
        dev_free(r->device, r->send_index);
        dev_free(r->device, r->recv_index);
    }
    route_decode(r, s);
}
