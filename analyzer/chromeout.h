/* chromeout.h - a row of the Chrome trace that export_chrome.c writes: its arguments, by the kind of the event, in Kineto's words. */
#pragma once
#include "analyzer/export.h"
#include "analyzer/outbuf.h"

struct chrome_out {
    struct outbuf o;
    struct export_job *x;
    const struct export_file *f;
    const struct tracedata *d;
    uint32_t file;
    bool several;          /* processes or ranks: rows say which */
    bool begun;            /* the list of events has a row */
    char sep;              /* before the next argument */
    int64_t **correlation; /* by file and process: added to its ids; INT64_MIN: they do not fit */
};

static inline const char *chrome_str(const struct chrome_out *c, uint32_t id)
{
    return intern_str(&c->d->strings, id);
}

/* "args": {...}, opened by the first of a row; one that is not there, and an empty text, are left out. */
void chrome_arg(struct chrome_out *c, const char *name, int64_t v, bool there);
void chrome_arg_text(struct chrome_out *c, const char *name, const char *s);

/* The category of a kind, and what its rows say beside times and places; NULL: nothing. */
struct chrome_kind {
    const char *category;
    void (*args)(struct chrome_out *c, const struct event *ev);
};
extern const struct chrome_kind chrome_kinds[EV_NKINDS];

/* A row's name; `buf` may hold it. */
const char *chrome_name(const struct chrome_out *c, const struct event *ev, char buf[64]);
