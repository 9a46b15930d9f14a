/* packed.h - an event as it stands in a ring: what it does not say takes no room. A ring is a file that its program touches, so
 * every byte of it costs.
 *
 *   | head with start and end | the words that are there | the halves that are there | more | name text |      a multiple of 8
 *
 * Words and halves are in the order of their bits. Texts stand behind an event only when it is transient, each with its end;
 * otherwise, and when they were too long for a chunk, they are words: addresses.
 */
#pragma once
#include "schemas/slot.h"

enum packed_have {            /* a bit each of `have` */
                   HAVE_NAME, /* a text behind it has its bit, too */
                   HAVE_TEXT,
                   HAVE_GROUP,
                   HAVE_FUNCTION,
                   HAVE_SITE,
                   HAVE_CORRELATION,
                   HAVE_BYTES,
                   HAVE_SEQUENCE,
                   HAVE_RANK, /* from here on: halves */
                   HAVE_DEVICE,
                   HAVE_STREAM,
                   HAVE_PEER,
                   HAVE_GROUP_SIZE,
                   HAVE_STACK,
                   HAVE_COUNT
};

enum packed_flag { PACKED_TRANSIENT = 1, PACKED_HEAP = 2, PACKED_MORE = 4 };

struct packed {
    uint16_t bytes; /* of all */
    uint16_t have;
    uint8_t what, kind, sync_class, copy_kind;
    uint8_t flavour, flags;
    int8_t did_block;
    uint8_t pad;
    int32_t tid;
    int64_t start, end;
};

/* No event without texts behind it is larger; packed_put() may touch that many bytes. */
enum { PACKED_MOST = sizeof(struct packed) + HAVE_COUNT * 8 + sizeof(union emit_more) };

/* Writes the event to `to`, which is aligned to 8 and has room for PACKED_MOST bytes and its texts; how many bytes it is. `tid` stands for as->tid. `heap`
 * is a copy of a transient event's texts, one after the other; NULL: they go behind it. */
size_t packed_put(void *to, const struct activity *a, const struct emit_as *as, int32_t tid, const char *heap);

/* Reads the event at `p`, of which `room` bytes are there; its texts stay where they are. 0: it is damaged; else its bytes. */
size_t packed_get(const void *p, size_t room, struct slot *out);
