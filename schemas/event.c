/* event.c - names of event kinds and of sync classes. */
#include "schemas/event.h"

static const struct {
    const char *name;
    enum ev_class class;
} kinds[] = {
#define EVENT(id, name, class) {name, EV_##class},
#include "schemas/events.def"
#undef EVENT
};

const char *ev_kind_name(enum ev_kind k)
{
    return (unsigned)k < EV_NKINDS ? kinds[k].name : "unknown";
}

enum ev_class ev_kind_class(enum ev_kind k)
{
    return (unsigned)k < EV_NKINDS ? kinds[k].class : EV_NOTE;
}

const char *sync_class_name(enum sync_class c)
{
    static const char *const names[] = {"", "stream", "event", "device", "copy", "alloc"};
    return (unsigned)c < sizeof names / sizeof *names ? names[c] : "";
}
