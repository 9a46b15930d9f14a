/* bytes.h - numbers and texts as a string of bytes, small numbers in few, packed by zstd at the end.
 *
 * A number is zigzag and base 128: -1, 0 and 63 take one byte. A reader never leaves its bytes: what is not there reads
 * as 0 and sets `bad`, which is looked at once, at the end.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdbool.h>
#include <stdint.h>

struct bytes {
    uint8_t *v;
    size_t n, cap;
};

void bytes_int(struct bytes *b, int64_t v);
void bytes_text(struct bytes *b, const char *s, size_t n);
void bytes_string(struct bytes *b, const char *s); /* NULL is told from "" */
void bytes_free(struct bytes *b);
/* A new string of bytes: `from` packed. */
struct bytes bytes_pack(const struct bytes *from, int level);

struct reading {
    const uint8_t *v;
    size_t n, at;
    bool bad;
};

int64_t read_int(struct reading *r);
/* A number from 0 to most, else bad and 0. */
size_t read_count(struct reading *r, size_t most);
/* The next text; not ended by NUL. */
const char *read_text(struct reading *r, size_t *n);
/* Copied into the arena; NULL where NULL was written. */
const char *read_string(struct reading *r, struct arena *a);
/* `packed` unpacked, malloc'ed; false: it is damaged. */
bool bytes_unpack(const void *packed, size_t n, struct bytes *out);

/* ---- arrays of structs, field by field ---- */

struct field {
    size_t offset;
    uint8_t size; /* 4 or 8 bytes */
    bool delta;   /* written as the difference to the one before */
    bool name;    /* a string id, for who checks them */
};
#define FIELD_OF(type, member, delta, name)                                                                                                          \
    {                                                                                                                                                \
        offsetof(struct type, member), sizeof(((struct type *)0)->member), delta, name                                                               \
    }
#define FIELD(type, member) FIELD_OF(type, member, false, false)
#define FIELD_DELTA(type, member) FIELD_OF(type, member, true, false)
#define FIELD_NAME(type, member) FIELD_OF(type, member, false, true)
#define FIELDS_END                                                                                                                                   \
    {                                                                                                                                                \
        0, 0, false, false                                                                                                                           \
    }

/* Elements v[at[0]], v[at[1]] ... (at NULL: all) of `size` bytes each, field after field. */
void bytes_fields(struct bytes *b, const void *v, size_t size, const uint32_t *at, size_t n, const struct field *f);
void read_fields(struct reading *r, void *v, size_t size, const uint32_t *at, size_t n, const struct field *f);
