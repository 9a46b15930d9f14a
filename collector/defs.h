/* defs.h - what addresses in the slots of a recording mean, written down before they are used (ringfile.h).
 *
 * A ring remembers the addresses that its thread used lately; only what it does not know goes through the lock.
 */
#pragma once
#include "collector/pool.h"
#include "schemas/site.h"

struct defs {
    pthread_mutex_t lock;
    struct pool *pool;
    struct chunks out;
    _Atomic(struct known *) known; /* addresses that are defined */
};

struct known { /* open addressing; looked up without the lock, so a table that was replaced stays */
    struct known *older;
    size_t n, cap;
    _Atomic uint64_t v[];
};

void defs_init(struct defs *d, struct pool *p);
void defs_free(struct defs *d);

/* Static strings and sites; NULL is fine. Under the lock, so not twice in one thread: not from a signal handler. */
void defs_text(struct defs *d, const char *s);
void defs_site(struct defs *d, const struct site *s);

/* Any other definition (enum def_kind); up to three texts or `n` bytes stand behind it. false: no room. */
struct def_tail {
    const char *text[2];
    const void *bytes;
    size_t n;
};
bool defs_put(struct defs *d, enum def_kind kind, uint64_t key, int64_t a, int64_t b, struct def_tail tail);

/* The next definition for the writer; NULL: none yet. *at starts as {0}. */
struct defs_cursor {
    const struct chunk *chunk;
    uint32_t at;
};
const struct def *defs_next(const struct defs *d, struct defs_cursor *at);
