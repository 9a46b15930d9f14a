/* socketname.h - the name of the socket of cpscope record --control: looked at before the program starts, and by the library in it.
 */
#pragma once
#include "schemas/err.h"

#include <stdbool.h>
#include <sys/un.h>

/* Can a socket be made at `path`? Fills *at. One at which nobody answers is an earlier program's, and is removed. ERR_FAIL: too long;
 * something else of that name; another recording's; a folder that cannot be written. */
bool socketname_take(const char *path, struct sockaddr_un *at, struct err *e);
