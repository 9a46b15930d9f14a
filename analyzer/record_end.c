/* record_end.c - after the program: its files are finished where it was cut off, and the user is told their names. */
#include "analyzer/record_end.h"
#include "schemas/env.h"
#include "schemas/outname.h"
#include "schemas/recover.h"
#include "schemas/ringfile.h"
#include "schemas/socketname.h"
#include "schemas/tracefile.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_side(const char *path)
{
    static const char *const ends[] = {"-wal", "-shm", "-ring"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(path), m = strlen(ends[i]);
        if (n > m && strcmp(path + n - m, ends[i]) == 0)
            return true;
    }
    return false;
}

/* What a process that did not end as programs do has left, or one that ended while somebody looked on; one that still runs,
 * apart from the program, goes on. */
static void finish(const char *path)
{
    struct err e = {0};
    enum leftover left = recover_left(path);
    bool done;
    if ((left == LEFT_BEHIND || (left == LEFT_NOTHING && tracefile_is(path) && tracefile_in_wal(path))) && !tracefile_recover(path, &done, &e))
        fprintf(stderr, "cpscope record: %s\n", e.msg);
}

/* A name that was taken by a program which was ended before it could say anything. */
static bool was_for_nothing(const char *path)
{
    struct stat st;
    char ring[4200];
    if (stat(path, &st) != 0 || st.st_size != 0 || !ringfile_path(path, ring, sizeof ring) || ringfile_has_head(ring))
        return false;
    unlink(ring);
    return unlink(path) == 0;
}

static bool since(const struct stat *st, int64_t began)
{
    return st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec >= began;
}

/* Files of one glob pattern that were written since the start; the first one's name in *name. */
static size_t written(const char *pattern, int64_t began, struct arena *a, const char **name)
{
    glob_t g = {0};
    size_t n = 0;
    if (glob(pattern, GLOB_PERIOD, NULL, &g) != 0)
        return 0;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct stat st;
        if (is_side(g.gl_pathv[i]) || stat(g.gl_pathv[i], &st) != 0 || !since(&st, began))
            continue;
        finish(g.gl_pathv[i]);
        if (was_for_nothing(g.gl_pathv[i]))
            continue;
        if (n++ == 0 && !*name)
            *name = arena_strdup(a, g.gl_pathv[i]);
    }
    globfree(&g);
    return n;
}

/* An option that may have kept all events out, as the program had it; NULL: none. */
static const char *limit(void)
{
    static const char *const limits[][2] = {{ENV_STEPS, "--steps"},   {ENV_RANGE, "--range"},       {ENV_KINDS, "--kinds"},
                                            {ENV_PAUSED, "--paused"}, {ENV_DURATION, "--duration"}, {ENV_DELAY, "--delay"}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (getenv(limits[i][0]))
            return limits[i][1];
    return NULL;
}

static void note_none(const char *program, int status)
{
    if (status > 128) /* by a signal, most likely: what it had is lost, and it may have had something */
        fprintf(stderr, "cpscope record: no file was written: %s ended with status %d before an event was written\n", program, status);
    else if (limit())
        fprintf(stderr, "cpscope record: no file was written: %s had no events that %s lets through\n", program, limit());
    else
        fprintf(stderr, "cpscope record: no file was written: %s had no events to record (no device of cpbench, no NVTX range)\n", program);
}

/* Control sockets of programs that could not remove them; those of programs that go on stay. */
static void drop_sockets(const char *pattern, int64_t began)
{
    char names[4096];
    glob_t g = {0};
    struct err e = {0};
    if (!outname_glob(pattern, false, names, sizeof names, &e) || glob(names, GLOB_PERIOD, NULL, &g) != 0)
        return;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct stat st;
        if (lstat(g.gl_pathv[i], &st) == 0 && since(&st, began))
            socketname_drop(g.gl_pathv[i]);
    }
    globfree(&g);
}

void record_end(const struct record_args *r, int64_t began, int status, struct arena *a)
{
    const char *out = r->out;
    char first[4096], later[4096];
    const char *name = NULL;
    struct err e = {0};
    if (r->control)
        drop_sockets(r->control, began);
    if (!outname_glob(out, false, first, sizeof first, &e) || !outname_glob(out, true, later, sizeof later, &e))
        return;
    size_t n = written(first, began, a, &name);
    if (!outname_varies(out)) /* with a star in it the first pattern finds these as well */
        n += written(later, began, a, &name);
    if (n == 0)
        note_none(r->program.v[0], status);
    else if (r->quiet)
        return;
    else if (n > 1)
        fprintf(stderr, "cpscope record: wrote %s and %zu more\n", name, n - 1);
    else
        fprintf(stderr, "cpscope record: wrote %s\n", name);
}
