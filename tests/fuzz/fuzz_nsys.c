/* fuzz_nsys.c - any bytes as an Nsight Systems export; nothing may appear beside it. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_write("fuzz.sqlite", data, size);
    bool ok = fuzz_memory("fuzz.sqlite");
    if (ok && fuzz_turn(data, size, 64))
        fuzz_file("fuzz.sqlite", "fuzz.db");
    HOLDS(!fuzz_exists("fuzz.sqlite-wal") && !fuzz_exists("fuzz.sqlite-shm") && !fuzz_exists("fuzz.sqlite-journal"));
    return 0;
}
