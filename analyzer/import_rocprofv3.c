/* import_rocprofv3.c - JSON of rocprofv3 (rocprofiler-sdk).
 *
 *   {"rocprofiler-sdk-tool": [ { metadata, agents, strings, kernel_symbols, buffer_records: { kernel_dispatch: [...], hip_api: [...] ... } } ]}
 *
 * One entry a process. Records hold numbers; their names are in `strings` (calls, by kind and operation), `kernel_symbols`
 * and strings.marker_api. Where the records stand in front of a table of names, that entry's tables are read first, from a
 * second look at the file: memory is that of the names, whatever the number of records. metadata.command stays there.
 *
 * A stream of HIP is not where work is executed: hundreds of them share a few queues. The queue is the event's stream.
 */
#include "analyzer/rocprofv3.h"

#include <string.h>

enum json_step sdk_each(struct sdk *x, char open, enum json_step (*value)(struct sdk *x, int64_t number, const char *key))
{
    struct json_feed *j = x->feed;
    enum json_step rc = JSON_OK;
    char key[64] = "", close = open == '[' ? ']' : '}';
    if (json_peek(j) != open)
        return json_skip(j);
    j->pos++;
    for (int64_t n = 0; rc == JSON_OK;) {
        int c = json_peek(j);
        if (c < 0)
            return JSON_END;
        if (c == close || c == ',')
            j->pos++;
        if (c == close)
            return JSON_OK;
        if (c == ',')
            continue;
        if (open == '{')
            rc = json_next_key(j, key, sizeof key);
        if (rc == JSON_OK)
            rc = value(x, n++, key);
    }
    return rc;
}

enum json_step sdk_part(struct sdk *x, const struct sdk_part *p, const char *key)
{
    while (p->key && strcmp(p->key, key) != 0)
        p++;
    return p->key ? p->read(x) : json_skip(x->feed);
}

static enum json_step read_entries(struct sdk *x);

/* The tables of names of the entry at hand, from another look at the file. */
static bool look_ahead(struct sdk *x)
{
    struct json_feed again = {0}, *here = x->feed;
    struct input in = {0};
    int64_t entry = x->entry;
    sdk_names_free(&x->names);
    bool ok = input_open(&in, x->in->path, x->r.e) && json_feed_open(&again, &in, x->r.e);
    if (ok) {
        x->feed = &again;
        x->only_names = true;
        x->wanted = entry;
        read_entries(x); /* what is wrong with the file is found again */
    }
    x->feed = here;
    x->only_names = false;
    x->entry = entry;
    json_feed_close(&again);
    input_close(&in);
    x->names.known = true;
    return ok;
}

static bool names_are_there(const struct sdk *x)
{
    return x->names.known || (x->names.kernels.used && x->names.operations.used && x->names.pid >= 0);
}

static enum json_step records(struct sdk *x)
{
    if (x->only_names)
        return json_skip(x->feed);
    if (!names_are_there(x) && !look_ahead(x))
        return JSON_BAD;
    return sdk_records(x);
}

static enum json_step one_fact(struct sdk *x, int64_t n, const char *key)
{
    static const struct sdk_part parts[] = {{"metadata", sdk_metadata},      {"agents", sdk_agents},      {"strings", sdk_strings},
                                            {"kernel_symbols", sdk_symbols}, {"buffer_records", records}, {0}};
    static const struct sdk_part only[] = {{"buffer_records", records}, {0}};
    (void)n;
    return sdk_part(x, x->names.known ? only : parts, key);
}

static enum json_step one_entry(struct sdk *x, int64_t n, const char *key)
{
    (void)key;
    if (x->only_names)
        return n == x->wanted ? sdk_each(x, '{', one_fact) : json_skip(x->feed);
    x->entry = n;
    sdk_names_free(&x->names);
    return sdk_each(x, '{', one_fact);
}

static enum json_step one_top(struct sdk *x, int64_t n, const char *key)
{
    (void)n;
    if (strcmp(key, "rocprofiler-sdk-tool") != 0)
        return json_skip(x->feed);
    if (json_peek(x->feed) == '{') /* older ones have the one entry itself */
        return one_entry(x, 0, key);
    return sdk_each(x, '[', one_entry);
}

static enum json_step read_entries(struct sdk *x)
{
    return sdk_each(x, '{', one_top);
}

/* ---- the file ---- */

static const char *where(struct sdk *x, const char *why, int64_t offset)
{
    int64_t line = json_line(x->in->path, offset);
    return line ? arena_printf(&x->r.scratch, "line %lld: %s", (long long)line, why) : why;
}

static bool finish(struct sdk *x, enum json_step rc)
{
    const struct json_feed *j = x->feed;
    const struct json_repairs *fix = &j->scan.repairs;
    const char *cut = input_cut(x->in), *why = rc == JSON_BAD && j->scan.bad ? j->scan.bad : cut ? cut : "the text ends too early";
    if (x->r.e->kind)
        return false;
    if (j->err.kind)
        return fail(x->r.e, ERR_FAIL, "%s", j->err.msg);
    if (x->r.n == 0 && rc != JSON_OK)
        return fail(x->r.e, ERR_FAIL, "%s: %s; no whole record in it", x->r.path, where(x, why, json_offset(j)));
    if (x->r.n == 0)
        return fail(x->r.e, ERR_FAIL, "%s: a rocprofv3 file without one record; trace with --kernel-trace or --hip-trace", x->r.path);
    if (rc != JSON_OK)
        rows_loss(&x->r, where(x, arena_printf(&x->r.scratch, "%s; the %lld records in front are kept", why, (long long)x->r.n), json_offset(j)), -1);
    rows_loss(&x->r, "raw control characters in strings", fix->controls);
    rows_loss(&x->r, "bytes that are not UTF-8 replaced", fix->bytes);
    rows_facts(&x->r, "rocprofv3", "rocm");
    tracedata_meta(x->r.d, "version", "3");
    tracedata_meta(x->r.d, "clean_end", rc == JSON_OK ? "1" : "0");
    return true;
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct json_feed feed = {0};
    struct sdk x = {.r = rows_start(d, in->path, e), .feed = &feed, .in = in, .names = {.pid = -1}};
    sdk_keys_init(&x);
    bool ok = json_feed_open(&feed, in, e) && finish(&x, read_entries(&x));
    sdk_names_free(&x.names);
    json_feed_close(&feed);
    rows_free(&x.r);
    return ok;
}

static enum sniffed sniff(const struct input *in)
{
    static const char key[] = "\"rocprofiler-sdk-tool\"";
    return memmem(in->head, in->nhead, key, sizeof key - 1) ? SNIFF_YES : SNIFF_NO;
}

const struct importer import_rocprofv3 = {
    .name = "rocprofv3", .what = "JSON of rocprofv3 (rocprofiler-sdk), also .gz and .zst", .sniff = sniff, .read = read};
