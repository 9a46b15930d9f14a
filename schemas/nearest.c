/* nearest.c - edit distance, one row at a time. */
#include "schemas/nearest.h"

#include <string.h>

enum { LONGEST = 256, PART = 3 };

static size_t edits(const char *a, const char *b)
{
    size_t n = strlen(b), row[LONGEST + 1];
    if (n > LONGEST || strlen(a) > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t swap = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t edge = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = edge < swap ? edge : swap;
        }
    }
    return row[n];
}

const char *nearest_name(const char *word, const char *const *names)
{
    const char *best = NULL;
    size_t least = (strlen(word) + 1) / 2 + 1; /* at least half of it is right */
    for (const char *const *n = names; *n; n++) {
        size_t d = edits(word, *n);
        if (d < least) {
            least = d;
            best = *n;
        }
    }
    for (; !best && strlen(word) >= PART && *names; names++)
        best = strstr(*names, word) ? *names : NULL;
    return best;
}
