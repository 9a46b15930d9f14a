/* warn.c - lines that wait for what comes of the command. */
#include "analyzer/warn.h"
#include "analyzer/progress.h"
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **lines;
static size_t nlines, cap;

void warn(const char *fmt, ...)
{
    char text[sizeof((struct err *)0)->msg];
    struct err line = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fail(&line, ERR_FAIL, "%s", text);
    ARRAY_PUSH(lines, nlines, cap, strdup(line.msg));
}

void warn_show(void)
{
    if (nlines)
        progress_end();
    for (size_t i = 0; i < nlines; i++) {
        fprintf(stderr, "cpscope: %s\n", lines[i] ? lines[i] : "out of memory");
        free(lines[i]);
    }
    free(lines);
    lines = NULL;
    nlines = cap = 0;
}

const char *warn_cause(void)
{
    static char text[sizeof((struct err *)0)->msg];
    snprintf(text, sizeof text, "%s%s", nlines ? "; " : "", nlines && lines[0] ? lines[0] : "");
    return text;
}
