/* nccl_files.c - see nccl_files.h. */
#include "kernels/comm/nccl_files.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool name_of(char *name, const char *prefix, int64_t number, int rank, const char *suffix, struct err *e)
{
    return snprintf(name, PATH_MAX, "%s.%" PRId64 ".%d%s", prefix, number, rank, suffix) < PATH_MAX ||
           fail(e, ERR_USAGE, "CPBENCH_NCCL_FILE: the name is too long");
}

bool nccl_file_write(const char *prefix, int64_t number, int rank, const void *data, size_t bytes, struct err *e)
{
    char name[PATH_MAX], made[PATH_MAX];
    if (!name_of(name, prefix, number, rank, "", e) || !name_of(made, prefix, number, rank, ".tmp", e))
        return false;
    if (access(name, F_OK) == 0)
        return fail(e, ERR_FAIL, "%s: is there from an earlier run: give CPBENCH_NCCL_FILE another name", name);
    FILE *f = fopen(made, "wb");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;
    ok = f && fclose(f) == 0 && ok && rename(made, name) == 0;
    return ok || fail(e, ERR_FAIL, "%s: cannot be written: %s", name, strerror(errno));
}

bool nccl_file_read(const char *prefix, int64_t number, int rank, void *data, size_t bytes, const atomic_bool *broken, struct err *e)
{
    enum { LOOKS = 12000, NAP_NS = 10000000 };
    char name[PATH_MAX];
    FILE *f = NULL;
    if (!name_of(name, prefix, number, rank, "", e))
        return false;
    for (int i = 0; i < LOOKS && !atomic_load(broken) && !(f = fopen(name, "rb")); i++)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    if (!f)
        return fail(e, ERR_FAIL, "%s: rank %d has not written it: do all ranks see this folder?", name, rank);
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok || fail(e, ERR_FAIL, "%s: is cut", name);
}
