/* test_payload.c - numbers out of payloads: laid out as the schema says, never beyond their end. */
#include "unit.h"

#include "collector/nvtx_payload.h"

#include <string.h>

enum { CHAR = 1, INT = 5, UINT8 = 12, INT16 = 13, UINT64 = 18, DOUBLE = 20, SIZE = 22, SLOTS = 18 };

static uint64_t (*add)(void *domain, const struct nvtx_schema *a);

static void attach(void)
{
    static intptr_t slots[SLOTS];
    struct nvtx_segment segment = {0, SLOTS, slots};
    struct nvtx_module m = {3, sizeof m, 2, 0x104, 1, &segment, NULL, NULL};
    assert_true(payload_attach(&m, (struct nvtx_payload_calls){0}));
    memcpy(&add, &slots[0], sizeof add);
    m.module = 1;
    assert_false(payload_attach(&m, (struct nvtx_payload_calls){0}));
    m.module = 2;
    segment.nslots = 4;
    assert_false(payload_attach(&m, (struct nvtx_payload_calls){0}));
}

struct packet {
    char c;
    int number;
    uint64_t id;
    double real;
    int16_t small;
    size_t bytes;
};

static const struct nvtx_entry entries[] = {{.type = CHAR, .name = "c"},
                                            {.type = INT, .name = "number"},
                                            {.type = UINT64, .name = "id"},
                                            {.type = DOUBLE, .name = "real", .offset = offsetof(struct packet, real)},
                                            {.type = INT16, .name = "small", .offset = offsetof(struct packet, small)},
                                            {.type = SIZE, .name = "bytes"},
                                            {.type = DOUBLE, .name = "last"},
                                            {.type = INT, .name = "nowhere"}};

TEST(numbers_are_where_the_schema_says)
{
    int domain, other;
    struct packet p = {'x', -5, UINT64_C(0xfedcba9876543210), 1.5, -300, 4096};
    struct nvtx_schema s = {.mask = 1 << 8, .entries = entries, .n = 8, .id = 1 << 24};
    int64_t v = 0;
    attach();
    assert_int_equal(add(&domain, &s), 1 << 24);
    struct nvtx_blob blob = {1 << 24, sizeof p, &p};
    assert_true(payload_number(&domain, &blob, 1, "number", &v) && v == -5);
    assert_true(payload_number(&domain, &blob, 1, "id", &v) && (uint64_t)v == p.id);
    assert_true(payload_number(&domain, &blob, 1, "small", &v) && v == -300);
    assert_true(payload_number(&domain, &blob, 1, "bytes", &v) && v == 4096);
    assert_true(payload_number(&domain, &blob, 1, "c", &v) && v == 'x');
    assert_false(payload_number(&domain, &blob, 1, "real", &v));    /* no whole number */
    assert_false(payload_number(&domain, &blob, 1, "nowhere", &v)); /* behind something of unknown size */
    assert_false(payload_number(&domain, &blob, 1, "absent", &v));
    assert_false(payload_number(&other, &blob, 1, "number", &v));
    blob.size = offsetof(struct packet, bytes) + 7;
    assert_false(payload_number(&domain, &blob, 1, "bytes", &v));
    blob.schema++;
    assert_false(payload_number(&domain, &blob, 1, "number", &v));
}

TEST(schemas_without_an_id_get_one)
{
    int domain;
    int64_t v = 0, number = 77;
    const struct nvtx_entry one = {.type = UINT64, .name = "n"};
    struct nvtx_schema s = {.entries = &one, .n = 1};
    attach();
    uint64_t a = add(&domain, &s), b = add(&domain, &s);
    assert_true(a >= UINT64_C(1) << 32 && b == a + 1);
    struct nvtx_blob two[] = {{5, 0, NULL}, {b, SIZE_MAX, &number}};
    assert_true(payload_number(&domain, two, 2, "n", &v) && v == 77);
    assert_false(payload_number(&domain, two, 1, "n", &v));
    s.n = 0;
    assert_int_equal(add(&domain, &s), 0);
    assert_int_equal(add(&domain, NULL), 0);
}

UNIT_MAIN(UNIT(numbers_are_where_the_schema_says), UNIT(schemas_without_an_id_get_one))
