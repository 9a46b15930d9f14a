/* source_nvtx.c - NVTX by injection: our handlers stand in the function tables of every shared object that has NVTX in it.
 *
 *   nvtxDomainHandle_t  -> struct domain: one per name, whichever shared objects create it
 *   nvtxStringHandle_t  -> a kept text (text.h)
 *   push/pop            -> ranges.h, a stack per thread, popped by domain
 *   start/end           -> nvtx_started.h, a table of the process: the end may come from any thread
 *
 * Our own programs report their ranges through activity.h as well: domain MARK_DOMAIN is skipped here.
 */
#include "collector/nccl_ranges.h"
#include "collector/nvtx.h"
#include "collector/nvtx_payload.h"
#include "collector/nvtx_started.h"
#include "collector/ranges.h"
#include "collector/text.h"
#include "schemas/clock.h"
#include "schemas/marker.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

struct domain {
    const char *name; /* kept; NULL: the default domain */
    bool skipped, nccl;
    struct domain *next;
};

static _Atomic(struct recorder *) recorder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the domains */
static struct domain default_domain;
static struct domain *domains;

static struct recorder *recording(void)
{
    return atomic_load_explicit(&recorder, memory_order_relaxed);
}

static const struct domain *domain_of(nvtxDomainHandle_t h)
{
    return h ? (const struct domain *)(void *)h : &default_domain;
}

/* The message of an event as a kept text; NULL when it has none. */
static const char *message_of(const nvtxEventAttributes_t *a)
{
    size_t whole = offsetof(nvtxEventAttributes_t, message) + sizeof a->message;
    if (!a || a->size < whole)
        return NULL;
    switch (a->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
        return text_keep(a->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
        return text_keep_wide(a->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
        return (const char *)(const void *)a->message.registered;
    }
    return NULL;
}

static int push(const struct domain *d, const char *name)
{
    struct recorder *r = recording();
    if (!r)
        return NVTX_NO_PUSH_POP_TRACKING;
    if (!d->skipped)
        return ranges_push(r, d, d->name, name);
    recorder_pushed(r, name, clock_now());
    return NVTX_NO_PUSH_POP_TRACKING;
}

static int pop(const struct domain *d)
{
    struct recorder *r = recording();
    if (!r)
        return NVTX_NO_PUSH_POP_TRACKING;
    if (d->nccl)
        nccl_range_pop(r);
    if (!d->skipped)
        return ranges_pop(r, d);
    recorder_popped(r, clock_now());
    return NVTX_NO_PUSH_POP_TRACKING;
}

/* A range with payloads: what NCCL says of the operation that it calls. */
static int push_with(const struct domain *d, const char *name, const struct nvtx_blob *v, size_t n)
{
    struct nccl_said said = {-1, -1, -1, -1, false};
    int depth = push(d, name);
    if (!recording() || !d->nccl)
        return depth;
    said.id = payload_number(d, v, n, "NCCL communicator ID", &said.communicator);
    payload_number(d, v, n, "Peer rank", &said.peer);
    if (payload_number(d, v, n, "Message size [bytes]", &said.bytes))
        ranges_bytes(d, said.bytes);
    nccl_range_push(name, n ? &said : NULL);
    return depth;
}

static int push_event(const struct domain *d, const nvtxEventAttributes_t *a)
{
    size_t whole = offsetof(nvtxEventAttributes_t, message);
    bool more = a && a->size >= whole && a->payloadType == NVTX_PAYLOAD_EXTENDED && a->reserved0 > 0;
    const struct nvtx_blob *v = more ? (const struct nvtx_blob *)(uintptr_t)a->payload.ullValue : NULL;
    return push_with(d, message_of(a), v, more ? (size_t)a->reserved0 : 0);
}

static void emit(const struct domain *d, const char *name, int64_t start, int64_t end, const struct emit_as *as)
{
    struct recorder *r = recording();
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_RANGE;
    a.start = start;
    a.end = end;
    a.name = name;
    a.group = d->name;
    if (r && !d->skipped)
        recorder_emit_as(r, &a, as);
}

static void mark(const struct domain *d, const char *name)
{
    int64_t now = clock_now();
    emit(d, name, now, now, &(struct emit_as){.flavour = RANGE_MARK});
}

static nvtxRangeId_t range_start(const struct domain *d, const char *name)
{
    if (!recording() || d->skipped)
        return 0;
    struct started s = {clock_now(), d, name, (int32_t)syscall(SYS_gettid)};
    nvtxRangeId_t id = started_put(&s);
    if (id)
        recorder_opened(recording(), name, s.start);
    return id;
}

static void emit_started(const struct started *s, int64_t now)
{
    emit(s->domain, s->name, s->start, now, &(struct emit_as){.tid = s->tid, .flavour = RANGE_START_END});
}

static void range_end(nvtxRangeId_t id)
{
    struct started s;
    int64_t now = clock_now();
    if (!started_take(id, &s))
        return;
    emit_started(&s, now);
    recorder_closed(recording(), s.name, now);
}

static nvtxDomainHandle_t domain_create(const char *name)
{
    int saved = errno;
    if (!name)
        return NULL;
    pthread_mutex_lock(&lock);
    struct domain *d = domains;
    while (d && d->name != name)
        d = d->next;
    if (!d && (d = calloc(1, sizeof *d))) {
        *d = (struct domain){name, strcmp(name, MARK_DOMAIN) == 0, strcmp(name, NCCL_RANGES_DOMAIN) == 0, domains};
        domains = d;
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return (nvtxDomainHandle_t)(void *)d;
}

/* ---- the handlers, as NVTX calls them ---- */

static void mark_ex(const nvtxEventAttributes_t *a)
{
    mark(&default_domain, message_of(a));
}

static void mark_a(const char *s)
{
    mark(&default_domain, text_keep(s));
}

static void mark_w(const wchar_t *s)
{
    mark(&default_domain, text_keep_wide(s));
}

static nvtxRangeId_t start_ex(const nvtxEventAttributes_t *a)
{
    return range_start(&default_domain, message_of(a));
}

static nvtxRangeId_t start_a(const char *s)
{
    return range_start(&default_domain, text_keep(s));
}

static nvtxRangeId_t start_w(const wchar_t *s)
{
    return range_start(&default_domain, text_keep_wide(s));
}

static int push_ex(const nvtxEventAttributes_t *a)
{
    return push_event(&default_domain, a);
}

static int push_a(const char *s)
{
    return push(&default_domain, text_keep(s));
}

static int push_w(const wchar_t *s)
{
    return push(&default_domain, text_keep_wide(s));
}

static int pop_default(void)
{
    return pop(&default_domain);
}

static void domain_mark_ex(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    mark(domain_of(d), message_of(a));
}

static nvtxRangeId_t domain_start_ex(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    return range_start(domain_of(d), message_of(a));
}

static void domain_end(nvtxDomainHandle_t d, nvtxRangeId_t id)
{
    (void)d;
    range_end(id);
}

static int domain_push_ex(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    return push_event(domain_of(d), a);
}

static int domain_pop(nvtxDomainHandle_t d)
{
    return pop(domain_of(d));
}

static nvtxStringHandle_t register_a(nvtxDomainHandle_t d, const char *s)
{
    (void)d;
    return (nvtxStringHandle_t)(void *)text_keep(s);
}

static nvtxStringHandle_t register_w(nvtxDomainHandle_t d, const wchar_t *s)
{
    (void)d;
    return (nvtxStringHandle_t)(void *)text_keep_wide(s);
}

static nvtxDomainHandle_t create_a(const char *s)
{
    return domain_create(text_keep(s));
}

static nvtxDomainHandle_t create_w(const wchar_t *s)
{
    return domain_create(text_keep_wide(s));
}

typedef NvtxFunctionPointer any_fn;

static const struct handler { /* to add one, add its row; what is not here stays a call that does nothing */
    NvtxCallbackModule module;
    unsigned id;
    any_fn fn;
} handlers[] = {
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_MarkEx, (any_fn)mark_ex},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_MarkA, (any_fn)mark_a},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_MarkW, (any_fn)mark_w},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartEx, (any_fn)start_ex},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartA, (any_fn)start_a},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartW, (any_fn)start_w},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeEnd, (any_fn)range_end},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushEx, (any_fn)push_ex},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA, (any_fn)push_a},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushW, (any_fn)push_w},
    {NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop, (any_fn)pop_default},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainMarkEx, (any_fn)domain_mark_ex},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangeStartEx, (any_fn)domain_start_ex},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangeEnd, (any_fn)domain_end},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePushEx, (any_fn)domain_push_ex},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePop, (any_fn)domain_pop},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRegisterStringA, (any_fn)register_a},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRegisterStringW, (any_fn)register_w},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateA, (any_fn)create_a},
    {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateW, (any_fn)create_w},
};

