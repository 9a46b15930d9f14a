/* import_packed.c - databases that are packed or lie in an archive, ours among them.
 *
 *   run.sqlite.gz, run.tar.zst/rank0.db  -- unpacked -->  TMPDIR/cpscope-.../database  -->  whose file it is, by content
 *
 * SQLite reads files only. The copy is gone again when the rows are in memory.
 */
#include "analyzer/import.h"
#include "analyzer/sqlin.h"
#include "schemas/tmpfolder.h"
#include "schemas/tracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static enum sniffed sniff(const struct input *in)
{
    return sqlin_is_database(in) && input_is_packed(in) ? SNIFF_YES : SNIFF_NO;
}

static bool copy(struct input *in, int fd, struct err *e)
{
    static _Thread_local char buf[1 << 16];
    size_t n = 1;
    while (n) {
        if (!input_read(in, buf, sizeof buf, &n, e))
            return false;
        if (write(fd, buf, n) != (ssize_t)n)
            return fail(e, ERR_FAIL, "%s: cannot be unpacked into TMPDIR: %s", in->path, strerror(errno));
    }
    const char *cut = input_cut(in);
    return !cut || fail(e, ERR_FAIL, "%s: %s, and a part of a database is none", in->path, cut);
}

static bool unpack(struct input *in, const char *file, struct err *e)
{
    int fd = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    bool ok = fd >= 0 ? copy(in, fd, e) : fail(e, ERR_FAIL, "%s: cannot be unpacked into TMPDIR: %s", in->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

struct packed {
    const char *path;
    struct tracedata *d;
};

/* Messages name what was given, not the file that is gone. */
static bool read_copy(void *ctx, const char *file, struct err *e)
{
    const struct packed *p = ctx;
    struct err inner = {0};
    bool foreign;
    if (import_open_part(file, 0, 0, p->d, &foreign, &inner))
        return true;
    size_t n = strncmp(inner.msg, file, strlen(file)) == 0 ? strlen(file) : 0;
    return fail(e, inner.kind, "%s%s%s", p->path, n ? "" : ": ", inner.msg + n);
}

/* Some profilers have the rank in a file's name: the copy is called as the file is, without what says that it is packed. */
static const char *copy_name(const char *path, const char *folder, struct arena *a)
{
    static const char *const ends[] = {".gz", ".zst"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
            n -= strlen(ends[i]);
    return arena_printf(a, "%s/%.*s", folder, (int)n, name);
}

/* What is asked of the copy; the copy is gone again behind it. */
static bool with_copy(struct input *in, bool (*ask)(void *ctx, const char *file, struct err *e), void *ctx, struct err *e)
{
    struct arena a = {0};
    const char *folder = tmpfolder_make(in->path, &a, e);
    bool ok = folder != NULL;
    if (ok) {
        const char *file = copy_name(in->path, folder, &a);
        ok = unpack(in, file, e) && ask(ctx, file, e);
        tmpfolder_remove(folder);
    }
    arena_free(&a);
    return ok;
}

static bool read_packed(struct input *in, struct tracedata *d, struct err *e)
{
    struct packed p = {in->path, d};
    return with_copy(in, read_copy, &p, e);
}

static bool is_no_trace(void *ctx, const char *file, struct err *e)
{
    struct arena a = {0};
    (void)e;
    *(bool *)ctx = import_no_trace(file, &a) != NULL;
    arena_free(&a);
    return true;
}

/* One that cannot be unpacked has its reason said when it is read. */
static bool holds(struct input *in)
{
    struct err e = {0};
    bool none = false;
    with_copy(in, is_no_trace, &none, &e);
    return !none;
}

const struct importer import_packed = {.name = "packed",
                                       .what = "databases of any of these kinds, packed (.gz, .zst) or in a tar archive",
                                       .sniff = sniff,
                                       .read = read_packed,
                                       .holds = holds};
