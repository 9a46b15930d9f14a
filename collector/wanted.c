/* wanted.c - what sources ask the recorder, and tell it, about the options that limit a recording. */
#include "collector/recorder_parts.h"

void recorder_opened(struct recorder *r, const char *name, int64_t start)
{
    if (r->control.by_name)
        control_open(&r->control, name, start);
}

void recorder_closed(struct recorder *r, const char *name, int64_t end)
{
    if (r->control.by_name)
        control_close(&r->control, name, end);
}

void recorder_pushed(struct recorder *r, const char *name, int64_t start)
{
    if (r->control.by_name)
        control_push(&r->control, name, start);
}

void recorder_popped(struct recorder *r, int64_t end)
{
    if (r->control.by_name)
        control_pop(&r->control, end);
}

bool recorder_wants(const struct recorder *r, enum ev_kind kind)
{
    bool heavy = kind == EV_KERNEL || kind == EV_MEMCPY || kind == EV_MEMSET;
    return (r->kinds >> kind & 1) && !(r->control.lite && heavy);
}

bool recorder_stopped(const struct recorder *r)
{
    return atomic_load_explicit(&r->generation, memory_order_relaxed) == RINGS_CLOSED;
}
