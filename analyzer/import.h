/* import.h - foreign traces: one importer a format, found by looking at the content.
 *
 *   path -> import_open -> ours?  tracefile_load
 *                       -> else   the importer whose sniff() is surest -> read() into a struct tracedata
 *
 * What an importer keeps to (spec: formats.md, "Rules every importer keeps"):
 *   - times are decimal text turned into int64 ns, relative to d->t0, and never a double; no event lies more than 2^61 ns
 *     (73 years) from t0, so that differences fit
 *   - a row with end < start or an absurd duration is handed on as it is: the analysis counts it and leaves it out.
 *     What cannot be an event at all is counted in a loss row
 *   - absent is not zero (event.h); the process environment, command lines and tokens stay where they are
 *   - meta says backend, source_format, version (of the format), world_size, device_name ... as far as the file knows
 *   - a collective known by its arguments is EV_COMM; one known only by its name stays EV_KERNEL
 *   - EV_RUNTIME rows carry no sync row: which calls block is decided by the analysis, in one place
 *   - every process of a file is a new entry of d->processes, also when several files go into one tracedata
 */
#pragma once
#include "analyzer/input.h"
#include "schemas/tracedata.h"

enum sniffed { SNIFF_NO, SNIFF_MAYBE, SNIFF_LIKELY, SNIFF_YES }; /* maybe: as anybody writes it; likely: others write so too */

struct importer {
    const char *name; /* also meta source_format */
    const char *what; /* one line for help */
    enum sniffed (*sniff)(const struct input *in);
    bool (*read)(struct input *in, struct tracedata *d, struct err *e); /* appends; `in` stands at its start */
    enum sniffed (*marked)(const char *text, size_t n);                 /* JSON, by a piece of its text from anywhere; NULL: sniff alone tells */
    bool (*holds)(struct input *in); /* a closer look at what lies beside traces: does it hold an event? NULL: sniff has seen enough */
};

extern const struct importer *const importers[]; /* ends with NULL; made from file names */

/* The trace at PATH, ours or foreign, into *d (initialised by the caller; empty when the file is ours). What was lost on
 * the way is in d->loss and, for a foreign file and not `quiet`, in one warning line on stderr. False: not a trace (nothing is said on
 * stderr, *d is to be freed). Nothing is written beside PATH. */
bool import_open(const char *path, bool quiet, struct tracedata *d, struct err *e);

/* For several files at once: without the side tables that are spared (bits of tracefile.h) where that is cheaper, by at
 * most `threads` threads (0: as many as there are cores), and for a foreign file import_warn(path, d, 0) is the caller's. */
bool import_open_part(const char *path, unsigned spared, int threads, struct tracedata *d, bool *foreign, struct err *e);

/* Foreign files only: like import_open, but through d->spill when it is set. */
bool import_file(const char *path, bool quiet, struct tracedata *d, struct err *e);

/* NULL: PATH is a trace, ours or foreign; else what it is, "" for JSON that has nothing of one and nobody would miss. Lives in `a`. */
const char *import_no_trace(const char *path, struct arena *a);

/* The importer whose sniff() is surest; NULL: none takes it. */
const struct importer *import_choose(const struct input *in);

/* What a file is that no importer takes, from its first bytes. */
const char *import_looks_like(const struct input *in);

/* The one line about what is missing since loss row `from`; nothing when nothing is. */
void import_warn(const char *path, const struct tracedata *d, size_t from);
