/* pb.h - protocol buffers, written by hand: fields into a growing message, a message into another as its bytes.
 *
 * Wire format: protobuf.dev/programming-guides/encoding. A message may be used again after pb_clear().
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct pb {
    char *p;
    size_t n, cap;
};

void pb_clear(struct pb *m);
void pb_free(struct pb *m);
void pb_uint(struct pb *m, uint32_t field, uint64_t v);
void pb_fixed64(struct pb *m, uint32_t field, uint64_t v);
void pb_bytes(struct pb *m, uint32_t field, const void *s, size_t n);
void pb_text(struct pb *m, uint32_t field, const char *s); /* what is not UTF-8 becomes U+FFFD */
void pb_message(struct pb *m, uint32_t field, const struct pb *inner);
void pb_append(struct pb *m, const struct pb *fields); /* of the same message */
