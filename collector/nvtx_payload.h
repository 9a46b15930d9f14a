/* nvtx_payload.h - numbers in the payloads of NVTX events, whose layout the program has registered.
 *
 *   schema: id, entries {name, type, offset}   <--id--   event: blobs {id, size, bytes}
 *
 * The forms are restated from NVTX's documentation of its payload extension (module 2): older headers do not have it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NVTX_PAYLOAD_EXTENDED = (int32_t)0xDFBD0009 }; /* payloadType of an event: payload points at blobs, reserved0 says how many */

struct nvtx_blob {
    uint64_t schema;
    size_t size; /* SIZE_MAX: as the schema says */
    const void *bytes;
};

struct nvtx_entry {
    uint64_t flags, type;
    const char *name, *description;
    uint64_t detail, offset;
    const void *semantics, *reserved;
};

struct nvtx_schema {
    uint64_t mask;
    const char *name;
    uint64_t type, flags;
    const struct nvtx_entry *entries;
    size_t n, static_size, pack_align;
    uint64_t id; /* where mask has its bit; else one is given out */
    void *extension;
};

struct nvtx_module { /* what a shared object with an extension in it hands over */
    uint16_t nvtx, size, module, compatible;
    size_t nsegments;
    struct nvtx_segment {
        size_t id, nslots;
        intptr_t *slots; /* of functions */
    } * segments;
    void *export_function;
    const void *info;
};

/* Pushes a range and pops one with payloads: the slots of the extension that are ranges. */
struct nvtx_payload_calls {
    int (*push)(void *domain, const struct nvtx_blob *v, size_t n);
    int (*pop)(void *domain, const struct nvtx_blob *v, size_t n);
};

/* Puts our functions into the slots. false: another extension, or of another form. */
bool payload_attach(const struct nvtx_module *m, struct nvtx_payload_calls calls);

/* A number by the name of its entry, in any of the blobs of an event of the domain; false: it is not there. */
bool payload_number(const void *domain, const struct nvtx_blob *v, size_t n, const char *name, int64_t *out);

void payload_forked(void);
