/* fuzz_import.h - any bytes as a foreign trace; nothing may appear beside it. */
#pragma once
#include "fuzz.h"

static inline void fuzz_import(const char *path, const uint8_t *data, size_t size)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal", ".tmp"};
    char other[64];
    fuzz_write(path, data, size);
    bool ok = fuzz_memory(path);
    if (ok && fuzz_turn(data, size, 64))
        fuzz_file(path, "fuzz.db");
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        snprintf(other, sizeof other, "%s%s", path, beside[i]);
        HOLDS(!fuzz_exists(other));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
