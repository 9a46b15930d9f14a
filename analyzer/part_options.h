/* part_options.h - the options that a part was made with, as text: for part*.c.
 */
#pragma once
#include "analyzer/trace.h"

/* Each option that is given, by its name; of --patterns what the file holds. False: `take` says so, or a file cannot be read. */
bool part_text_options(const struct trace_opts *o, bool (*take)(void *ctx, const char *key, const char *value), void *ctx, struct err *e);
/* Those that a part holds. */
bool part_each_option(const char *path, bool (*take)(void *ctx, const char *key, const char *value), void *ctx, struct err *e);
