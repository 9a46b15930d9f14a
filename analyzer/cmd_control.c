/* cmd_control.c - starts and stops a recording that runs, at the socket of cpscope record --control. */
#include "analyzer/cmd.h"
#include "schemas/arena.h"
#include "schemas/opt.h"
#include "schemas/socketname.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct args {
    const char *path, *order;
};

static const struct opt opts[] = {
    {OPT_ARG, "SOCKET", offsetof(struct args, path), "as given to cpscope record --control"},
    {OPT_ARG, "start|stop|status", offsetof(struct args, order), "what to do"},
    {0},
};

static const char doc[] = "Start or stop a recording that runs, and print what it does now: recording, paused, or stopped for good.\v"
                          "Between stop and start the program goes on and its events are not kept.\n\n"
                          "  cpscope record --control /tmp/run.%p --paused -o run.sqlite -- ./train &\n"
                          "  cpscope control /tmp/run.4711 start\n";

static bool check_order(const char *order, struct err *e)
{
    static const char *const orders[] = {"start", "stop", "status"};
    for (int i = 0; i < 3; i++)
        if (strcmp(order, orders[i]) == 0)
            return true;
    return fail(e, ERR_USAGE, "%s: not start, stop or status", order);
}

/* The answer to `order`, with its line end. */
static bool ask(const char *path, const char *order, char *answer, size_t size, struct err *e)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof at.sun_path)
        return fail(e, ERR_FAIL, "%s: too long for the name of a socket (%zu bytes at most): go to its folder and give the name alone", path,
                    sizeof at.sun_path - 1);
    strcpy(at.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0 && send(fd, order, strlen(order), MSG_NOSIGNAL) > 0;
    ssize_t n = ok ? recv(fd, answer, size - 1, 0) : -1;
    int why = errno;
    if (n < 0 && why == ECONNREFUSED && socketname_drop(path))
        fail(e, ERR_FAIL, "%s: no recording there: its program was cut off and left that name, which is removed now", path);
    else if (n <= 0)
        fail(e, ERR_FAIL, "%s: no recording there: %s; want the socket of cpscope record --control while its program runs", path,
             n < 0 ? strerror(why) : "it has ended");
    answer[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return n > 0;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct arena a = {0};
    struct args args = {0};
    char answer[80];
    bool ok = opt_parse(argc, argv, (const struct opt_group[]){{opts, &args}, {0}}, doc, &a, e) && check_order(args.order, e) &&
              ask(args.path, args.order, answer, sizeof answer, e);
    if (ok)
        fputs(answer, stdout);
    arena_free(&a);
    return err_status(e);
}

const struct cmd cmd_control = {"control", "start or stop a recording that runs", run};
