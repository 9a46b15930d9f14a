/* rules_scan.h - a line of the rule language as words: names and numbers, operators, quoted strings, other characters one by one.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

enum { WORD_MAX = 512 };

struct scan {
    const char *p; /* the rest of the line */
    const char *file;
    int line;
    struct arena *arena;
    struct err *e;
    char word[WORD_MAX]; /* the word taken last */
};

/* Both are false: ERR_USAGE with file and line; of a word that is no `kind`, with the nearest of `names` (ends with NULL). */
bool scan_bad(struct scan *s, const char *what);
bool scan_unknown(struct scan *s, const char *kind, const char *const *names);

void scan_space(struct scan *s);
bool scan_string(struct scan *s);      /* a quoted string; its text in s->word */
const char *scan_take(struct scan *s); /* the next word into s->word, "" at the end of the line; returns where it began */
bool scan_is(const struct scan *s, const char *word);
