/* fuzz_rpd.c - any bytes as a rocmProfileData database. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("fuzz.rpd", data, size);
    return 0;
}
