/* import_kineto.c - PyTorch profiler traces (Kineto, Chrome JSON), every generation since 2021.
 *
 *   { facts ..., "traceEvents": [ event, event, ... ], facts ... }       or the bare list
 *
 * Read as a stream, event by event: memory is that of the events kept, never that of the text. What people's files
 * suffer from is repaired on the way (json_scan.h) or stepped over, counted, and said in loss rows; a file without one
 * whole event is refused with the line and the reason.
 */
#include "analyzer/import.h"
#include "analyzer/decimal.h"
#include "analyzer/json_text.h"
#include "analyzer/kineto.h"

#include <string.h>

struct file {
    struct kineto k;
    struct input *in;
    bool found;      /* the list of events */
    const char *bad; /* the first thing that is not JSON, and its offset in the text */
    int64_t bad_at;
    bool facts_lost;      /* what stands in front of the events is broken */
    bool more_text;       /* behind the end of the document */
    int64_t malformed;    /* events stepped over */
    int64_t base;         /* baseTimeNanoseconds, 0 none */
    uint32_t device_name; /* of the first device */
    bool amd, nvidia;
};

static void note_bad(struct file *f)
{
    const struct json_feed *j = &f->k.feed;
    if (f->bad || !j->scan.bad)
        return;
    f->bad = j->scan.bad;
    f->bad_at = j->before + (j->scan.bad_at - j->buf);
}

/* Behind a malformed event, to the next "}, {" that a key follows. */
static enum json_step resync(struct file *f)
{
    struct json_feed *j = &f->k.feed;
    size_t at = (size_t)(j->scan.bad_at - j->buf);
    f->malformed++;
    j->pos = at > j->pos ? at : j->pos + 1;
    while (json_find(j, "}") == JSON_OK) {
        if (json_peek(j) != ',')
            continue;
        j->pos++;
        if (json_peek(j) == '{')
            return JSON_OK;
    }
    return JSON_END;
}

static enum json_step one_event(struct file *f, int c)
{
    struct json_value other;
    struct json_feed *j = &f->k.feed;
    enum json_step rc = c == '{' ? json_next_object(j, &f->k.event, f->k.v, K_SLOTS) : json_next(j, &other);
    if (rc == JSON_BAD) {
        note_bad(f);
        return resync(f);
    }
    if (rc == JSON_OK && c == '{' && !kineto_event(&f->k))
        return JSON_BAD; /* cannot be written: k.e says why */
    return rc;
}

static enum json_step read_events(struct file *f)
{
    struct json_feed *j = &f->k.feed;
    enum json_step rc = JSON_OK;
    if (json_peek(j) != '[')
        return json_skip(j);
    f->found = true;
    j->pos++;
    while (rc == JSON_OK) {
        int c = json_peek(j);
        if (c < 0)
            return JSON_END;
        if (c == ']' || c == ',')
            j->pos++;
        if (c == ']')
            return JSON_OK;
        if (c != ',')
            rc = one_event(f, c);
    }
    return rc;
}

enum device_slot { D_NAME, D_WARP, D_SLOTS };

/* Facts of the first device stand for all. */
static enum json_step read_devices(struct file *f)
{
    static const struct json_key rows[] = {{"name", D_NAME}, {"warpSize", D_WARP}, {0}};
    struct json_keys keys;
    struct json_value v[D_SLOTS];
    struct json_feed *j = &f->k.feed;
    enum json_step rc = JSON_OK;
    json_keys_init(&keys, rows);
    if (json_peek(j) != '[')
        return json_skip(j);
    j->pos++;
    for (int c = json_peek(j); rc == JSON_OK && c != ']'; c = json_peek(j)) {
        if (c < 0)
            return JSON_END;
        if (c == ',') {
            j->pos++;
            continue;
        }
        rc = c == '{' ? json_next_object(j, &keys, v, D_SLOTS) : json_next(j, v);
        if (rc != JSON_OK || c != '{')
            continue;
        f->device_name = f->device_name ? f->device_name : json_intern(&v[D_NAME], &f->k.d->strings, &f->k.scratch, NULL);
        f->amd |= json_int(&v[D_WARP], 0) == 64;
        f->nvidia |= json_int(&v[D_WARP], 0) == 32;
    }
    j->pos += rc == JSON_OK;
    return rc;
}

enum dist_slot { W_BACKEND, W_RANK, W_SIZE, W_NCCL, W_SLOTS };

static enum json_step read_distributed(struct file *f)
{
    static const struct json_key rows[] = {{"backend", W_BACKEND}, {"rank", W_RANK}, {"world_size", W_SIZE}, {"nccl_version", W_NCCL}, {0}};
    static const char *const meta[] = {[W_BACKEND] = "distributed_backend", [W_SIZE] = "world_size", [W_NCCL] = "nccl_version"};
    struct json_keys keys;
    struct json_value v[W_SLOTS];
    json_keys_init(&keys, rows);
    if (json_peek(&f->k.feed) != '{')
        return json_skip(&f->k.feed);
    enum json_step rc = json_next_object(&f->k.feed, &keys, v, W_SLOTS);
    if (rc != JSON_OK)
        return rc;
    int64_t rank = json_int(&v[W_RANK], -1);
    if (rank >= 0 && rank <= INT32_MAX)
        kineto_rank(&f->k, (int32_t)rank);
    for (int i = 0; i < W_SLOTS; i++) {
        uint32_t id = meta[i] ? json_intern(&v[i], &f->k.d->strings, &f->k.scratch, NULL) : 0;
        if (id)
            tracedata_meta(f->k.d, meta[i], intern_str(&f->k.d->strings, id));
    }
    f->nvidia |= json_is(&v[W_BACKEND], "nccl") && !f->amd;
    return rc;
}

