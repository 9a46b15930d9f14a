/* mask.h - secrets in command lines are not stored: "--api-key X", "HF_TOKEN=X", "https://user:X@host" lose their X. */
#pragma once
#include "schemas/arena.h"

#include <stdbool.h>

/* One line of argv, in which every value that a name calls a secret is replaced by ***; also inside an argument that is
 * itself a command line (sh -c). An argument with spaces stands in double quotes. */
char *mask_command(struct arena *a, const char *const *argv, size_t n);

/* Does a name (of an option or a variable) call its value a secret: does it hold token, secret, key, password, passwd or
 * credential, in any case? Of the counts "tokens" and "keys" mask_command keeps values that are numbers. */
bool mask_is_secret(const char *name, size_t n);
