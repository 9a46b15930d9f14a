/* input.c - plain, gzip and zstd files as one stream, also inside a tar archive.
 *
 *   file or member -> raw block -> unpack() -> what the caller asked for
 *
 * The head is unpacked when the file is opened, for sniffing; the first reads give it back.
 */
#include "analyzer/input.h"
#include "analyzer/progress.h"
#include "analyzer/tarfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { RAW_BLOCK = 1 << 18 };

struct unpacker {
    bool (*unpack)(struct unpacker *u, void *buf, size_t n, size_t *got, struct err *e);
    const char *path;
    int fd; /* -1: a member of an archive */
    struct tar_member *member;
    bool at_end;          /* of the file */
    int64_t done, length; /* of its bytes */
    size_t pos, end;
    unsigned char raw[RAW_BLOCK];
    z_stream z;
    bool z_ready;
    ZSTD_DStream *zstd;
    bool between; /* the packed stream is complete as far as it was read */
    const char *cut;
    size_t head_given;
    unsigned char head[INPUT_HEAD];
};

static bool read_raw(struct unpacker *u, void *buf, size_t size, size_t *got, struct err *e)
{
    ssize_t n;
    do
        n = u->member ? tar_read(u->member, buf, size) : read(u->fd, buf, size);
    while (n < 0 && !u->member && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    return n >= 0 || fail(e, ERR_FAIL, "%s: cannot read: %s", u->path, u->member ? "the archive is damaged or cut" : strerror(errno));
}

/* More raw bytes; none left is no error. */
static bool fill(struct unpacker *u, struct err *e)
{
    size_t n;
    if (u->pos < u->end || u->at_end)
        return true;
    if (!read_raw(u, u->raw, sizeof u->raw, &n, e))
        return false;
    u->pos = 0;
    u->end = n;
    u->done += (int64_t)n;
    u->at_end = n == 0;
    return true;
}

/* What was read already, then straight into the caller's memory. */
static bool plain(struct unpacker *u, void *buf, size_t n, size_t *got, struct err *e)
{
    if (u->pos == u->end && !u->at_end) {
        bool ok = read_raw(u, buf, n, got, e);
        u->done += (int64_t)*got;
        u->at_end = *got == 0;
        return ok;
    }
    *got = u->end - u->pos < n ? u->end - u->pos : n;
    memcpy(buf, u->raw + u->pos, *got);
    u->pos += *got;
    return true;
}

/* One step of inflate; after the end of a member another one may follow. */
static void inflate_step(struct unpacker *u)
{
    u->z.next_in = u->raw + u->pos;
    u->z.avail_in = (unsigned)(u->end - u->pos);
    int rc = inflate(&u->z, Z_NO_FLUSH);
    u->pos = u->end - u->z.avail_in;
    u->between = rc == Z_STREAM_END;
    if (rc == Z_STREAM_END)
        inflateReset(&u->z);
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        u->cut = "the gzip stream is damaged";
}

static bool gunzip(struct unpacker *u, void *buf, size_t n, size_t *got, struct err *e)
{
    u->z.next_out = buf;
    u->z.avail_out = (unsigned)n;
    while (u->z.avail_out == n && !u->cut) {
        if (!fill(u, e))
            return false;
        if (u->pos == u->end) {
            u->cut = u->between ? NULL : "the gzip stream is cut";
            break;
        }
        if (u->between && u->raw[u->pos] != 0x1f)
            break; /* padding behind the last member, as gzip itself takes it */
        inflate_step(u);
    }
    *got = n - u->z.avail_out;
    return true;
}

static bool unzstd(struct unpacker *u, void *buf, size_t n, size_t *got, struct err *e)
{
    ZSTD_outBuffer out = {buf, n, 0};
    while (out.pos == 0 && !u->cut) {
        if (!fill(u, e))
            return false;
        if (u->pos == u->end) {
            u->cut = u->between ? NULL : "the zstd stream is cut";
            break;
        }
        ZSTD_inBuffer in = {u->raw, u->end, u->pos};
        size_t rc = ZSTD_decompressStream(u->zstd, &out, &in);
        u->pos = in.pos;
        u->between = rc == 0;
        if (ZSTD_isError(rc))
            u->cut = "the zstd stream is damaged";
    }
    *got = out.pos;
    return true;
}

/* A frame, or one of those that are to be skipped: parallel packers write one in front. */
static bool is_zstd(const struct unpacker *u)
{
    bool frame = u->end >= 4 && memcmp(u->raw, "\x28\xb5\x2f\xfd", 4) == 0;
    return frame || (u->end >= 4 && u->raw[0] >> 4 == 5 && memcmp(u->raw + 1, "\x2a\x4d\x18", 3) == 0);
}

static bool choose(struct unpacker *u, struct err *e)
{
    u->unpack = plain;
    if (!fill(u, e))
        return false;
    if (u->end >= 2 && u->raw[0] == 0x1f && u->raw[1] == 0x8b) {
        u->unpack = gunzip;
        u->z_ready = inflateInit2(&u->z, 15 + 16) == Z_OK;
        return u->z_ready || fail(e, ERR_FAIL, "%s: zlib cannot be set up", u->path);
    }
    if (is_zstd(u)) {
        u->unpack = unzstd;
        u->zstd = ZSTD_createDStream();
        return u->zstd || fail(e, ERR_FAIL, "%s: zstd cannot be set up", u->path);
    }
    return true;
}

/* As much as the head takes behind what it has. */
static bool fill_head(struct input *in, struct err *e)
{
    struct unpacker *u = in->u;
    size_t got = 1;
    while (in->nhead < INPUT_HEAD && got) {
        if (!u->unpack(u, u->head + in->nhead, INPUT_HEAD - in->nhead, &got, e))
            return false;
        in->nhead += got;
    }
    return true;
}

/* What a text may begin with that is no part of it: a mark of its byte order, white space. */
static size_t blank_front(const struct input *in, bool marked)
{
    size_t i = marked && in->nhead >= 3 && memcmp(in->head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (i < in->nhead && in->head[i] && strchr(" \n\r\t", in->head[i]))
        i++;
    return i;
}

static bool drop_front(struct input *in, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        in->blank_lines += in->head[i] == '\n';
    in->nhead -= n;
    memmove(in->u->head, in->u->head + n, in->nhead);
    return fill_head(in, e);
}

/* A head is of use from the first byte that is not white on; a text that has none keeps its last one. */
static bool read_head(struct input *in, struct err *e)
{
    in->head = in->u->head;
    if (!fill_head(in, e))
        return false;
    for (size_t n, first = 1; (n = blank_front(in, first)) > 0; first = 0) {
        bool all = n == in->nhead;
        if (all && in->nhead < INPUT_HEAD)
            return true;
        if (!drop_front(in, n - all, e))
            return false;
    }
    return true;
}

bool input_is_file(const char *path, struct err *e)
{
    struct stat st;
    bool stream = stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    return !stream || fail(e, ERR_FAIL, "%s: a pipe, and a trace is read more than once: write it to a file first", path);
}

static bool open_raw(struct unpacker *u, const char *path, struct err *e)
{
    struct stat st;
    u->path = path;
    u->fd = open(path, O_RDONLY | O_CLOEXEC);
    int why = errno;
    if (u->fd < 0 && why == ENOTDIR)
        u->member = tar_open(path);
    if (u->fd < 0 && !u->member)
        return fail(e, ERR_FAIL, "%s: cannot open: %s", path, strerror(why));
    u->length = u->fd >= 0 && fstat(u->fd, &st) == 0 ? st.st_size : 0;
    return true;
}

bool input_open(struct input *in, const char *path, struct err *e)
{
    *in = (struct input){.path = path, .u = calloc(1, sizeof *in->u)};
    if (!in->u)
        return fail(e, ERR_FAIL, "%s: out of memory", path);
    if (open_raw(in->u, path, e) && choose(in->u, e) && read_head(in, e))
        return true;
    input_close(in);
    return false;
}

bool input_read(struct input *in, void *buf, size_t n, size_t *got, struct err *e)
{
    struct unpacker *u = in->u;
    progress_step("reading", u->done, u->length);
    if (u->head_given == in->nhead)
        return u->unpack(u, buf, n, got, e);
    *got = in->nhead - u->head_given < n ? in->nhead - u->head_given : n;
    memcpy(buf, u->head + u->head_given, *got);
    u->head_given += *got;
    return true;
}

bool input_is_packed(const struct input *in)
{
    return in->u->unpack != plain || in->u->member;
}

const char *input_cut(const struct input *in)
{
    return in->u->cut;
}

void input_close(struct input *in)
{
    struct unpacker *u = in->u;
    if (!u)
        return;
    if (u->fd >= 0)
        close(u->fd);
    tar_close(u->member);
    if (u->z_ready)
        inflateEnd(&u->z);
    ZSTD_freeDStream(u->zstd);
    free(u);
    *in = (struct input){0};
}
