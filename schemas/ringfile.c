/* ringfile.c - the facts of a recording, written by the recorder and, where it had no time for it, by who finishes its file. */
#include "schemas/ringfile.h"
#include "schemas/launch.h"
#include "schemas/version.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ringfile_path(const char *trace, char *out, size_t size)
{
    int n = snprintf(out, size, "%s" RINGFILE_SUFFIX, trace);
    return n > 0 && (size_t)n < size;
}

bool ringfile_has_head(const char *ring)
{
    char magic[sizeof((struct ring_head *)0)->magic];
    int fd = open(ring, O_RDONLY | O_CLOEXEC);
    bool has = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic && memcmp(magic, RINGFILE_MAGIC, sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return has;
}

/* The first bytes of a small file, without its line end. */
static void read_text(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = '\0';
    to[strcspn(to, "\n")] = '\0';
}

int64_t ringfile_started(int64_t pid, char *state)
{
    enum { STARTED = 20 }; /* fields from the state on to that one */
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    read_text(path, text, sizeof text);
    char *p = strrchr(text, ')'); /* behind the name, which may hold anything */
    *state = p && p[1] ? p[2] : 'X';
    for (int i = 0; p && i < STARTED; i++)
        p = strchr(p + 1, ' ');
    return p ? strtoll(p, NULL, 10) : -1;
}

void ringfile_self(struct ring_head *h)
{
    struct launch l = launch_env();
    struct stat st;
    char state;
    h->pid = getpid();
    h->started = ringfile_started(h->pid, &state);
    h->namespace = stat("/proc/self/ns/pid", &st) == 0 ? (int64_t)st.st_ino : -1;
    h->rank = l.rank;
    h->local_rank = l.local_rank;
    h->world = l.world;
    read_text("/proc/sys/kernel/random/boot_id", h->boot, sizeof h->boot);
    snprintf(h->release, sizeof h->release, "%s", CPSCOPE_VERSION);
    gethostname(h->host, sizeof h->host - 1);
}

static void number(struct tracedata *d, const char *key, int64_t v)
{
    if (v >= 0)
        tracedata_metaf(d, key, "%lld", (long long)v);
}

static void kinds(struct tracedata *d, uint32_t mask)
{
    char text[400] = "";
    for (int k = 0; k < EV_NKINDS; k++)
        if (mask >> k & 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "," : "", ev_kind_name((enum ev_kind)k));
    tracedata_meta(d, "record_kinds", text);
}

static bool simulated(const struct tracedata *d)
{
    const char *backend = tracedata_meta_get(d, "backend");
    return backend && strcmp(backend, "sim") == 0;
}

void ringfile_facts(const struct ring_head *h, struct tracedata *d)
{
    if (!tracedata_meta_get(d, "backend"))
        tracedata_meta(d, "backend", "cpu"); /* ranges of a program that runs on its host */
    tracedata_meta(d, "source_format", "cpscope");
    tracedata_meta(d, "version", h->release);
    tracedata_meta(d, "host", h->host);
    number(d, "pid", h->pid);
    number(d, "rank", h->rank);
    number(d, "local_rank", h->local_rank);
    if (!tracedata_meta_get(d, "world"))
        number(d, "world", h->world);
    if (*h->command)
        tracedata_meta(d, "command", h->command);
    number(d, "stack_threshold_ns", h->stack_threshold);
    if (h->kinds != UINT32_MAX)
        kinds(d, h->kinds);
    number(d, "utc_epoch_ns", h->realtime[1]);
    if (!simulated(d)) {
        tracedata_meta(d, "boot_id", h->boot); /* files of one boot share their clock */
        struct clock_row c = {intern_id(&d->strings, "realtime"), h->realtime[0], h->realtime[1], h->realtime[2]};
        ARRAY_PUSH(d->clocks, d->nclocks, d->clocks_cap, c);
    }
}
