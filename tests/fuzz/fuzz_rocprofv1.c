/* fuzz_rocprofv1.c - any bytes as a database of rocprof v1. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("fuzz.v1", data, size);
    return 0;
}
