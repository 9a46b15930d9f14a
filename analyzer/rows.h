/* rows.h - what importers share on the way from a file's rows to events: time zero, processes, names, and what was lost.
 *
 * The start of the first row that lies within 2^61 ns of 1970 is the trace's time zero. Processes are new entries for each
 * file; pid -1 is "the file does not say". Losses are counted on the way and said once, at the end.
 */
#pragma once
#include "analyzer/idmap.h"
#include "analyzer/import.h"

struct rows {
    struct tracedata *d;
    struct err *e;
    const char *path;
    struct arena scratch; /* emptied now and then by rows_add */
    struct idmap processes;
    uint32_t first_process;
    int32_t rank; /* of the whole file, -1 unknown; set before the first process is made */
    const char *host;
    bool has_t0;
    int64_t n, untimed, bad_bytes, unknown;
};

struct rows rows_start(struct tracedata *d, const char *path, struct err *e);
void rows_free(struct rows *r);

/* An event at absolute `start`, `length` long (ns); false when no event can be there (counted). */
bool rows_event(struct rows *r, enum ev_kind kind, int64_t start, int64_t length, struct event *ev);
/* The same with an end; it may lie in front of the start, the analysis leaves such rows out. */
bool rows_between(struct rows *r, enum ev_kind kind, int64_t start, int64_t end, struct event *ev);
bool rows_add(struct rows *r, const struct event *ev);

uint32_t rows_process(struct rows *r, int64_t pid);
void rows_on_thread(struct rows *r, struct event *ev, int64_t pid, int64_t tid);
/* stream < 0: not known. pid < 0: the first process of the file. */
void rows_on_device(struct rows *r, struct event *ev, int64_t pid, int64_t device, int64_t stream);

uint32_t rows_text(struct rows *r, const char *s, size_t n);
const char *rows_str(const struct rows *r, uint32_t id);

/* Copies by the words of ROCm, CANN and XLA: "CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE", "MemcpyH2D" ...; COPY_UNKNOWN:
 * no direction in the name. */
enum copy_kind rows_copy_kind(const char *name);

void rows_loss(struct rows *r, const char *reason, int64_t count); /* count 0: nothing is lost */
/* Losses counted above, source_format, backend (NULL: not known), clean_end, and the time of day where t0 is one. */
void rows_facts(struct rows *r, const char *format, const char *backend);
