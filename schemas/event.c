/* event.c - names of event kinds and of sync classes. */
#include "schemas/event.h"

static const char *const kinds[] = {
#define EVENT(id, name, class) name,
#include "schemas/events.def"
#undef EVENT
};

const char *ev_kind_name(enum ev_kind k)
{
    return (unsigned)k < EV_NKINDS ? kinds[k] : "unknown";
}

const char *sync_class_name(enum sync_class c)
{
    static const char *const names[] = {"", "stream", "event", "device", "copy", "alloc"};
    return (unsigned)c < sizeof names / sizeof *names ? names[c] : "";
}
