/* deftable.h - the definitions of a recording (ringfile.h), to be looked up: by the writer that reads along, and afterwards. */
#pragma once
#include "schemas/ringfile.h"
#include "schemas/symbols.h"

struct deftable {
    struct def_entry {
        const struct def *def; /* NULL: free */
    } * entries;               /* open addressing by kind and key */
    size_t n, cap;
    const struct def **modules; /* in the order in which they came */
    size_t nmodules, modules_cap;
    struct symbols symbols;
    struct arena arena; /* of the answers of deftable_frame() */
};

void deftable_free(struct deftable *t);

/* The definition must stay where it is. A later one of the same kind and key is left out. */
void deftable_add(struct deftable *t, const struct def *def);

const struct def *deftable_find(const struct deftable *t, enum def_kind kind, uint64_t key); /* NULL: not defined */
const char *def_text(const struct def *def, int i);                                          /* text 0 or 1 behind it */

/* Frame number `number`: of a native one the function of its module's symbols and the file of the module. Lives in the table;
 * `native` says which. false: not defined. */
struct frame_text {
    const char *function, *file;
    int32_t line;
    bool native;
};
bool deftable_frame(struct deftable *t, uint32_t number, struct frame_text *out);
