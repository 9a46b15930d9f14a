/* trace.h - what a result table sees: one or more loaded files, cut into ranks and lanes, with a window and a selection.
 *
 *   trace -- file (one recording or foreign trace; several make one job of many ranks)
 *              |-- rank   (file, rank): host threads, steps, the window of the host's rows
 *              |     `-- lane  (file, rank, device): the work of one device, the window of the device's rows
 *
 * Event lists hold numbers into file->d.ev. They hold only rows that are selected (--rank, --device, --range, --from,
 * --to) and good; rows with end < start, an impossible zero start or a duration over an hour are counted in bad_rows.
 * Nothing is clipped here: a table clips to the window by ivl_within(). Files given twice with the same rank are two
 * runs: file.run differs and nothing matches across runs.
 */
#pragma once
#include "analyzer/ivl.h"
#include "analyzer/steps.h"
#include "schemas/opt.h"
#include "schemas/table.h"
#include "schemas/tracedata.h"

struct thin;
struct replay_shared;

/* ---- options (cli.md): how a trace is opened ---- */
struct trace_opts {
    int64_t rank, device;      /* -1: all */
    int64_t from, to;          /* ns since the trace's start; INT64_MIN, INT64_MAX: open */
    const char *step;          /* "N" or "A:B" (A to B, both included); NULL: all */
    const char *range;         /* RE */
    const char *span;          /* step, gpu, all; NULL: the default rule */
    const char *step_marker;   /* RE */
    const char *patterns;      /* file of `class RE` lines: see classes.h */
    const char *patterns_text; /* what that file holds, when a part says so; NULL: it is read */
    bool quiet;                /* no progress, no warnings */
    unsigned spared;           /* what need not be loaded: bits of tracefile.h, see table_spares() */
    const struct thin *thin;   /* host rows that need not be kept once they are loaded: thin.h; NULL: all are kept */
    int threads;               /* that read one file; 0: as many as there are cores */
    bool one_of_many;          /* the other files of the job are opened apart: what this one lacks is no failure, see trace.lacks */
};
#define TRACE_OPTS_NONE ((struct trace_opts){.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX})
extern const struct opt trace_opt_rows[]; /* into a struct trace_opts; for opt_parse */

enum span { SPAN_STEP, SPAN_GPU, SPAN_ALL };

/* What kind of work a device row is: compute and comm are both kernels; the test is classes.h. As bits. */
enum work { WORK_COMPUTE = 1, WORK_COMM = 2, WORK_COPY = 4, WORK_SET = 8, WORK_KERNEL = 3, WORK_USEFUL = 13, WORK_ANY = 15 };

struct trace_file {
    const char *path, *name; /* name: the last part of the path */
    const char *backend;     /* cuda, rocm, ascend, cpu, sim; NULL: not in this trace */
    bool foreign;            /* not a file of ours */
    int run;                 /* files of one run hold each rank once */
    struct tracedata d;
    int64_t start, end;  /* of the trace: start of a recording, else of the first good row, before selection; end < start: no row */
    size_t bad_rows;     /* all kinds */
    const int32_t *held; /* ranks of its rows before selection */
    size_t nheld;
    const uint8_t *class;        /* by string id: enum kclass of a kernel's name (classes.h); 0 not looked at */
    unsigned kinds;              /* bit k: rows of event kind k are there (before selection) */
    struct launches *launches;   /* what launches_of() found (nest.h); of files with rows */
    uint32_t first_rank, nranks; /* in trace.ranks */
};

struct thread_events {
    uint32_t thread;    /* id in d.threads */
    const uint32_t *ev; /* host rows of this thread: by start, longest first, then by number: parents before children */
    size_t n;
};

struct trace_rank {
    uint32_t file;
    int32_t rank;       /* -1 not known */
    const uint32_t *ev; /* all host rows, thread by thread */
    size_t n;
    const struct thread_events *threads;
    size_t nthreads;
    uint32_t first_lane, nlanes; /* in trace.lanes */
    struct steplist steps;       /* all complete steps, or those of --step */
    struct ivlset window;        /* of its host rows */
    size_t bad_rows;             /* host rows */
};

struct lane {
    uint32_t file, host; /* host: its entry of trace.ranks */
    int32_t rank, device;
    const uint32_t *ev; /* kernels, collectives, copies, fills: by start, end, number */
    size_t n;
    size_t bad_rows;
    struct ivlset window;
};

struct trace {
    struct trace_file *files;
    size_t nfiles;
    struct trace_rank *ranks; /* by file, rank */
    size_t nranks;
    struct lane *lanes; /* by file, rank, device */
    size_t nlanes;
    size_t ranks_cap, lanes_cap;
    enum span span;
    struct trace_opts opts;
    unsigned lacks;               /* of a trace that is one_of_many: bits of enum lack */
    bool borrowed;                /* of trace_again() */
    bool alone;                   /* opened for one table only, which may let rows go that it has done with */
    struct calls *calls;          /* collectives of rows that are gone (reduce.h); NULL: they are among the rows */
    struct replay_shared *replay; /* of a trace that several tables replay: replay.h; NULL: each makes its own */
    struct arena arena;           /* owns the lists */
};

/* What a restriction may find nothing of, in the order in which it is looked for. */
enum lack { LACK_ROWS, LACK_DEVICE, LACK_MARKER, LACK_RANGE, LACK_STEP, LACK_MARKS, LACK_WORK };

