/* writer_file.h - the file of a recording: its name, and the facts that are written at its start and at its end. */
#pragma once
#include "collector/recorder_parts.h"
#include "schemas/tracefile.h"

/* Puts the first facts into *d and makes the name that was taken (recorder_begin_files) a trace file. NULL on failure. */
struct tracefile *writer_file_open(const struct recorder *r, struct tracedata *d, struct err *e);

/* Are the times of this trace those of a simulator? Then they start at 0, and no other clock means anything. */
bool writer_file_simulated(const struct tracedata *d);
void writer_file_virtual(struct tracedata *d);

/* What the recording cost, and the clocks at its end.
 *   record_cost_ns_per_event  an emit with its two readings of the clock, timed here and now on a ring of its own
 *   record_cost_pct           events * that / (wall time from the start * emitting threads): share of the time of a thread
 *   record_writer_cpu_ns      of the writer thread, beside the program where a core is idle, instead of it where none is */
void writer_file_costs(const struct recorder *r, struct tracedata *d, int64_t threads);