static enum json_step read_base(struct file *f)
{
    struct json_value v;
    enum json_step rc = json_next(&f->k.feed, &v);
    if (rc == JSON_OK)
        f->base = json_int(&v, 0);
    return rc;
}

/* Top-level facts that may be kept, and as what. Everything else stays in the file: some of it is nobody's business. */
static const struct fact {
    const char *key, *meta;
    enum json_step (*read)(struct file *f);
} facts[] = {
    {"traceEvents", NULL, read_events},
    {"deviceProperties", NULL, read_devices},
    {"distributedInfo", NULL, read_distributed},
    {"baseTimeNanoseconds", NULL, read_base},
    {"schemaVersion", "version"},
    {"cuda_runtime_version", "cuda_runtime_version"},
    {"cuda_driver_version", "cuda_driver_version"},
    {"cupti_version", "cupti_version"},
    {"hip_runtime_version", "hip_runtime_version"},
    {"hip_driver_version", "hip_driver_version"},
    {"roctracer_version", "roctracer_version"},
    {"with_stack", "with_stack"},
    {"record_shapes", "record_shapes"},
    {"profile_memory", "profile_memory"},
    {"trace_id", "trace_id"},
    {0},
};

static enum json_step keep_fact(struct file *f, const char *meta)
{
    struct json_value v;
    int c = json_peek(&f->k.feed);
    if (c == '{' || c == '[')
        return json_skip(&f->k.feed);
    enum json_step rc = json_next(&f->k.feed, &v);
    uint32_t id = rc == JSON_OK ? json_intern(&v, &f->k.d->strings, &f->k.scratch, NULL) : 0;
    if (id)
        tracedata_meta(f->k.d, meta, intern_str(&f->k.d->strings, id));
    return rc;
}

static enum json_step read_fact(struct file *f, const char *key)
{
    for (const struct fact *t = facts; t->key; t++)
        if (strcmp(t->key, key) == 0)
            return t->read ? t->read(f) : keep_fact(f, t->meta);
    return json_skip(&f->k.feed);
}

/* The keys of the top object from here to its end. */
static enum json_step read_facts(struct file *f)
{
    struct json_feed *j = &f->k.feed;
    enum json_step rc = JSON_OK;
    char key[64];
    while (rc == JSON_OK) {
        int c = json_peek(j);
        if (c < 0)
            return JSON_END;
        if (c == '}' || c == ',')
            j->pos++;
        if (c == '}')
            return JSON_OK;
        if (c != ',' && (rc = json_next_key(j, key, sizeof key)) == JSON_OK)
            rc = read_fact(f, key);
    }
    return rc;
}

static enum json_step read_top(struct file *f)
{
    struct json_feed *j = &f->k.feed;
    if (json_peek(j) != '{')
        return read_events(f);
    j->pos++;
    return read_facts(f);
}

/* A fact in front of the events is so broken that its end is not found: the events are looked for by their key. */
static enum json_step read_from_mark(struct file *f, struct input *again)
{
    struct json_feed *j = &f->k.feed;
    json_feed_close(j);
    if (!input_open(again, f->in->path, f->k.e) || !json_feed_open(j, again, f->k.e))
        return JSON_BAD;
    f->facts_lost = true;
    enum json_step rc = JSON_OK;
    while (!f->found && rc == JSON_OK && (rc = json_find(j, "\"traceEvents\"")) == JSON_OK)
        if (json_peek(j) == ':') {
            j->pos++;
            rc = json_peek(j) == '[' ? read_events(f) : JSON_OK;
        }
    return f->found && rc == JSON_OK ? read_facts(f) : rc;
}

static enum json_step read_all(struct file *f, struct input *again)
{
    enum json_step rc = read_top(f);
    note_bad(f);
    if (rc != JSON_OK && !f->found && f->k.e->kind == ERR_NONE)
        rc = read_from_mark(f, again);
    f->more_text = rc == JSON_OK && json_peek(&f->k.feed) >= 0;
    return rc;
}

/* "line 12: why", for whoever has to mend the file. */
static const char *where(struct file *f, const char *why, int64_t offset)
{
    int64_t line = json_line(f->in->path, offset);
    return line ? arena_printf(&f->k.scratch, "line %lld: %s", (long long)line, why) : why;
}

