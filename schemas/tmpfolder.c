/* tmpfolder.c - see tmpfolder.h. */
#include "schemas/tmpfolder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tmpfolder_make(const char *path, struct arena *a, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = arena_printf(a, "%s/cpscope-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(folder))
        return folder;
    fail(e, ERR_FAIL, "%s: no folder for temporary files: %s; set TMPDIR", path, strerror(errno));
    return NULL;
}

void tmpfolder_remove(const char *folder)
{
    struct arena a = {0};
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            unlink(arena_printf(&a, "%s/%s", folder, d->d_name));
    if (dir)
        closedir(dir);
    rmdir(folder);
    arena_free(&a);
}
