/* kineto_own.c - arguments that only our own Chrome export writes: what Kineto has no word for comes back with them. */
#include "analyzer/json_text.h"
#include "analyzer/kineto.h"

static uint32_t text_id(struct kineto *k, enum kineto_slot slot)
{
    return json_intern(&k->v[slot], &k->d->strings, &k->scratch, NULL);
}

static void site(struct kineto *k, struct event *ev)
{
    uint32_t function = text_id(k, K_FUNCTION), file = text_id(k, K_FILE);
    int64_t line = json_int(&k->v[K_LINE], 0);
    const struct intern *s = &k->d->strings;
    ev->site = tracedata_site(k->d, intern_str(s, function), intern_str(s, file), line > 0 && line <= INT32_MAX ? (int32_t)line : 0);
}

static void call(struct kineto *k, struct event *ev)
{
    struct ev_sync row = {.wait_stream = json_int(&k->v[K_WAIT_STREAM], -1), .wait_event = json_int(&k->v[K_WAIT_EVENT], -1)};
    int64_t did_block = json_int(&k->v[K_DID_BLOCK], -1);
    for (int c = SYNC_STREAM; c <= SYNC_ALLOC; c++)
        if (json_is(&k->v[K_SYNC_CLASS], sync_class_name((enum sync_class)c)))
            row.class = c;
    row.did_block = did_block == 0 || did_block == 1 ? (int32_t)did_block : -1;
    if (row.class)
        ev->detail = tracedata_sync_row(k->d, row);
}

static void range(struct kineto *k, struct event *ev)
{
    struct ev_range row = {.domain = text_id(k, K_DOMAIN), .flavour = RANGE_PUSH_POP, .index = -1};
    row.flavour = json_is(&k->v[K_RANGE], "mark") ? RANGE_MARK : json_is(&k->v[K_RANGE], "start_end") ? RANGE_START_END : RANGE_PUSH_POP;
    ev->detail = tracedata_range_row(k->d, row);
}

static void comm(struct kineto *k, struct event *ev)
{
    int64_t peer = json_int(&k->v[K_PEER], -1);
    ev->bytes = json_int(&k->v[K_BYTES], -1);
    if (ev->detail && peer >= 0 && peer <= INT32_MAX)
        k->d->comms[ev->detail - 1].peer = (int32_t)peer;
}

void kineto_own(struct kineto *k, struct event *ev)
{
    if (k->v[K_FUNCTION].type == JSON_STRING)
        site(k, ev);
    if (ev->kind == EV_RUNTIME && k->v[K_SYNC_CLASS].type == JSON_STRING)
        call(k, ev);
    if (ev->kind == EV_RANGE && (k->v[K_RANGE].type == JSON_STRING || k->v[K_DOMAIN].type == JSON_STRING))
        range(k, ev);
    if (ev->kind == EV_COMM)
        comm(k, ev);
}
