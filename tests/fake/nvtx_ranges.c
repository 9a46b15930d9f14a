/* nvtx_ranges.c - a program with NVTX in it; prints what a recording must hold: domain, flavour, name, how often. */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { N = 1000 };

static nvtxRangeId_t handed_over;

static void *other(void *p)
{
    for (int i = 0; i < N; i++) {
        nvtxRangePushA("on another thread");
        nvtxRangePop();
    }
    nvtxRangeEnd(handed_over); /* started by main */
    nvtxRangePushA("open when the thread ends");
    return p;
}

static nvtxEventAttributes_t attributes(void)
{
    nvtxEventAttributes_t a;
    memset(&a, 0, sizeof a);
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    return a;
}

/* Names that do not live longer than the push. */
static void short_lived(void)
{
    char name[16];
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "batch %d", i);
        nvtxRangePushA(name);
        memset(name, 'x', sizeof name - 1);
        nvtxRangePop();
    }
}

static void domains(nvtxDomainHandle_t mine, nvtxDomainHandle_t ours)
{
    nvtxStringHandle_t known = nvtxDomainRegisterStringA(mine, "registered");
    nvtxEventAttributes_t a = attributes(), none = attributes();
    for (int i = 0; i < N; i++) {
        a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        a.message.registered = known;
        nvtxDomainRangePushEx(mine, &a);
        nvtxRangePushA("between"); /* ends after the one around it: domains do not nest in each other */
        nvtxDomainRangePop(mine);
        nvtxRangePop();
        a.messageType = NVTX_MESSAGE_TYPE_ASCII;
        a.message.ascii = "ours, skipped";
        nvtxDomainRangePushEx(ours, &a);
        nvtxDomainRangePop(ours);
    }
    nvtxDomainMarkEx(mine, &a);
    nvtxDomainRangePushEx(mine, &none); /* no message */
    nvtxDomainRangePop(mine);
}

int main(void)
{
    pthread_t t;
    for (int i = 0; i < N; i++) {
        nvtxRangePushA("outer");
        nvtxRangePushA("inner");
        if (nvtxRangePop() == 0 || nvtxRangePop() != 0)
            puts("the depths are wrong");
    }
    domains(nvtxDomainCreateA("mine"), nvtxDomainCreateA("cpscope"));
    nvtxRangeId_t a = nvtxRangeStartA("started"), b = nvtxRangeStartA("started");
    nvtxRangeEnd(a);
    nvtxRangeEnd(b);
    nvtxRangeEnd(b); /* once more: nothing */
    nvtxRangeStartA("never ended");
    handed_over = nvtxRangeStartA("ended elsewhere");
    pthread_create(&t, NULL, other, NULL);
    pthread_join(t, NULL);
    nvtxMarkA("mark");
    nvtxRangePushW(L"wide \u20ac");
    nvtxRangePop();
    short_lived();
    nvtxRangePop(); /* no push */
    nvtxRangePushA("open at the end");
    return 5;
}
