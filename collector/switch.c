/* switch.c - one line in, one line out: "start", "stop", "status" -> "recording", "paused", "stopped". */
#include "collector/switch.h"
#include "collector/recorder_parts.h"
#include "schemas/outname.h"
#include "schemas/socketname.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOWEST = 768, LINE = 64 };

static struct sockaddr_un where; /* of our socket; sun_path empty: there is none */
static int listener = -1;
static struct stat made; /* of the listener */

static const char *answer(struct recorder *r, const char *line)
{
    static const struct {
        const char *word;
        int off; /* -1: as it is */
    } orders[] = {{"start", 0}, {"stop", 1}, {"status", -1}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        if (strcmp(line, orders[i].word) != 0)
            continue;
        if (orders[i].off >= 0)
            atomic_store(&r->control.off, orders[i].off);
        return recorder_stopped(r) ? "stopped" : atomic_load(&r->control.off) ? "paused" : "recording";
    }
    return "unknown: start, stop or status";
}

static void serve_one(struct recorder *r, int fd)
{
    char line[LINE + 1], reply[LINE + 1];
    struct timeval patience = {.tv_sec = 2};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t n = recv(fd, line, LINE, 0);
    if (n > 0) {
        line[n] = '\0';
        line[strcspn(line, "\r\n")] = '\0';
        snprintf(reply, sizeof reply, "%s\n", answer(r, line));
        n = send(fd, reply, strlen(reply), MSG_NOSIGNAL);
    }
    close(fd);
}

/* Still, or has the program closed it, and opened something of its own under its number? */
static bool is_listener(void)
{
    struct stat now;
    return listener >= 0 && fstat(listener, &now) == 0 && now.st_dev == made.st_dev && now.st_ino == made.st_ino;
}

static void *serve(void *recorder)
{
    bool on = true;
    for (int fd; on && is_listener(); on = fd >= 0 || errno == EINTR || errno == ECONNABORTED)
        if ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
            serve_one(recorder, fd);
    return NULL;
}

/* In one step, and not over another's; a file system that cannot do both does the first. */
static bool give_name(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 || (errno == EINVAL && rename(from, to) == 0);
}

static bool listen_there(const struct sockaddr_un *at, struct err *e)
{
    int low = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, LOWEST);
    if (high >= 0)
        close(low);
    listener = high >= 0 ? high : low;
    struct sockaddr_un early = *at; /* socketname.h */
    early.sun_path[strlen(early.sun_path)] = '~';
    socketname_drop(early.sun_path);
    mode_t before = umask(0077); /* whoever may not trace the program may not do this either */
    bool bound = listener >= 0 && fstat(listener, &made) == 0 && bind(listener, (const struct sockaddr *)&early, sizeof early) == 0;
    umask(before);
    bool named = bound && listen(listener, 4) == 0 && give_name(early.sun_path, at->sun_path);
    int why = errno;
    if (bound && !named)
        unlink(early.sun_path);
    if (named)
        where = *at;
    return named || fail(e, ERR_FAIL, "%s: no control socket can be made there: %s: give --control another name", at->sun_path, strerror(why));
}

static bool start_thread(struct recorder *r, struct err *e)
{
    sigset_t all, before;
    pthread_t t;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&t, NULL, serve, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_detach(t);
    return rc == 0 || fail(e, ERR_FAIL, "%s: no thread for the control socket: %s: raise the limit of threads", where.sun_path, strerror(rc));
}

/* A recording that nothing could start would be none. */
static void stand_aside(struct recorder *r, const struct err *e)
{
    char text[1200];
    bool paused = atomic_exchange(&r->control.off, false);
    snprintf(text, sizeof text, "%s%s", e->msg, paused ? "; it is recorded from the start, for nothing could start it" : "");
    recorder_degraded(r, text);
    switch_close();
    if (is_listener())
        close(listener);
    listener = -1;
}

void switch_open(struct recorder *r, const char *pattern)
{
    struct err e = {0};
    struct sockaddr_un at;
    char path[4096];
    if (!outname_expand(pattern, path, sizeof path, &e) || !socketname_take(path, &at, &e) || !listen_there(&at, &e) || !start_thread(r, &e))
        stand_aside(r, &e);
}

void switch_close(void)
{
    if (*where.sun_path)
        unlink(where.sun_path);
    where.sun_path[0] = '\0';
}

void switch_forked(void)
{
    where.sun_path[0] = '\0'; /* it is the parent's */
    if (is_listener())
        close(listener);
    listener = -1;
}
