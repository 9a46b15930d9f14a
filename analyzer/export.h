/* export.h - a trace in other people's formats: one file export_NAME.c defines `const struct exporter export_NAME`.
 *
 *   trace_open -> export_open: the rows that are selected and good, by time; numbers that other formats need
 *              -> exporter.write: row by row into a file that gets its name when it is whole
 *
 * Other formats have one number for a device and one for a process, where a job has ranks and hosts:
 *   device   its own number when no other rank has that number; the rank when every rank has one device; else by order
 *   process  its pid when no other process and no device has that number; else one from a million up
 */
#pragma once
#include "analyzer/oneclock.h"

struct export_device {
    uint32_t file;
    int32_t rank, device, number;
};

struct export_file {
    const struct trace_file *f;
    const uint32_t *rows; /* numbers of events: by start, longest first, then by number */
    size_t n;
    int64_t shift;            /* to the clock of the first file, ns */
    const uint32_t *launched; /* by row: 1 + the host row that started it, when both are kept; 0 none */
    const uint8_t *starts;    /* by row: does a kept device row come from it? */
    const int64_t *pid;       /* by process id */
};

struct export_job {
    const struct trace *t;
    struct export_file *files;
    size_t nfiles;
    struct export_device *devices; /* by file, rank, device */
    size_t ndevices, devices_cap;
    int64_t base;   /* what makes times absolute: of the first file; 0 when that would not fit */
    int64_t first;  /* the earliest start, in the first file's clock */
    bool simulated; /* a file of modelled numbers is among them */
    bool ranks;     /* rows of several ranks */
    int32_t rank;   /* the one rank, -1 unknown or several */
    struct one_clock clock;
    size_t last_dev; /* where the last device was found */
    struct arena arena;
};

/* false: nothing is selected. *t must live longer. */
bool export_open(struct export_job *x, const struct trace *t, struct err *e);
void export_close(struct export_job *x);

/* The number of a row's device in the export, -1 none. */
int32_t export_device(struct export_job *x, uint32_t file, const struct event *ev);
/* "SIMULATED device 2", "device 0 (NVIDIA H200)" */
const char *export_device_name(struct export_job *x, const struct export_device *d);
/* The process id of a row, 0 none. */
uint32_t export_process(const struct tracedata *d, const struct event *ev);
/* Is a key of meta one that says what ran, rather than where and how it was recorded? */
bool export_meta(const struct trace_file *f, const char *key);

struct exporter {
    const char *name, *what;
    bool needs_path;                                                      /* cannot go to standard output */
    bool (*write)(struct export_job *x, const char *path, struct err *e); /* path NULL: standard output */
};
extern const struct exporter *const exporters[]; /* ends with NULL */
