/* cupti_buffers.h - the memory that CUPTI writes its records into.
 *
 *   request (program's thread) --> a zeroed buffer of the pool --> CUPTI fills it --> complete (any thread) --> list --> parser
 *                 ^                                                                                              |
 *                 '---------------------------------- zeroed as far as it was used <-----------------------------'
 *
 * No lock and no allocation in either callback. Over the cap there is no buffer: CUPTI counts what it drops itself, or, before
 * the release that takes "none" for an answer, fills one that nobody reads. What CUPTI owns is never freed.
 */
#pragma once
#include "collector/cupti_bind.h"

enum { BUFFER_BYTES = 4 << 20, BUFFERS = 32 };

struct cupti_full {
    uint8_t *data;
    size_t valid;
};

/* Reserves the pool. none_ok: a request may be left without buffer. false: no memory. */
bool buffers_open(bool none_ok);

cupti_request_fn buffers_request;
cupti_complete_fn buffers_complete;

/* The oldest completed buffer; false: none. Of the parser alone, as are the next two. */
bool buffers_next(struct cupti_full *f);
void buffers_give(const struct cupti_full *f);

/* Requests since the last call that got no buffer. */
int64_t buffers_refused(void);
