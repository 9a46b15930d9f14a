/* outname.h - where recordings go: file name patterns and what to try when a name is taken.
 *
 *   %p pid   %h host   %r rank of the launcher (0 without one)   %q{VAR} environment variable   %% a percent sign
 *
 * The first process with events takes the name itself, later ones NAME with .PID, under a launcher .rN, before the suffix:
 *   run.sqlite   run.4711.sqlite   run.r3.sqlite   and, should these be taken as well, run.r3.4711.sqlite, run.4711.2.sqlite
 */
#pragma once
#include "schemas/err.h"
#include "schemas/launch.h"

#include <stddef.h>

/* The pattern with everything filled in for this process. false: an unknown %, an open %q{, or longer than `size`. */
bool outname_expand(const char *pattern, char *out, size_t size, struct err *e);

/* Does the name depend on the process that records (%p, %r, %q)? */
bool outname_varies(const char *pattern);

/* A glob(7) pattern for every name that recording processes may have taken: variable parts are '*', and so is what stands
 * before the suffix of `later` names. */
bool outname_glob(const char *pattern, bool later, char *out, size_t size, struct err *e);

/* Where the suffix of the last part of a path starts: its last dot (not its first character), or its end. */
size_t outname_suffix(const char *name);

enum { OUTNAME_TRIES = 100 };

/* Name number `attempt` to try, 0 .. OUTNAME_TRIES-1; `name` is the expanded one. false: longer than `size`. */
bool outname_try(const char *name, int attempt, struct launch l, char *out, size_t size);
