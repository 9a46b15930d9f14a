/* switch.c - one line in, one line out: "start", "stop", "status" -> "recording", "paused", "stopped". */
#include "collector/switch.h"
#include "collector/recorder_parts.h"
#include "schemas/outname.h"

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

static struct sockaddr_un where; /* sun_path empty: not ours, or none */
static int listener = -1;

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

static void *serve(void *recorder)
{
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == EINTR || errno == ECONNABORTED;)
        if (fd >= 0)
            serve_one(recorder, fd);
    return NULL;
}

/* A socket of that name on which nobody answers is an earlier program's. */
static void remove_stale(void)
{
    struct stat st;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool stale = lstat(where.sun_path, &st) == 0 && S_ISSOCK(st.st_mode) && connect(fd, (struct sockaddr *)&where, sizeof where) != 0;
    if (stale)
        unlink(where.sun_path);
    close(fd);
}

static bool listen_there(struct err *e)
{
    remove_stale();
    int low = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, LOWEST);
    if (high >= 0)
        close(low);
    listener = high >= 0 ? high : low;
    mode_t before = umask(0077); /* whoever may not trace the program may not do this either */
    bool ok = listener >= 0 && bind(listener, (struct sockaddr *)&where, sizeof where) == 0 && listen(listener, 4) == 0;
    umask(before);
    return ok || fail(e, ERR_FAIL, "%s: no socket there: %s", where.sun_path, strerror(errno));
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
    return rc == 0 || fail(e, ERR_FAIL, "no thread for the socket: %s", strerror(rc));
}

void switch_open(struct recorder *r, const char *pattern)
{
    struct err e = {0};
    char path[4096];
    bool ok = outname_expand(pattern, path, sizeof path, &e);
    if (ok && strlen(path) >= sizeof where.sun_path)
        ok = fail(&e, ERR_FAIL, "%s: too long for the name of a socket", path);
    where.sun_family = AF_UNIX;
    snprintf(where.sun_path, sizeof where.sun_path, "%s", ok ? path : "");
    ok = ok && listen_there(&e) && start_thread(r, &e);
    if (!ok) {
        recorder_degraded(r, e.msg);
        where.sun_path[0] = '\0';
    }
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
    if (listener >= 0)
        close(listener);
    listener = -1;
}
