/* begin.c - the files of a recording, made by the thread with the first event: TRACE, empty, so that its name is ours, and
 * TRACE-ring, in which every event outlives the process from now on. */
#include "collector/recorder_parts.h"
#include "schemas/opt.h"
#include "schemas/outname.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An earlier run's file goes when that was asked for; one of this run stays. */
static void remove_old(const char *path, int64_t before)
{
    struct stat st;
    if (before && stat(path, &st) == 0 && st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec < before)
        unlink(path);
}

static bool take_name(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The first name that nobody has; another process may take one at the same moment. */
static bool claim(struct recorder *r, struct err *e)
{
    char name[4096];
    struct launch l = launch_env();
    if (!outname_expand(r->out, name, sizeof name, e))
        return false;
    for (int i = 0; i < OUTNAME_TRIES; i++) {
        if (!outname_try(name, i, l, r->path, sizeof r->path))
            return fail(e, ERR_FAIL, "%s: the file name is too long", name);
        remove_old(r->path, r->replace_before);
        if (take_name(r->path))
            return true;
        if (errno != EEXIST)
            return fail(e, ERR_FAIL, "%s: cannot write: %s", r->path, strerror(errno));
    }
    return fail(e, ERR_FAIL, "%s: exists already, and so do the names derived from it", name);
}

static void fill_head(const struct recorder *r, struct ring_head *h)
{
    ringfile_self(h);
    h->layout = RINGFILE_LAYOUT;
    h->slot_bytes = sizeof(struct packed);
    h->t0 = r->t0;
    memcpy(h->realtime, r->realtime, sizeof h->realtime);
    h->kinds = r->kinds;
    if (!r->stack_threshold || !opt_int(r->stack_threshold, &h->stack_threshold))
        h->stack_threshold = -1;
    snprintf(h->command, sizeof h->command, "%s", r->command ? r->command : "");
    atomic_signal_fence(memory_order_release);
    memcpy(h->magic, RINGFILE_MAGIC, sizeof h->magic);
}

/* What was said before there was a place for it. */
static void define_facts(struct recorder *r)
{
    for (size_t i = 0; i < r->nfacts; i++)
        defs_put(&r->defs, DEF_META, 0, 0, 0, (struct def_tail){.text = {r->facts[i].key, r->facts[i].value}});
    if (*r->degraded)
        defs_put(&r->defs, DEF_DEGRADED, 0, 0, 0, (struct def_tail){.text = {r->degraded}});
}

bool recorder_begin_files(struct recorder *r)
{
    struct err e = {0};
    char ring[4200], text[1200];
    if (!claim(r, &e)) {
        snprintf(text, sizeof text, "%s; recording stops here", e.msg);
        recorder_say(text);
        r->path[0] = '\0';
        return false;
    }
    bool named = ringfile_path(r->path, ring, sizeof ring);
    if (named)
        unlink(ring); /* of an earlier file of that name */
    if (!pool_open(&r->pool, r->memory_cap, named ? ring : NULL)) {
        recorder_say("nothing is recorded: no memory for it");
        recorder_end_files(r, false);
        return false;
    }
    fill_head(r, r->pool.base);
    define_facts(r);
    recorder_check_ring(r);
    return true;
}

void recorder_check_ring(struct recorder *r)
{
    char text[1200];
    if (!r->pool.why || r->pool.why == r->pool_why)
        return;
    r->pool_why = r->pool.why;
    snprintf(text, sizeof text, "%.1000s" RINGFILE_SUFFIX ": %s: a kill of the program loses its last events", r->path, strerror(r->pool.why));
    recorder_add_degraded(r, text);
}

void recorder_end_files(struct recorder *r, bool keep)
{
    char ring[4200];
    if (*r->path && ringfile_path(r->path, ring, sizeof ring))
        unlink(ring);
    if (*r->path && !keep) {
        unlink(r->path);
        r->path[0] = '\0';
    }
}
