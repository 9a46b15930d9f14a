/* fuzz_baseline.c - any bytes as a baseline file: read, or refused with file, line and cure; what was read is written and read the same. */
#include "fuzz.h"
#include "analyzer/baseline_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const struct baseline *b)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    HOLDS(f);
    baseline_write(b, f);
    HOLDS(fclose(f) == 0);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct baseline b = {0}, again = {0};
    struct err e = {0};
    fuzz_write("fuzz.baseline", data, size);
    if (!baseline_is("fuzz.baseline"))
        return 0;
    bool ok = baseline_read("fuzz.baseline", &b, &e);
    holds_reason(ok, &e, "fuzz.baseline");
    if (ok) {
        char *first = written(&b);
        fuzz_write("again.baseline", (const uint8_t *)first, strlen(first));
        HOLDS(baseline_is("again.baseline") && baseline_read("again.baseline", &again, &e));
        char *second = written(&again);
        HOLDS(!strcmp(first, second));
        free(first);
        free(second);
    }
    baseline_close(&b);
    baseline_close(&again);
    return 0;
}
