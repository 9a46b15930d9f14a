/* twins.h - files beside each other that hold one trace in two forms, of which only one is to be counted.
 *
 *   left out                            for
 *   NAME.nsys-rep                       NAME.sqlite                       Nsight's own export of it
 *   NAME.gz, NAME.zst                   NAME                              the same file, packed
 *   trace_view.json (packed or not)     ascend_*_profiler*.db             the two forms of Ascend's profilers: the database
 *   msprof_*.json (packed or not)       msprof_*.db                       has its times undisturbed and knows its rank
 */
#pragma once
#include "schemas/arena.h"

/* Of v[0 .. n-1], in order of strcmp(), what is left out goes; the others keep their order. Returns how many stay. *left, *by:
 * the first that goes and the file for which it does; untouched when none goes. */
size_t twins_drop(const char **v, size_t n, struct arena *a, const char **left, const char **by);
