/* symbols.h - names of functions from the symbol tables of ELF files, opened when first asked for. */
#pragma once
#include "schemas/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct symbols {
    struct symbol_file *files;
    size_t n, cap;
};

/* The function at a byte of the file at `path`, in the arena; NULL: none, or no such file. */
const char *symbols_at(struct symbols *s, const char *path, uint64_t offset, struct arena *a);
void symbols_free(struct symbols *s);
