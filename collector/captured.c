/* captured.c - see captured.h. */
#include "collector/captured.h"

void captured_end(struct recorder *r, struct captured *c)
{
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_GPU_RANGE;
    a.start = c->start;
    a.end = c->end;
    a.name = c->name;
    a.device = c->device;
    a.stream = c->stream;
    a.correlation = c->id;
    if (a.name)
        recorder_emit(r, &a);
    c->name = NULL;
}

void captured_add(struct recorder *r, struct captured *c, const char *range, const struct activity *a)
{
    bool same = c->name == range && c->id == a->correlation && c->device == a->device && c->stream == a->stream;
    if (!same)
        captured_end(r, c);
    if (!range || a->end < a->start)
        return;
    if (!c->name)
        *c = (struct captured){range, a->start, a->end, a->correlation, a->device, a->stream};
    c->start = a->start < c->start ? a->start : c->start;
    c->end = a->end > c->end ? a->end : c->end;
}
