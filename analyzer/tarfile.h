/* tarfile.h - tar archives, packed or not: the names in them, and one member as a stream.
 *
 * "ARCHIVE/NAME" is the path of a member. Members are read where they lie: nothing is unpacked to disk.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <sys/types.h>

struct tar_names {
    const char **v; /* malloc'ed; the names live in the arena */
    size_t n, cap;
};

bool tar_is(const char *path); /* a tar archive, by its content */
/* Names of the regular files, in the archive's order. */
bool tar_list(const char *path, struct arena *a, struct tar_names *out, struct err *e);

/* Of the path of a member: how long its archive's path is in front of the '/'; 0: it is none. */
size_t tar_archive_length(const char *path);

struct tar_member;
/* The member of a path "ARCHIVE/NAME"; NULL: the path is none, *e is not touched. */
struct tar_member *tar_open(const char *path);
ssize_t tar_read(struct tar_member *m, void *buf, size_t n); /* -1: the archive is damaged or cut */
void tar_close(struct tar_member *m);                        /* NULL is fine */
