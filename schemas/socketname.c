/* socketname.c - see socketname.h. */
#include "schemas/socketname.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static bool answers(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool yes = fd >= 0 && (connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 || errno == EAGAIN);
    if (fd >= 0)
        close(fd);
    return yes;
}

static bool folder_can_be_written(const char *path)
{
    char folder[sizeof((struct sockaddr_un *)0)->sun_path];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return access(folder, W_OK | X_OK) == 0;
}

bool socketname_take(const char *path, struct sockaddr_un *at, struct err *e)
{
    struct stat st;
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof at->sun_path)
        return fail(e, ERR_FAIL, "%s: too long for a control socket (%zu bytes at most): give --control a shorter name", path,
                    sizeof at->sun_path - 1);
    memcpy(at->sun_path, path, strlen(path));
    if (!folder_can_be_written(path))
        return fail(e, ERR_FAIL, "%s: no control socket can be made there: %s: give --control a name in a folder that can be written", path,
                    strerror(errno));
    if (lstat(path, &st) != 0)
        return true;
    if (!S_ISSOCK(st.st_mode))
        return fail(e, ERR_FAIL, "%s: something else has that name: give --control another for its socket", path);
    if (answers(at))
        return fail(e, ERR_FAIL, "%s: the control socket of another recording: give --control another name, or one with %%p", path);
    unlink(path);
    return true;
}