/* Loads files and folders (every trace in a folder), selects, finds steps and windows. On failure *t is empty and *e says
 * why: ERR_USAGE bad option values, ERR_FAIL unreadable, ERR_UNDECIDED a restriction leaves nothing. */
bool trace_open(const char *const *paths, size_t n, const struct trace_opts *o, struct trace *t, struct err *e);
void trace_close(struct trace *t);
/* The same rows in memory under another selection; `t` keeps them and is closed after *again. */
bool trace_again(const struct trace *t, const struct trace_opts *o, struct trace *again, struct err *e);
/* False, with the reason: a job whose files all lack something. */
bool trace_complete(const struct trace *t, struct err *e);
/* False: `path`, where output is to go (NULL: to stdout), is a file that `t` was read from. ERR_USAGE. */
bool trace_spares(const struct trace *t, const char *path, struct err *e);

const char *trace_string(const struct trace_file *f, uint32_t id);
enum work trace_work(const struct trace_file *f, const struct event *ev); /* of a row of class WORK */
bool trace_is_comm(const struct trace_file *f, const struct event *ev);
bool trace_has(const struct trace *t, enum ev_kind k);                           /* any file has rows of it, before selection */
uint32_t trace_event_process(const struct tracedata *d, const struct event *ev); /* of work its stream's, of other rows their thread's, where told */
int32_t trace_event_rank(const struct tracedata *d, const struct event *ev);     /* its own, else its process's, else -1 */

/* Union of a lane's rows of the given kinds of work, clipped to its window. */
struct ivlset trace_union(const struct trace *t, struct arena *a, const struct lane *l, unsigned work);
struct ivlset trace_idle(const struct trace *t, struct arena *a, const struct lane *l); /* window less union of all work */
/* What the window is, in words: "steps 0 to 9 of each rank" ... */
const char *trace_window_text(const struct trace *t, struct arena *a);

/* ---- result tables ---- */

/* One file table_NAME.c defines `const struct table_desc table_NAME`; it is a command, a table of the report and a word
 * of the rule language by that. `columns` holds the ones of cli.md, then COLUMNS_SOURCE, then what came later. */
struct table_desc {
    const char *name, *title;
    const char *what;    /* a paragraph for `cpscope help NAME`: definitions, what a row is */
    const char *example; /* options of the example in --help; NULL: of one rank, the first rows */
    const struct column *columns;
    const char *worst;      /* the column whose largest value names the worst rank (--across-ranks); NULL: none */
    const struct opt *opts; /* its own options, into a struct of args_size bytes; NULL: none */
    size_t args_size;       /* args are zeroed before parsing: zero means default */
    unsigned spares;        /* SIDE_ and ROWS_ bits of tracefile.h: what it never looks at, rows without options of its own */
    /* args NULL: all defaults. ERR_UNDECIDED when the source never records such events. `out` is initialised. `t` is one
     * file and each file is given in its turn, unless `whole` says that the table needs the rows of all of them at once.
     * Texts in cells are constants or live in `out`. */
    bool (*fill)(const struct trace *t, const void *args, struct table *out, struct err *e);
    bool (*whole)(const void *args);                                  /* NULL: no */
    void (*thins)(const void *args, struct thin *t, struct arena *a); /* of a whole table: the rows that it looks at; NULL: at all */
    bool joins;        /* it looks at t->calls, the file's collectives, and marks in c.row what it made of them */
    const char *waits; /* column of waiting in matched collectives: as filled, the number that c.row of its calls has */
    /* When all files are there, as husks without rows (reduce.h); NULL: nothing more to do. */
    void (*finish)(const struct trace *t, const void *args, struct table *out);
    int (*order)(const struct cell *x, const struct cell *y); /* of the rows; NULL: as they come */
};
extern const struct table_desc *const table_descs[]; /* ends with NULL */

#define COLUMNS_SOURCE                                                                                                                               \
    {"backend", UNIT_TEXT, .what = "what made the trace: cuda, rocm, ascend, cpu, sim"},                                                             \
    {                                                                                                                                                \
        "trace", UNIT_TEXT, .what = "the file's base name"                                                                                           \
    }

const struct table_desc *table_find(const char *name); /* NULL: none of that name */
/* Initialises *out and fills it: rows in their final order, notes with the window, bad rows, losses and what is missing.
 * The caller frees it. */
bool table_build(const struct table_desc *d, const struct trace *t, const void *args, struct table *out, struct err *e);
/* The first of the table's own options that is set; NULL: none. */
const char *table_option(const struct table_desc *d, const void *args);
/* What need not be loaded for it: bits of tracefile.h. Rows are left out only of the table as it is by default, of all times. */
unsigned table_spares(const struct table_desc *d, const struct trace_opts *o, const void *args);
/* The notes that every table ends with: the window, bad rows, losses. */
void table_notes(const struct trace *t, struct table *out);
void table_note_files(const struct trace *t, struct table *out); /* the same without the window */
void table_note_steps(const struct trace *t, struct table *out); /* steps.h: what was called a step and is none */
void runs_note(const struct trace *t, struct table *out);        /* what ranks of one job were told by, where that is not their numbers */
/* A new row with backend and trace set. */
struct cell *trace_row(const struct trace *t, uint32_t file, struct table *out);
