/* fuzz_rocpd.c - any bytes as a rocpd database. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("fuzz.rocpd", data, size);
    return 0;
}
