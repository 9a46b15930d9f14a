/* nvtx.c - see nvtx.h. */
#include "kernels/device/nvtx.h"

#ifdef HAVE_NVTX
#include "schemas/marker.h"

#include <inttypes.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>

static nvtxDomainHandle_t domain; /* NULL: no tool listens */

static void create(void)
{
    domain = nvtxDomainCreateA(MARK_DOMAIN);
}

static nvtxDomainHandle_t listening(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, create);
    return domain;
}

static nvtxEventAttributes_t message(const char *text)
{
    nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = text;
    return a;
}

void nvtx_push(const char *name, int64_t index)
{
    nvtxDomainHandle_t d = listening();
    if (!d)
        return;
    char text[128];
    if (index >= 0)
        snprintf(text, sizeof text, "%s#%" PRId64, name, index);
    nvtxEventAttributes_t a = message(index >= 0 ? text : name);
    nvtxDomainRangePushEx(d, &a);
}

void nvtx_pop(void)
{
    nvtxDomainHandle_t d = listening();
    if (d)
        nvtxDomainRangePop(d);
}

void nvtx_mark(const char *text)
{
    nvtxDomainHandle_t d = listening();
    if (!d)
        return;
    nvtxEventAttributes_t a = message(text);
    nvtxDomainMarkEx(d, &a);
}
#else
void nvtx_push(const char *name, int64_t index)
{
    (void)name, (void)index;
}

void nvtx_pop(void)
{
}

void nvtx_mark(const char *text)
{
    (void)text;
}
#endif
