/* places.h - the source lines behind the sites of the table syncs, for messages that point at code.
 *
 * A site by function ("kernels/layout/resolve.c:resolve_cu_seqlens") has one line or more; they come from the same table
 * by line ("kernels/layout/resolve.c:72 resolve_cu_seqlens").
 */
#pragma once
#include "analyzer/trace.h"

struct place {
    const char *site; /* by function */
    const char *file; /* relative to the repository */
    int64_t line;
};

struct places {
    struct place *v; /* by site, file, line; each once */
    size_t n;
};

/* `ledger` of the table syncs. A trace that does not record it has none. Texts live in `a`. */
struct places places_of(const struct trace *t, const char *ledger, struct arena *a);
/* The first place of a site, NULL when it has none; *n of them follow each other. */
const struct place *places_find(const struct places *p, const char *site, size_t *n);

/* Does every line of the site carry `gpu-sync-ok: reason` in the source below the current folder? *reason in `a`. False
 * also when a source is not at hand. */
bool place_excused(const struct place *v, size_t n, const char **reason, struct arena *a);
