/* input.h - the bytes of a file as a stream, unpacked on the way: plain, gzip or zstd, told by content, not by name.
 * "run.tar.gz/rank0.json" is a member of an archive.
 *
 * Memory is a few blocks whatever the size of the file. A packed file that is cut in its tail gives what can be
 * unpacked and then ends; input_cut() says so.
 */
#pragma once
#include "schemas/err.h"

#include <stddef.h>
#include <stdint.h>

enum { INPUT_HEAD = 1 << 16 };

struct input {
    const char *path;          /* as given by the caller, who keeps it */
    const unsigned char *head; /* the first nhead unpacked bytes, at most INPUT_HEAD; reading starts with them too */
    size_t nhead;
    int64_t blank_lines; /* in front of head: a byte order mark and white space that a text begins with are left out */
    struct unpacker *u;
};

/* False: a pipe or a socket, which can be read once only, and a trace is looked at before it is read. ERR_FAIL. */
bool input_is_file(const char *path, struct err *e);

bool input_open(struct input *in, const char *path, struct err *e);

/* Fills buf with up to n bytes, as many as there are; *got 0 at the end. False: the file cannot be read. */
bool input_read(struct input *in, void *buf, size_t n, size_t *got, struct err *e);

/* Does it lie there otherwise than it is read: packed, or in an archive? */
bool input_is_packed(const struct input *in);

/* NULL, or why the unpacked text ends early ("the gzip stream is cut"); valid once input_read has given 0. */
const char *input_cut(const struct input *in);

void input_close(struct input *in); /* a zeroed struct is fine */
