/* fuzz_ascend_db.c - any bytes as an Ascend database. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("fuzz.asc", data, size);
    return 0;
}
