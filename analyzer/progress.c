/* progress.c - quiet unless somebody watches. */
#include "analyzer/progress.h"
#include "schemas/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static bool off, shown;
static int64_t began, last;
static _Thread_local bool muted;

void progress_enable(bool on)
{
    off = !on;
}

void progress_step(const char *what, int64_t done, int64_t total)
{
    if (off || muted || !isatty(STDERR_FILENO))
        return;
    int64_t now = clock_now();
    began = began ? began : now;
    if (now - began < 1000000000 || now - last < 100000000)
        return;
    last = now;
    shown = true;
    if (total > 0)
        fprintf(stderr, "\r%s %" PRId64 " %%\033[K", what, 100 * done / total);
    else
        fprintf(stderr, "\r%s %" PRId64 "\033[K", what, done);
}

void progress_mute(void)
{
    muted = true;
}

void progress_end(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
    began = 0;
}
