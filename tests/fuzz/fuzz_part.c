/* fuzz_part.c - any bytes as what a part keeps of a trace: its rows, its digest and a table of it, before they are packed. */
#include "fuzz.h"

#include "analyzer/part_digest.h"
#include "analyzer/part_pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rows(const uint8_t *data, size_t size)
{
    struct tracedata d;
    struct bytes raw = {.v = (uint8_t *)(uintptr_t)data, .n = size}, packed = bytes_pack(&raw, 1);
    tracedata_init(&d);
    if (tracedata_unpack(packed.v, packed.n, &d))
        holds_together(&d);
    tracedata_free(&d);
    bytes_free(&packed);
}

/* What is taken can be put together with itself. */
static void digests(const uint8_t *data, size_t size, const struct table_desc *d)
{
    struct reading file = {.v = data, .n = size}, table = {.v = data, .n = size};
    struct digest g;
    size_t events;
    struct table out;
    struct joint j;
    struct err e = {0};
    bool ok = digest_get_file(&file, "fuzz.part/1/rank0", &g, &events);
    if (ok)
        holds_together(&g.husk.files[0].d);
    table_init(&out, d->name, d->title, d->columns);
    if (digest_get_table(&table, d, &g) && g.husk.nfiles == 1) {
        joint_open(&j, d, NULL, &out);
        joint_add(&j, &g, &g.husk.files[0], (uint32_t)g.husk.nlanes);
        HOLDS(joint_close(&j, &g.husk, &e) == (e.kind == ERR_NONE));
    }
    table_free(&out);
    digest_free(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tables[] = {"summary", "comm", "kernels", "cp"};
    if (size < 2)
        return 0;
    if (data[0] & 1)
        rows(data + 1, size - 1);
    else
        digests(data + 1, size - 1, table_find(tables[data[0] >> 1 & 3]));
    return 0;
}
