/* deftable.c - see deftable.h. */
#include "schemas/deftable.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 256 };

void deftable_free(struct deftable *t)
{
    free(t->entries);
    free(t->modules);
    symbols_free(&t->symbols);
    arena_free(&t->arena);
    *t = (struct deftable){0};
}

static struct def_entry *place(struct def_entry *v, size_t cap, uint32_t kind, uint64_t key)
{
    uint64_t h = (key ^ (uint64_t)kind << 56) * 0xff51afd7ed558ccdu;
    for (size_t i = (size_t)(h >> 32) & (cap - 1);; i = (i + 1) & (cap - 1))
        if (!v[i].def || (v[i].def->key == key && v[i].def->kind == kind))
            return &v[i];
}

static void grow(struct deftable *t)
{
    struct def_entry *old = t->entries;
    size_t n = t->cap, none = 0;
    t->cap = n ? n * 2 : FIRST;
    t->entries = array_grow(NULL, &none, t->cap, sizeof *t->entries);
    memset(t->entries, 0, t->cap * sizeof *t->entries);
    for (size_t i = 0; i < n; i++)
        if (old[i].def)
            *place(t->entries, t->cap, old[i].def->kind, old[i].def->key) = old[i];
    free(old);
}

void deftable_add(struct deftable *t, const struct def *def)
{
    if (def->kind == DEF_MODULE) {
        ARRAY_PUSH(t->modules, t->nmodules, t->modules_cap, def);
        return;
    }
    if ((t->n + 1) * 2 > t->cap)
        grow(t);
    struct def_entry *at = place(t->entries, t->cap, def->kind, def->key);
    if (!at->def) {
        at->def = def;
        t->n++;
    }
}

const struct def *deftable_find(const struct deftable *t, enum def_kind kind, uint64_t key)
{
    return t->cap ? place(t->entries, t->cap, kind, key)->def : NULL;
}

const char *def_text(const struct def *def, int i)
{
    const char *s = (const char *)(def + 1);
    return i ? s + strlen(s) + 1 : s;
}

/* What was mapped there last: a library may have come where another one was. */
static const struct def *module_at(const struct deftable *t, uint64_t address)
{
    for (size_t i = t->nmodules; i > 0; i--)
        if (address >= t->modules[i - 1]->key && address <= (uint64_t)t->modules[i - 1]->a)
            return t->modules[i - 1];
    return NULL;
}

static void native_frame(struct deftable *t, uint64_t address, struct frame_text *out)
{
    const struct def *m = module_at(t, address);
    const char *path = m ? def_text(m, 0) : "";
    /* a return address: the call stands before it, and may be the last instruction of its function */
    const char *name = m ? symbols_at(&t->symbols, path, address - (uint64_t)m->b - 1, &t->arena) : NULL;
    uint64_t offset = m ? address - (uint64_t)m->b : address;
    out->function = name ? name : arena_printf(&t->arena, "0x%llx", (unsigned long long)offset);
    out->file = basename(path);
    out->line = 0;
    out->native = true;
}

bool deftable_frame(struct deftable *t, uint32_t number, struct frame_text *out)
{
    const struct def *def = deftable_find(t, DEF_FRAME, number);
    if (def && def->b == 1)
        native_frame(t, (uint64_t)def->a, out);
    else if (def)
        *out = (struct frame_text){def_text(def, 0), def_text(def, 1), (int32_t)def->a, false};
    return def != NULL;
}
