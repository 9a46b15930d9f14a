/* kineto.h - what the files of the Kineto importer share: the state of one import, and the keys of one event.
 *
 *   import_kineto.c   the file: where events are, what stands around them, what is wrong with it
 *   kineto_event.c    one event: its time, process, thread or stream
 *   kineto_rows.c     what is particular to a category (a row of a table each)
 *   kineto_own.c      what our own export adds, for which Kineto has no word
 */
#pragma once
#include "analyzer/idmap.h"
#include "analyzer/json_feed.h"
#include "analyzer/openrows.h"
#include "schemas/tracedata.h"

/* The values of one event that are looked at; the names are in kineto_event.c. */
enum kineto_slot {
    K_PH,
    K_CAT,
    K_NAME,
    K_PID,
    K_TID,
    K_TS,
    K_DUR,
    K_DEVICE, /* from here on in args */
    K_STREAM,
    K_CORRELATION,
    K_BYTES,
    K_GRID,
    K_BLOCK,
    K_REGISTERS,
    K_SHARED,
    K_GRAPH,
    K_GRAPH_NODE,
    K_KIND,
    K_COLLECTIVE,
    K_IN_ELEMENTS,
    K_OUT_ELEMENTS,
    K_DTYPE,
    K_GROUP,
    K_GROUP_SIZE,
    K_SEQUENCE,
    K_RANK,
    K_SYNC_KIND,
    K_WAIT_STREAM,
    K_WAIT_EVENT,
    K_LABEL,   /* "name" in args: of a metadata row */
    K_PROCESS, /* from here on written by our own export only */
    K_PEER,
    K_SYNC_CLASS,
    K_DID_BLOCK,
    K_FUNCTION,
    K_FILE,
    K_LINE,
    K_RANGE,
    K_DOMAIN,
    K_SLOTS
};

struct kineto_label { /* process_name and thread_name rows, applied at the end */
    int64_t pid, tid;
    uint32_t name;
    bool of_thread;
};

struct kineto {
    struct json_feed *feed; /* where the values of v come from */
    struct tracedata *d;
    struct err *e;
    struct arena scratch; /* emptied now and then */
    struct json_keys event, args, cats;
    struct json_key event_rows[16], cat_rows[32];
    struct json_value v[K_SLOTS]; /* of the event at hand */

    bool has_t0; /* d->t0 is the ts of the first row that lies within 2^61 ns of zero */
    int32_t rank;

    struct idmap hosts, ranks;                            /* pid of host rows, rank of rows that name one (files merged): process id */
    uint32_t first_host, device_process, runtime_process; /* process ids; 0 not known yet */
    struct kineto_label *labels;
    size_t nlabels, labels_cap;

    struct openrows open;    /* B rows: Kineto writes none, but people put their own marks between */
    int64_t events;          /* whole ones, of every phase */
    int64_t rows;            /* of our categories */
    int64_t skipped;         /* of others */
    int64_t unknown;         /* of these: of categories that nobody here knows to be no work */
    int64_t asynchronous;    /* ranges of no thread (ph b) */
    int64_t untimed;         /* time is absent, no number or more than 73 years off */
    bool hip, cuda, devices; /* seen */
};

void kineto_start(struct kineto *k, struct tracedata *d, struct err *e);
bool kineto_event(struct kineto *k);                 /* k->v into k->d; false only when that cannot be written */
void kineto_rank(struct kineto *k, int32_t rank);    /* of the whole file, whenever it becomes known */
void kineto_own(struct kineto *k, struct event *ev); /* kineto_own.c */
bool kineto_finish(struct kineto *k);                /* what could only be known at the end */
void kineto_free(struct kineto *k);

/* A category that holds rows of time. */
struct kineto_cat {
    const char *name; /* lower case */
    enum ev_kind kind;
    void (*detail)(struct kineto *k, struct event *ev); /* NULL: nothing particular */
};
const struct kineto_cat *kineto_cat_find(struct kineto *k, const struct json_value *cat); /* NULL: not one of ours */
bool kineto_cat_is_no_row(const struct json_value *cat);                                  /* known, and known to hold no time of its own */
void kineto_cats_init(struct kineto *k);
bool kineto_is_cat(const char *name, size_t n);    /* one of ours */
bool kineto_names_cat(const char *text, size_t n); /* an event of a category of ours is in the text */
