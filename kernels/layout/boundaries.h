/* boundaries.h - a packed boundary buffer on the device, as a model's layers get it.
 *
 *   cu = 0 | 16 | 40 | 40 | 72     int64, leading 0; equal neighbours are an empty slot (padding)
 *        <- handle ------------>   identity `id`: a new one per handle, never used twice in a process
 *             <- view ->           its own id, the same storage and the same version counter
 *
 * Every in-place write, through any handle of the storage, adds one to the version. A storage made unversioned has no
 * counter, and nothing derived from it may be cached (spec D.6).
 *
 * The values live in device memory: kernels read them, the host only through hostread.h or dev_download. A handle
 * belongs to the host thread of its device.
 */
#pragma once
#include "kernels/device/device.h"

struct boundaries_storage;

struct boundaries {
    struct boundaries_storage *storage;
    const int64_t *cu; /* device memory: entries values */
    int64_t entries;   /* sequences (empty slots included) + 1; may be 0 for an invalid input */
    uint64_t id;
};

/* New storage holding cu[0 .. entries-1] (a host array, staged before the call returns; the upload is asynchronous). */
struct boundaries *boundaries_create(struct stream *s, const int64_t *cu, int64_t entries);
struct boundaries *boundaries_create_unversioned(struct stream *s, const int64_t *cu, int64_t entries);
/* Entries first .. first+entries-1 of b under a new identity; lives on when b is closed. */
struct boundaries *boundaries_view(const struct boundaries *b, int64_t first, int64_t entries);
/* In-place write of entries first .. first+n-1, in stream order; bumps the version of the storage. */
void boundaries_write(struct boundaries *b, struct stream *s, int64_t first, const int64_t *values, int64_t n);
void boundaries_close(struct boundaries *b); /* the storage goes with its last handle; NULL is fine */

enum { BOUNDARIES_UNVERSIONED = -1 };
int64_t boundaries_version(const struct boundaries *b); /* 0 after create; BOUNDARIES_UNVERSIONED */

/* What a cache remembers of a buffer; of an absent one (NULL) all zero. */
struct boundaries_key {
    uint64_t id;
    int64_t version;
};
struct boundaries_key boundaries_key(const struct boundaries *b);
bool boundaries_key_same(struct boundaries_key x, struct boundaries_key y); /* never, when one is unversioned */
