/* paths.h - what a user names as traces, file by file: folders, archives and parts become the traces in them.
 *
 *   run/                 -> run/rank0.json.gz  run/rank1.json.gz          what no importer knows is passed over, and said
 *                                                                         when it is called as a trace is
 *   host1.part           -> host1.part/1/rank0.sqlite  ...                part.h
 *   run.tar.gz           -> run.tar.gz/rank0.json  ...                    input.h opens a member by such a path
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stddef.h>

struct paths {
    const char **v; /* by name within a folder or archive; the texts live in the arena given */
    size_t n, cap;
    const char *left;   /* of folders and archives: the first file that is called as a trace is and is none, with what it is; NULL: none */
    size_t nleft;       /* how many such files there are */
    const char *nested; /* of folders: the first folder in them that may hold traces too, and is not looked into; NULL: none */
    const char *twin;   /* the first file that is another form of one that is here (twins.h), with that one; NULL: none */
    size_t ntwins;
};

/* False: a folder or archive without a trace, or one that cannot be read. A file that does not exist is no failure here. */
bool paths_expand(struct paths *p, struct arena *a, const char *const *given, size_t n, struct err *e);
/* One line on stderr about what was left out; nothing when nothing was. */
void paths_warn(const struct paths *p);
void paths_free(struct paths *p);
