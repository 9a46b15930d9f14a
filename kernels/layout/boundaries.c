/* boundaries.c - handles share a storage; the storage counts its writes. */
#include "kernels/layout/boundaries.h"
#include "schemas/arena.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

struct boundaries_storage {
    struct device *device;
    int64_t *data, entries; /* device memory */
    int64_t version;
    int refs;
};

static atomic_uint_fast64_t last_id; /* over all ranks: an identity never comes back */

static struct boundaries *handle(struct boundaries_storage *st, int64_t first, int64_t entries)
{
    size_t cap = 0;
    struct boundaries *b = array_grow(NULL, &cap, 1, sizeof *b);
    *b = (struct boundaries){st, st->data + first, entries, atomic_fetch_add(&last_id, 1) + 1};
    st->refs++;
    return b;
}

static struct boundaries *create(struct stream *s, const int64_t *cu, int64_t entries, int64_t version)
{
    size_t cap = 0, bytes = (size_t)entries * sizeof *cu;
    struct boundaries_storage *st = array_grow(NULL, &cap, 1, sizeof *st);
    struct device *d = stream_device(s);
    *st = (struct boundaries_storage){d, dev_alloc_index(d, bytes ? bytes : 1), entries, version, 0};
    if (bytes)
        dev_upload_async(s, st->data, cu, bytes);
    return handle(st, 0, entries);
}

struct boundaries *boundaries_create(struct stream *s, const int64_t *cu, int64_t entries)
{
    return create(s, cu, entries, 0);
}

struct boundaries *boundaries_create_unversioned(struct stream *s, const int64_t *cu, int64_t entries)
{
    return create(s, cu, entries, BOUNDARIES_UNVERSIONED);
}

struct boundaries *boundaries_view(const struct boundaries *b, int64_t first, int64_t entries)
{
    assert(first >= 0 && entries >= 0 && first + entries <= b->entries);
    return handle(b->storage, b->cu - b->storage->data + first, entries);
}

void boundaries_write(struct boundaries *b, struct stream *s, int64_t first, const int64_t *values, int64_t n)
{
    struct boundaries_storage *st = b->storage;
    assert(first >= 0 && n >= 0 && first + n <= b->entries);
    if (n == 0)
        return;
    dev_upload_async(s, st->data + (b->cu - st->data) + first, values, (size_t)n * sizeof *values);
    if (st->version != BOUNDARIES_UNVERSIONED)
        st->version++;
}

void boundaries_close(struct boundaries *b)
{
    if (!b)
        return;
    if (--b->storage->refs == 0) {
        dev_free(b->storage->device, b->storage->data);
        free(b->storage);
    }
    free(b);
}

int64_t boundaries_version(const struct boundaries *b)
{
    return b->storage->version;
}

struct boundaries_key boundaries_key(const struct boundaries *b)
{
    return b ? (struct boundaries_key){b->id, b->storage->version} : (struct boundaries_key){0};
}

bool boundaries_key_same(struct boundaries_key x, struct boundaries_key y)
{
    return x.id == y.id && x.version == y.version && x.version != BOUNDARIES_UNVERSIONED;
}
