/* keyvalue.h - files of `key = value` lines: machines, model configurations, experiments. # starts a comment.
 *
 * A file may have sections, lines `[name]`; keys before the first belong to the section "".
 */
#pragma once
#include "schemas/err.h"

#include <stdbool.h>

struct keyvalue {
    const char *from; /* what messages call the text */
    int line;
    const char *section, *key, *value; /* trimmed, writable copies that live for the call; a `[section]` line has key NULL */
};

/* Files that a program carries: their names and texts, a list that ends with a NULL name. */
struct keyvalue_text {
    const char *name, *text;
};

/* Calls `take` for each line that says something, until one returns false. ERR_USAGE with file:line when a line is neither. */
bool keyvalue_each(const char *text, const char *from, bool (*take)(void *ctx, const struct keyvalue *kv, struct err *e), void *ctx, struct err *e);
/* The text of a shipped file by its name, else of a file of up to 1 MB; malloc'ed. NULL: ERR_USAGE with the shipped names, the
 * nearest first, when it is neither (`what`: "experiment"); ERR_FAIL when the file cannot be read. */
char *keyvalue_load(const char *name_or_file, const struct keyvalue_text *shipped, const char *what, struct err *e);
