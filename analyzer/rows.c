/* rows.c - from a file's rows to events. */
#include "analyzer/rows.h"
#include "schemas/utf8.h"

#include <ctype.h>
#include <string.h>

static const int64_t FAR = INT64_C(1) << 61; /* import.h: no event lies further from t0 */

struct rows rows_start(struct tracedata *d, const char *path, struct err *e)
{
    return (struct rows){.d = d, .e = e, .path = path, .rank = -1};
}

void rows_free(struct rows *r)
{
    idmap_free(&r->processes);
    arena_free(&r->scratch);
}

bool rows_event(struct rows *r, enum ev_kind kind, int64_t start, int64_t length, struct event *ev)
{
    int64_t at;
    if (!r->has_t0 && start <= FAR && start >= -FAR) { /* an absurd one would leave no room for the rest */
        r->has_t0 = true;
        r->d->t0 = start;
    }
    if (__builtin_sub_overflow(start, r->d->t0, &at) || at > FAR || at < -FAR) {
        r->untimed++;
        return false;
    }
    length = length >= FAR ? FAR - 1 : length <= -FAR ? 1 - FAR : length;
    *ev = event_none(kind, at, at + length);
    ev->rank = r->rank;
    return true;
}

bool rows_between(struct rows *r, enum ev_kind kind, int64_t start, int64_t end, struct event *ev)
{
    int64_t length;
    if (start == INT64_MIN || end == INT64_MIN) { /* not there */
        r->untimed++;
        return false;
    }
    if (__builtin_sub_overflow(end, start, &length))
        length = end < start ? -FAR : FAR;
    return rows_event(r, kind, start, length, ev);
}

bool rows_add(struct rows *r, const struct event *ev)
{
    r->n++;
    if (r->scratch.total > 1 << 20)
        arena_free(&r->scratch);
    return tracedata_event(r->d, ev, r->e);
}

uint32_t rows_process(struct rows *r, int64_t pid)
{
    struct tracedata *d = r->d;
    uint32_t id = idmap_get(&r->processes, pid);
    if (id)
        return id;
    id = (uint32_t)d->nprocesses;
    ARRAY_PUSH(d->processes, d->nprocesses, d->processes_cap,
               ((struct processkey){.pid = pid, .host = intern_id(&d->strings, r->host), .rank = r->rank}));
    idmap_set(&r->processes, pid, id);
    r->first_process = r->first_process ? r->first_process : id;
    return id;
}

void rows_on_thread(struct rows *r, struct event *ev, int64_t pid, int64_t tid)
{
    ev->thread = tracedata_thread(r->d, rows_process(r, pid), tid, NULL);
}

void rows_on_device(struct rows *r, struct event *ev, int64_t pid, int64_t device, int64_t stream)
{
    uint32_t process = pid < 0 && r->first_process ? r->first_process : rows_process(r, pid);
    ev->device = device >= 0 && device <= INT32_MAX ? (int32_t)device : -1;
    ev->stream = tracedata_stream(r->d, process, ev->device, stream < 0 ? -1 : stream);
}

uint32_t rows_text(struct rows *r, const char *s, size_t n)
{
    return s ? utf8_intern(&r->d->strings, s, n, &r->scratch, &r->bad_bytes) : 0;
}

const char *rows_str(const struct rows *r, uint32_t id)
{
    return intern_str(&r->d->strings, id);
}

/* Case does not count, nor what stands between the words: "HOST_TO_DEVICE". */
enum copy_kind rows_copy_kind(const char *name)
{
    static const struct {
        const char *word;
        enum copy_kind kind;
    } ways[] = {{"hosttodevice", COPY_HTOD}, {"devicetohost", COPY_DTOH}, {"devicetodevice", COPY_DTOD},
                {"hosttohost", COPY_HTOH},   {"peertopeer", COPY_PTOP},   {"host2device", COPY_HTOD},
                {"device2host", COPY_DTOH},  {"h2d", COPY_HTOD},          {"d2h", COPY_DTOH},
                {"d2d", COPY_DTOD},          {"p2p", COPY_PTOP},          {"htod", COPY_HTOD},
                {"dtoh", COPY_DTOH},         {"dtod", COPY_DTOD},         {"ptop", COPY_PTOP}};
    char words[64];
    size_t n = 0;
    for (; *name && n < sizeof words - 1; name++)
        if (isalnum((unsigned char)*name))
            words[n++] = (char)tolower((unsigned char)*name);
    words[n] = '\0';
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strstr(words, ways[i].word))
            return ways[i].kind;
    return COPY_UNKNOWN;
}

void rows_loss(struct rows *r, const char *reason, int64_t count)
{
    if (count)
        tracedata_loss(r->d, reason, count, INT64_MIN, INT64_MIN);
}

void rows_facts(struct rows *r, const char *format, const char *backend)
{
    static const int64_t epoch = INT64_C(1000000000000000000); /* ns: September 2001; later times are times of day */
    rows_loss(r, "rows whose time is absent or out of range, left out", r->untimed);
    rows_loss(r, "rows of an unknown kind, left out", r->unknown);
    rows_loss(r, "bytes that are not UTF-8 replaced", r->bad_bytes);
    tracedata_meta(r->d, "source_format", format);
    if (backend)
        tracedata_meta(r->d, "backend", backend);
    tracedata_meta(r->d, "clean_end", "1");
    if (r->d->t0 >= epoch)
        tracedata_metaf(r->d, "utc_epoch_ns", "%lld", (long long)r->d->t0);
    if (r->rank >= 0)
        tracedata_metaf(r->d, "rank", "%d", r->rank);
}
