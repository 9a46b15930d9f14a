/* fuzz_rocprofv3.c - any bytes as JSON of rocprofv3. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("fuzz.json", data, size);
    return 0;
}
