/* nvtx.h - the door between NVTX's injection entry point (inject.c) and its source. */
#pragma once
#include "collector/recorder.h"

typedef const void *nvtx_export_fn(uint32_t table); /* as NVTX hands it over */
struct nvtx_module;                                 /* so, too: nvtx_payload.h */

#ifdef HAVE_NVTX
/* Puts our handlers into the tables of one shared object. false: they have another form. */
bool nvtx_attach(struct recorder *r, nvtx_export_fn *table_of);

/* The same for the extension with payloads. */
bool nvtx_attach_payloads(struct recorder *r, const struct nvtx_module *m);
#else
static inline bool nvtx_attach(struct recorder *r, nvtx_export_fn *table_of)
{
    (void)table_of;
    recorder_degraded(r, "NVTX ranges are not recorded: this build of cpscope had no NVTX headers (make CUDA=/path/to/cuda)");
    return false;
}

static inline bool nvtx_attach_payloads(struct recorder *r, const struct nvtx_module *m)
{
    (void)r, (void)m;
    return false;
}
#endif
