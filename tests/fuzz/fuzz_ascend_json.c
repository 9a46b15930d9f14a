/* fuzz_ascend_json.c - any bytes as an Ascend text trace. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("fuzz.json", data, size);
    return 0;
}