static bool refuse(struct file *f, enum json_step rc)
{
    const char *path = f->in->path, *cut = input_cut(f->k.feed.in);
    if (f->k.feed.err.kind)
        return fail(f->k.e, ERR_FAIL, "%s", f->k.feed.err.msg);
    if (f->bad)
        return fail(f->k.e, ERR_FAIL, "%s: %s; no whole event in it", path, where(f, f->bad, f->bad_at));
    if (rc == JSON_END)
        return fail(f->k.e, ERR_FAIL, "%s: %s; no whole event in it", path, where(f, cut ? cut : "the text ends too early", json_offset(&f->k.feed)));
    return fail(f->k.e, ERR_FAIL, "%s: JSON, but not a trace: %s", path, f->found ? "no event in it" : "no list of events (traceEvents) in it");
}

static void loss(struct file *f, const char *reason, int64_t count)
{
    if (count)
        tracedata_loss(f->k.d, reason, count, INT64_MIN, INT64_MIN);
}

static void say_losses(struct file *f, enum json_step rc)
{
    const struct json_repairs *r = &f->k.feed.scan.repairs;
    const char *cut = input_cut(f->k.feed.in), *why = f->bad ? f->bad : cut ? cut : "the text ends too early";
    int64_t at = f->bad ? f->bad_at : json_offset(&f->k.feed);
    if (f->malformed)
        loss(f, where(f, arena_printf(&f->k.scratch, "%s: malformed events stepped over", why), at), f->malformed);
    if (f->facts_lost)
        loss(f, where(f, arena_printf(&f->k.scratch, "%s: facts in front of the events are missing", why), at), -1);
    if (f->more_text)
        loss(f, "text behind the trace, not looked at", -1);
    if (rc != JSON_OK || cut)
        loss(f,
             where(f, arena_printf(&f->k.scratch, "%s; the %lld whole events in front are kept", cut ? cut : why, (long long)f->k.events),
                   json_offset(&f->k.feed)),
             -1);
    loss(f, "rows whose time is not a number or out of range, left out", f->k.untimed);
    loss(f, "bare NaN, Infinity or N/A taken as absent", r->words);
    loss(f, "integers beyond int64, not kept", r->integers);
    loss(f, "raw control characters in strings", r->controls);
    loss(f, "backslashes that escape nothing taken as they are", r->backslashes);
    loss(f, "bytes that are not UTF-8 replaced", r->bytes);
}

static void say_backend(struct file *f)
{
    const struct kineto *k = &f->k;
    bool rocm = k->hip || f->amd || tracedata_meta_get(k->d, "hip_runtime_version");
    bool cuda = k->cuda || f->nvidia || k->devices || tracedata_meta_get(k->d, "cuda_runtime_version");
    tracedata_meta(k->d, "backend", rocm ? "rocm" : cuda ? "cuda" : "cpu");
}

static void say_facts(struct file *f, enum json_step rc)
{
    static const int64_t epoch = INT64_C(1000000000000000000); /* ns: September 2001; later times of day are absolute */
    struct tracedata *d = f->k.d;
    int64_t utc = d->t0;
    say_backend(f);
    tracedata_meta(d, "source_format", "kineto");
    if (utc < epoch && (f->base <= 0 || __builtin_add_overflow(utc, f->base, &utc)))
        utc = 0;
    if (utc >= epoch)
        tracedata_metaf(d, "utc_epoch_ns", "%lld", (long long)utc);
    if (f->k.rank >= 0)
        tracedata_metaf(d, "rank", "%d", f->k.rank);
    if (f->device_name)
        tracedata_meta(d, "device_name", intern_str(&d->strings, f->device_name));
    tracedata_meta(d, "clean_end", rc == JSON_OK ? "1" : "0");
}

static bool finish(struct file *f, enum json_step rc)
{
    if (f->k.e->kind)
        return false;
    if (f->k.events == 0)
        return refuse(f, rc);
    if (f->k.rows == 0 && f->k.skipped)
        return fail(f->k.e, ERR_FAIL, "%s: a Chrome trace, but not of the PyTorch profiler: none of its %lld rows is of a category known here",
                    f->in->path, (long long)f->k.skipped);
    kineto_finish(&f->k);
    say_losses(f, rc);
    say_facts(f, rc);
    return true;
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct file f = {.in = in};
    struct input again = {0};
    enum json_step rc = JSON_BAD;
    kineto_start(&f.k, d, e);
    if (json_feed_open(&f.k.feed, in, e))
        rc = read_all(&f, &again);
    bool ok = finish(&f, rc);
    json_feed_close(&f.k.feed);
    kineto_free(&f.k);
    input_close(&again);
    return ok;
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static enum sniffed sniff(const struct input *in)
{
    size_t i = in->nhead >= 3 && memcmp(in->head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (i < in->nhead && is_blank(in->head[i]))
        i++;
    if (i == in->nhead || (in->head[i] != '{' && in->head[i] != '['))
        return SNIFF_NO;
    bool sure = memmem(in->head, in->nhead, "\"traceEvents\"", 13) || memmem(in->head, in->nhead, "\"ph\"", 4);
    return sure ? SNIFF_YES : SNIFF_MAYBE;
}

const struct importer import_kineto = {
    .name = "kineto", .what = "PyTorch profiler (Kineto) and other Chrome trace JSON, also .gz and .zst", .sniff = sniff, .read = read};
