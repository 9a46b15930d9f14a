/* socketname.c - see socketname.h. */
#include "schemas/socketname.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name as an address; false: too long. */
static bool address(const char *path, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) > SOCKETNAME_MAX)
        return false;
    memcpy(at->sun_path, path, strlen(path));
    return true;
}

static bool is_socket(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* Refused: whoever listened there has closed it, or is gone. */
static bool is_dead(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool dead = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return dead;
}

bool socketname_drop(const char *path)
{
    struct sockaddr_un at;
    return address(path, &at) && is_socket(path) && is_dead(&at) && unlink(path) == 0;
}

static bool folder_can_be_written(const char *path)
{
    char folder[SOCKETNAME_MAX + 1];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return access(folder, W_OK | X_OK) == 0;
}

bool socketname_take(const char *path, struct sockaddr_un *at, struct err *e)
{
    struct stat st;
    if (!address(path, at))
        return fail(e, ERR_FAIL, "%s: too long for a control socket (%d bytes at most): give --control a shorter name", path, SOCKETNAME_MAX);
    if (!folder_can_be_written(path))
        return fail(e, ERR_FAIL, "%s: no control socket can be made there: %s: give --control a name in a folder that can be written", path,
                    strerror(errno));
    if (lstat(path, &st) != 0 || socketname_drop(path))
        return true;
    if (!S_ISSOCK(st.st_mode))
        return fail(e, ERR_FAIL, "%s: something else has that name: give --control another for its socket", path);
    return fail(e, ERR_FAIL, "%s: the control socket of another recording: give --control another name, or one with %%p", path);
}
