/* import.c - which importer takes a file, and what is said about what it could not take. */
#include "analyzer/import.h"
#include "analyzer/part.h"
#include "analyzer/warn.h"
#include "schemas/tracefile.h"

#include <stdio.h>
#include <string.h>

static const struct importer *choose(const struct input *in)
{
    const struct importer *best = NULL;
    enum sniffed surest = SNIFF_NO;
    for (size_t i = 0; importers[i]; i++) {
        enum sniffed s = importers[i]->sniff(in);
        if (s > surest) {
            surest = s;
            best = importers[i];
        }
    }
    return best;
}

const char *import_looks_like(const struct input *in)
{
    static const struct {
        const char *magic;
        size_t n;
        const char *what;
    } magics[] = {{"SQLite format 3", 16, "an SQLite database without the tables of a trace, or a damaged one"},
                  {"PK\3\4", 4, "a zip archive; unpack it first"},
                  {"\x7f"
                   "ELF",
                   4, "a program"},
                  {"\x89PNG", 4, "a picture"},
                  {"<", 1, "HTML or XML"},
                  {"BZh", 3, "a bzip2 file; unpack it first"},
                  {"\xfd"
                   "7zXZ",
                   5, "an xz file; unpack it first"}};
    if (in->nhead == 0)
        return input_cut(in) ? "a packed file that is cut or damaged at its start" : "an empty file";
    size_t zeros = 0;
    while (zeros < in->nhead && in->head[zeros] == 0)
        zeros++;
    if (zeros == in->nhead)
        return "nothing but zero bytes, as an interrupted export leaves them";
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (in->nhead >= magics[i].n && memcmp(in->head, magics[i].magic, magics[i].n) == 0)
            return magics[i].what;
    return memchr(in->head, 0, in->nhead) ? "binary data of an unknown kind" : "text, but not JSON";
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
    const struct importer *imp = choose(&in);
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