bool nvtx_attach(struct recorder *r, nvtx_export_fn *table_of)
{
    const NvtxExportTableCallbacks *callbacks = table_of ? table_of(NVTX_ETID_CALLBACKS) : NULL;
    bool any = false;
    if (!callbacks || callbacks->struct_size < sizeof *callbacks || !callbacks->GetModuleFunctionTable)
        return false;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        NvtxFunctionTable table = NULL;
        unsigned n = 0; /* ids 0 .. n-1; an older header has fewer */
        if (callbacks->GetModuleFunctionTable(handlers[i].module, &table, &n) && table && handlers[i].id < n && table[handlers[i].id]) {
            *table[handlers[i].id] = handlers[i].fn;
            any = true;
        }
    }
    if (any)
        atomic_store(&recorder, r);
    return any;
}

static int push_payload(void *d, const struct nvtx_blob *v, size_t n)
{
    return push_with(domain_of(d), NULL, v, n);
}

/* A communicator says how large it is when it has been made. */
static int pop_payload(void *handle, const struct nvtx_blob *v, size_t n)
{
    const struct domain *d = domain_of(handle);
    int64_t id, ranks;
    if (d->nccl && payload_number(d, v, n, "NCCL communicator ID", &id) && payload_number(d, v, n, "No. of ranks", &ranks))
        nccl_range_ranks(id, ranks);
    return pop(d);
}

bool nvtx_attach_payloads(struct recorder *r, const struct nvtx_module *m)
{
    bool ok = payload_attach(m, (struct nvtx_payload_calls){push_payload, pop_payload});
    if (ok)
        atomic_store(&recorder, r);
    return ok;
}

static bool start(struct recorder *r)
{
    (void)r; /* NVTX comes to us: nvtx_attach() */
    return true;
}

static void stop(struct recorder *r)
{
    char text[120];
    int64_t now = clock_now();
    ranges_end(r);
    size_t n = started_end(emit_started, now);
    snprintf(text, sizeof text, "%zu started range%s never ended: ended at the end of the trace", n, n == 1 ? "" : "s");
    if (n)
        recorder_degraded(r, text);
}

static void forked(struct recorder *r)
{
    (void)r;
    pthread_mutex_init(&lock, NULL);
    started_forked();
    ranges_forked();
    nccl_ranges_forked();
    payload_forked();
    text_forked();
}

const struct event_source source_nvtx = {
    .name = "nvtx",
    .what = "NVTX ranges and marks: domains, registered strings, push/pop and start/end",
    .start = start,
    .stop = stop,
    .forked = forked,
};
