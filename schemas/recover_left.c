/* recover_left.c - whose a ring file is: of a process that still maps it, of one that is gone, of one that cannot be seen from here.
 *
 *   another boot of this host -> gone;  another host or container -> not to be seen;  the pid, started when the ring says, maps it -> runs
 */
#include "schemas/recover.h"
#include "schemas/ringfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static bool mapped_by(int64_t pid, const struct stat *st)
{
    char path[64], line[4400], want[64];
    snprintf(path, sizeof path, "/proc/%lld/maps", (long long)pid);
    snprintf(want, sizeof want, " %02x:%02x %llu ", major(st->st_dev), minor(st->st_dev), (unsigned long long)st->st_ino);
    FILE *f = fopen(path, "re");
    bool found = !f && errno == EACCES; /* somebody else's: its start tells all */
    while (f && !found && fgets(line, sizeof line, f))
        found = strstr(line, want) != NULL;
    if (f)
        fclose(f);
    return found;
}

static enum leftover whose(const struct ring_head *h, const struct stat *st)
{
    struct ring_head self = {0};
    char state;
    ringfile_self(&self);
    if (strcmp(h->host, self.host) == 0 && strcmp(h->boot, self.boot) != 0)
        return LEFT_BEHIND;
    if (strcmp(h->boot, self.boot) != 0 || h->namespace != self.namespace)
        return LEFT_ELSEWHERE;
    bool there = ringfile_started(h->pid, &state) == h->started && state != 'Z' && state != 'X';
    return there && mapped_by(h->pid, st) ? LEFT_RUNNING : LEFT_BEHIND;
}

static bool read_head(int fd, struct ring_head *h)
{
    return pread(fd, h, sizeof *h, 0) == sizeof *h && memcmp(h->magic, RINGFILE_MAGIC, sizeof h->magic) == 0;
}

/* Without a head it is being made, or its process was ended while it made it and has said nothing. */
static bool is_new(const struct stat *st)
{
    enum { MAKING_S = 5 };
    return time(NULL) - st->st_mtim.tv_sec < MAKING_S;
}

enum leftover recover_left(const char *path)
{
    char ring[4200];
    struct ring_head *h = malloc(sizeof *h);
    struct stat st;
    enum leftover left = LEFT_NOTHING;
    int fd = h && ringfile_path(path, ring, sizeof ring) ? open(ring, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0)
        left = read_head(fd, h) ? whose(h, &st) : is_new(&st) ? LEFT_RUNNING : LEFT_NOTHING;
    if (fd >= 0)
        close(fd);
    free(h);
    return left;
}
