/* tarfile.c - tar archives by libarchive. */
#include "analyzer/tarfile.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 1 << 16 };

struct tar_member {
    struct archive *a;
};

/* Tar only, and packed only as traces are: nothing else that libarchive knows is taken for an archive. */
static struct archive *open_archive(const char *path)
{
    struct archive *a = archive_read_new();
    if (!a)
        return NULL;
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_format_tar(a);
    if (archive_read_open_filename(a, path, BLOCK) == ARCHIVE_OK)
        return a;
    archive_read_free(a);
    return NULL;
}

/* The next regular file; NULL at the end, or where the archive is damaged (*damaged). */
static struct archive_entry *next_file(struct archive *a, bool *damaged)
{
    struct archive_entry *entry;
    int rc;
    while ((rc = archive_read_next_header(a, &entry)) == ARCHIVE_OK || rc == ARCHIVE_WARN)
        if (archive_entry_filetype(entry) == AE_IFREG && archive_entry_pathname(entry))
            return entry;
    *damaged = rc != ARCHIVE_EOF;
    return NULL;
}

bool tar_is(const char *path)
{
    struct stat st;
    bool damaged = false;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    struct archive *a = open_archive(path);
    bool yes = a && next_file(a, &damaged);
    archive_read_free(a);
    return yes;
}

bool tar_list(const char *path, struct arena *arena, struct tar_names *out, struct err *e)
{
    bool damaged = false;
    struct archive *a = open_archive(path);
    struct archive_entry *entry;
    while (a && (entry = next_file(a, &damaged)))
        ARRAY_PUSH(out->v, out->n, out->cap, arena_strdup(arena, archive_entry_pathname(entry)));
    archive_read_free(a);
    return (a && !damaged) || fail(e, ERR_FAIL, "%s: the archive is damaged or cut; unpack it to use what is whole", path);
}

/* The shortest part before a '/' that is a file. */
size_t tar_archive_length(const char *path)
{
    struct arena a = {0};
    struct stat st;
    size_t n = 0;
    for (const char *p = strchr(path, '/'); p && !n; p = strchr(p + 1, '/'))
        if (p > path && stat(arena_strndup(&a, path, (size_t)(p - path)), &st) == 0 && S_ISREG(st.st_mode))
            n = (size_t)(p - path);
    arena_free(&a);
    return n;
}

static bool seek_member(struct archive *a, const char *name)
{
    bool damaged = false;
    struct archive_entry *entry;
    while (a && (entry = next_file(a, &damaged)))
        if (strcmp(archive_entry_pathname(entry), name) == 0)
            return true;
    return false;
}

struct tar_member *tar_open(const char *path)
{
    struct arena scratch = {0};
    size_t n = tar_archive_length(path);
    struct archive *a = n ? open_archive(arena_strndup(&scratch, path, n)) : NULL;
    struct tar_member *m = seek_member(a, path + n + 1) ? calloc(1, sizeof *m) : NULL;
    arena_free(&scratch);
    if (m)
        m->a = a;
    else
        archive_read_free(a);
    return m;
}

ssize_t tar_read(struct tar_member *m, void *buf, size_t n)
{
    return archive_read_data(m->a, buf, n);
}

void tar_close(struct tar_member *m)
{
    if (m)
        archive_read_free(m->a);
    free(m);
}
