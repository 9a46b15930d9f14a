/* fuzz_tracefile.c - any bytes as a trace file of ours. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tracedata d;
    struct err e = {0};
    fuzz_write("fuzz.db", data, size);
    if (!tracefile_is("fuzz.db"))
        return 0;
    tracedata_init(&d);
    bool ok = tracefile_load("fuzz.db", &d, &e);
    holds_reason(ok, &e, "fuzz.db");
    if (ok)
        holds_together(&d);
    tracedata_free(&d);
    return 0;
}
