/* tmpfolder.h - a folder for temporary files, for what only programs or libraries can read that take files.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

/* In TMPDIR, else /tmp; lives in `a`. NULL on failure, in words about `path`, which needs it. */
const char *tmpfolder_make(const char *path, struct arena *a, struct err *e);
void tmpfolder_remove(const char *folder); /* with the files in it */
