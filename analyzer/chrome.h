/* chrome.h - reading a Chrome trace as a stream, event by event, through what people's files suffer from.
 *
 *   { facts ..., "traceEvents": [ event, event, ... ], facts ... }       or the bare list
 *
 * Malformed events are stepped over and counted; a fact whose end cannot be found costs the facts, not the events.
 */
#pragma once
#include "analyzer/json_feed.h"
#include "schemas/tracedata.h"

struct chrome {
    const struct json_keys *keys; /* of an event; its values go to v[0 .. nv-1] */
    struct json_value *v;
    size_t nv;
    bool (*event)(void *ctx);                           /* looks at v; false: it cannot be written, *e says why */
    enum json_step (*fact)(void *ctx, const char *key); /* reads or skips the value of a top-level key; NULL: all skipped */
    void *ctx;
    struct err *e;
    struct arena *scratch;

    struct json_feed feed; /* from here on: set by chrome_read */
    struct input *in, again;
    bool found;      /* the list of events */
    const char *bad; /* the first thing that is not JSON, and its offset in the text */
    int64_t bad_at;
    bool facts_lost;   /* what stands in front of the events is broken */
    bool more_text;    /* behind the end of the document */
    int64_t malformed; /* events stepped over */
};

/* Before chrome_read, for formats that name their lanes anywhere: every event of the file once, through `look`. What is
 * wrong with the file is chrome_read's to say; false: it cannot be opened. */
bool chrome_look(const struct chrome *c, const char *path, bool (*look)(void *ctx));

/* The whole file. JSON_OK: to its end; else it is cut or broken (chrome_losses says how), or *e is set. */
enum json_step chrome_read(struct chrome *c, struct input *in);

/* Is there one whole event in the text? Reads as far as that. */
bool chrome_holds(struct input *in);

/* Why nothing could be read; always false. For a file without one whole event. */
bool chrome_refuse(struct chrome *c, enum json_step rc);

/* Loss rows: what was repaired, stepped over or missing; `events` were kept. */
void chrome_losses(struct chrome *c, enum json_step rc, struct tracedata *d, int64_t events);

/* At the end: threads and processes that are called by texts (json_id) get those as names where they have none, and small
 * negative numbers. */
void chrome_settle_ids(struct tracedata *d);

void chrome_close(struct chrome *c);

/* Does the text begin as such a file might? *in stands for its first bytes. */
bool chrome_begins(const struct input *in);
