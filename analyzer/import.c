/* import.c - which importer takes a file, and what is said about what it could not take. */
#include "analyzer/import.h"
#include "analyzer/chrome.h"
#include "analyzer/part.h"
#include "analyzer/warn.h"
#include "schemas/tracefile.h"

#include <stdio.h>
#include <string.h>

enum { MARK_MAX = 256, LOOKED_AT = 1 << 24 };

struct choice {
    const struct importer *importer;
    enum sniffed sure;
};

static void surest(struct choice *c, const struct importer *i, enum sniffed sure)
{
    if (sure > c->sure)
        *c = (struct choice){i, sure};
}

/* JSON that may be somebody else's by its head: whose it is by what stands further on. */
static void look_on(struct choice *c, const char *path)
{
    static _Thread_local char text[(1 << 16) + MARK_MAX];
    struct input in = {0};
    struct err e = {0};
    size_t kept = 0, got = 1, all = 0;
    if (!input_open(&in, path, &e))
        return;
    while (c->sure < SNIFF_YES && got && all < LOOKED_AT && input_read(&in, text + kept, sizeof text - kept, &got, &e)) {
        size_t n = kept + got;
        for (size_t i = 0; importers[i]; i++)
            if (importers[i]->marked)
                surest(c, importers[i], importers[i]->marked(text, n));
        kept = n < MARK_MAX ? n : MARK_MAX; /* a mark may be cut by the edge */
        memmove(text, text + n - kept, kept);
        all += got;
    }
    input_close(&in);
}

const struct importer *import_choose(const struct input *in)
{
    struct choice c = {0};
    for (size_t i = 0; importers[i]; i++)
        surest(&c, importers[i], importers[i]->sniff(in));
    if (c.importer && c.sure < SNIFF_YES && in->nhead == INPUT_HEAD)
        look_on(&c, in->path);
    return c.importer;
}

#define UTF16 "text in UTF-16; make UTF-8 of it first (iconv -f UTF-16 -t UTF-8)"

static const struct magic {
    const char *bytes;
    size_t n, at;
    const char *what;
} magics[] = {{"SQLite format 3", 16, 0, "an SQLite database without the tables of a trace, or a damaged one"},
              {"PK\3\4", 4, 0, "a zip archive; unpack it first"},
              {"ustar", 5, 257, "a tar archive; give it by itself, or mend it if it is cut"},
              {"BZh", 3, 0, "a bzip2 file; unpack it first"},
              {"\xfd"
               "7zXZ",
               5, 0, "an xz file; unpack it first"},
              {"\xff\xfe\0\0", 4, 0, "text in UTF-32; make UTF-8 of it first (iconv -f UTF-32 -t UTF-8)"},
              {"\xff\xfe", 2, 0, UTF16},
              {"\xfe\xff", 2, 0, UTF16},
              {"{\0", 2, 0, UTF16},
              {"[\0", 2, 0, UTF16},
              {"\0{", 2, 0, UTF16},
              {"\0[", 2, 0, UTF16},
              {"\x7f"
               "ELF",
               4, 0, "a program"},
              {"\x89PNG", 4, 0, "a picture"},
              {"\xff\xd8\xff", 3, 0, "a picture"},
              {"GIF8", 4, 0, "a picture"},
              {"%PDF", 4, 0, "a PDF document"},
              {"<", 1, 0, "HTML or XML"}};

/* No control character that a text does not hold; whatever its encoding. */
static bool is_text(const struct input *in)
{
    for (size_t i = 0; i < in->nhead; i++)
        if (in->head[i] == 0x7f || (in->head[i] < ' ' && !memchr("\t\n\v\f\r\033", in->head[i], 6)))
            return false;
    return true;
}

static bool all_zero(const struct input *in)
{
    size_t zeros = 0;
    while (zeros < in->nhead && in->head[zeros] == 0)
        zeros++;
    return zeros == in->nhead;
}

const char *import_looks_like(const struct input *in)
{
    if (in->nhead == 0)
        return input_cut(in) ? "a packed file that is cut or damaged at its start" : "an empty file";
    if (all_zero(in))
        return "nothing but zero bytes, as an interrupted export leaves them";
    if (in->nhead < 16 && memcmp(in->head, magics[0].bytes, in->nhead) == 0)
        return "an SQLite database that is cut at its start";
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (in->nhead >= magics[i].at + magics[i].n && memcmp(in->head + magics[i].at, magics[i].bytes, magics[i].n) == 0)
            return magics[i].what;
    return is_text(in) ? "text, but not JSON" : "binary data of an unknown kind";
}

/* What an importer that looked closer found nothing in; settings and the like are JSON too. */
static const char *without_event(const struct input *in)
{
    static const char json[] = "JSON without one whole event of a trace";
    if (!chrome_begins(in))
        return import_looks_like(in);
    bool marked = memmem(in->head, in->nhead, "\"ph\"", 4) || memmem(in->head, in->nhead, "\"traceEvents\"", 13);
    return marked || input_cut(in) ? json : "";
}

const char *import_no_trace(const char *path, struct arena *a)
{
    struct err e = {0};
    struct input in = {0};
    const char *what = NULL;
    if (tracefile_is(path) || part_is(path))
        return NULL;
    if (!input_open(&in, path, &e))
        return arena_strdup(a, strncmp(e.msg, path, strlen(path)) == 0 ? e.msg + strlen(path) + 2 : e.msg);
    const struct importer *imp = import_choose(&in);
    if (!imp)
        what = import_looks_like(&in);
    else if (imp->holds && !imp->holds(&in))
        what = without_event(&in);
    input_close(&in);
    return what;
}

void import_warn(const char *path, const struct tracedata *d, size_t from)
{
    if (from >= d->nloss)
        return;
    char text[sizeof((struct err *)0)->msg];
    size_t n = 0;
    for (size_t i = from; i < d->nloss && n < sizeof text; i++) {
        const char *reason = intern_str(&d->strings, d->loss[i].reason), *sep = i > from ? "; " : "";
        if (d->loss[i].count >= 0)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s (%lld)", sep, reason, (long long)d->loss[i].count);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", sep, reason);
    }
    warn("%s: warning: %s", path, text);
}

static bool read_foreign(const char *path, struct tracedata *d, struct err *e)
{
    struct input in = {0};
    if (!input_open(&in, path, e))
        return false;
    const struct importer *imp = import_choose(&in);
    bool ok = imp ? imp->read(&in, d, e) : fail(e, ERR_FAIL, "%s: not a trace that is known here: it is %s", path, import_looks_like(&in));
    input_close(&in);
    return ok;
}

bool import_file(const char *path, bool quiet, struct tracedata *d, struct err *e)
{
    size_t losses = d->nloss;
    bool ok = read_foreign(path, d, e);
    if (ok && !quiet)
        import_warn(path, d, losses);
    return ok;
}

bool import_open_part(const char *path, unsigned spared, int threads, struct tracedata *d, bool *foreign, struct err *e)
{
    char part[4096];
    int64_t id;
    if (part_holds(path, part, &id))
        return part_rows(path, d, e);
    if (!input_is_file(path, e))
        return false;
    *foreign = !tracefile_is(path);
    return *foreign ? read_foreign(path, d, e) : tracefile_load_some(path, SIDE_ALL & ~spared, threads, d, e);
}

bool import_open(const char *path, bool quiet, struct tracedata *d, struct err *e)
{
    bool foreign = false, ok = import_open_part(path, 0, 0, d, &foreign, e);
    if (ok && foreign && !quiet)
        import_warn(path, d, 0);
    return ok;
}
