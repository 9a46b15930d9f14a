/* fuzz_tracefile.c - any bytes as a trace file of ours: read whole, and without the rows that a table can do without. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool taken(unsigned sides)
{
    struct tracedata d;
    struct err e = {0};
    tracedata_init(&d);
    bool ok = tracefile_load_some("fuzz.db", sides, 2, &d, &e);
    holds_reason(ok, &e, "fuzz.db");
    if (ok)
        holds_together(&d);
    tracedata_free(&d);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_write("fuzz.db", data, size);
    if (tracefile_is("fuzz.db") && taken(SIDE_ALL))
        HOLDS(taken(SIDE_COMM | SIDE_RANGE));
    return 0;
}
