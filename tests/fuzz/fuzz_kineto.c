/* fuzz_kineto.c - any bytes as a Kineto trace, plain or packed. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_write("fuzz.json", data, size);
    bool ok = fuzz_memory("fuzz.json");
    if (ok && fuzz_turn(data, size, 64))
        fuzz_file("fuzz.json", "fuzz.db");
    return 0;
}
