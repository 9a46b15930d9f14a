/* ranges.c - as NCCL does it: a domain, registered names, a schema per form of payload with an id of its own. */
#include "ranges.h"

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ID = 1 << 24, COLLECTIVE = ID + 5, PEER = ID + 9, MADE = ID + 1 };

struct collective {
    uint64_t comm;
    size_t bytes;
    int operation;
};

struct peer {
    uint64_t comm;
    size_t bytes;
    int peer;
};

struct made {
    uint64_t comm;
    int ranks, rank, device;
};

static const nvtxPayloadSchemaEntry_t collective[] = {
    {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, offsetof(struct collective, comm), NULL, NULL},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, offsetof(struct collective, bytes), NULL, NULL},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Reduction operation", NULL, 0, offsetof(struct collective, operation), NULL, NULL}};
static const nvtxPayloadSchemaEntry_t peer[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, 0, NULL, NULL},
                                                {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, 0, NULL, NULL},
                                                {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", NULL, 0, 0, NULL, NULL}};
static const nvtxPayloadSchemaEntry_t made[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, 0, NULL, NULL},
                                                {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", NULL, 0, 0, NULL, NULL},
                                                {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", NULL, 0, 0, NULL, NULL},
                                                {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", NULL, 0, 0, NULL, NULL}};

static nvtxDomainHandle_t domain;

static void add(uint64_t id, const nvtxPayloadSchemaEntry_t *entries, size_t n, size_t size)
{
    nvtxPayloadSchemaAttr_t a = {.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                                              NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                                              NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
                                 .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                                 .entries = entries,
                                 .numEntries = n,
                                 .payloadStaticSize = size,
                                 .schemaId = id};
    nvtxPayloadSchemaRegister(domain, &a);
}

static bool on(void)
{
    if (!domain && getenv("FAKE_NCCL_RANGES")) {
        domain = nvtxDomainCreateA("NCCL");
        add(COLLECTIVE, collective, 3, sizeof(struct collective));
        add(PEER, peer, 3, sizeof(struct peer));
        add(MADE, made, 4, sizeof(struct made));
    }
    return domain != NULL;
}

static void push(const char *function, const nvtxPayloadData_t *v)
{
    char name[64];
    snprintf(name, sizeof name, "nccl%s", function);
    nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE, .messageType = NVTX_MESSAGE_TYPE_REGISTERED};
    a.message.registered = nvtxDomainRegisterStringA(domain, name);
    if (v) {
        a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
        a.reserved0 = 1;
        a.payload.ullValue = (uint64_t)(uintptr_t)v;
    }
    nvtxDomainRangePushEx(domain, &a);
}

void ranges_call(const char *function)
{
    if (on())
        push(function, NULL);
}

void ranges_operation(const char *function, uint64_t comm, size_t bytes, int with)
{
    struct peer p = {comm, bytes, with};
    struct collective c = {comm, bytes, 0};
    nvtxPayloadData_t v = {with < 0 ? COLLECTIVE : PEER, with < 0 ? sizeof c : sizeof p, with < 0 ? (const void *)&c : &p};
    if (on())
        push(function, &v);
}

void ranges_end(void)
{
    if (on())
        nvtxDomainRangePop(domain);
}

void ranges_end_made(uint64_t comm, int ranks, int rank)
{
    struct made m = {comm, ranks, rank, 0};
    nvtxPayloadData_t v = {MADE, sizeof m, &m};
    if (on())
        nvtxRangePopPayload(domain, &v, 1);
}
#else
void ranges_call(const char *function)
{
    (void)function;
}

void ranges_operation(const char *function, uint64_t comm, size_t bytes, int peer)
{
    (void)function, (void)comm, (void)bytes, (void)peer;
}

void ranges_end(void)
{
}

void ranges_end_made(uint64_t comm, int ranks, int rank)
{
    (void)comm, (void)ranks, (void)rank;
}
#endif
