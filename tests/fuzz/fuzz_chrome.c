/* fuzz_chrome.c - any bytes as a Chrome trace. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("fuzz.json", data, size);
    return 0;
}
