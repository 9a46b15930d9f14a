/* socketname.h - the name of the socket of cpscope record --control.
 *
 * The library in the program removes it at the end; of a program that SIGKILL or _exit ended it stays behind, dead: a connection to it
 * is refused. cpscope record removes those at its end, cpscope control and the next recording of that name what they find.
 */
#pragma once
#include "schemas/err.h"

#include <stdbool.h>
#include <sys/un.h>

/* A byte less than fits: the library makes the socket at NAME~ and gives it its name when it listens, so that a name which
 * refuses is a dead one. */
enum { SOCKETNAME_MAX = sizeof((struct sockaddr_un *)0)->sun_path - 2 };

/* Can a socket be made at `path`? Fills *at. A dead one there is removed. ERR_FAIL: too long; something else of that name;
 * another recording's; a folder that cannot be written. */
bool socketname_take(const char *path, struct sockaddr_un *at, struct err *e);

/* Removes a dead socket; false: there is none. */
bool socketname_drop(const char *path);
