/* outbuf.h - text out fast: millions of rows without a printf each.
 *
 * Names come from traces and may hold any byte: what is not UTF-8 becomes U+FFFD, then the format's own escaping follows.
 */
#pragma once
#include "schemas/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct outbuf {
    FILE *f;
    const char *path; /* NULL: standard output, which main() checks */
    size_t n;
    char buf[1 << 16];
};

bool outbuf_open(struct outbuf *o, const char *path, struct err *e);
bool outbuf_close(struct outbuf *o, struct err *e); /* false: not all of it is written */

void out_bytes(struct outbuf *o, const void *s, size_t n);
void out_text(struct outbuf *o, const char *s); /* as it is */
void out_char(struct outbuf *o, char c);
void out_int(struct outbuf *o, int64_t v);
void out_us(struct outbuf *o, int64_t ns);        /* 12.345: exactly */
void out_json(struct outbuf *o, const char *s);   /* in quotes */
void out_csv(struct outbuf *o, const char *s);    /* one field, quoted where it must be */
void out_folded(struct outbuf *o, const char *s); /* one frame: no ';', no line ends, no other control characters */
