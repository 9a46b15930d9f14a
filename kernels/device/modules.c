/* modules.c - see modules.h. */
#include "kernels/device/modules.h"
#include "schemas/version.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool module_path(const char *file, char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return false;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = 0;
    return snprintf(path, size, "%s/../lib/cpscope/%s", self, file) < (int)size;
}

const void *module_load(const struct module_want *m, struct err *e)
{
    char path[PATH_MAX];
    if (!module_path(m->file, path, sizeof path))
        return fail(e, ERR_FAIL, "%s: cannot tell where the program lies", m->who), NULL;
    if (access(path, R_OK) != 0)
        return fail(e, ERR_FAIL, "%s: %s is not there: %s", m->who, path, m->not_there), NULL;
    void *so = dlopen(path, RTLD_NOW | (m->global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!so)
        return fail(e, ERR_FAIL, "%s: %s; %s", m->who, dlerror(), m->not_loaded), NULL;
    const char *const *descriptor = dlsym(so, m->symbol);
    if (!descriptor || strcmp(*descriptor, CPSCOPE_VERSION) != 0)
        return fail(e, ERR_FAIL, "%s: %s is of another version than the program: install both together", m->who, path), NULL;
    return descriptor;
}
