/* import_kineto.c - PyTorch profiler traces (Kineto, Chrome JSON), every generation since 2021.
 *
 *   { facts ..., "traceEvents": [ event, event, ... ], facts ... }       or the bare list
 *
 * Read as a stream, event by event: memory is that of the events kept, never that of the text. What people's files
 * suffer from is repaired on the way (json_scan.h) or stepped over, counted, and said in loss rows; a file without one
 * whole event is refused with the line and the reason.
 */
#include "analyzer/import.h"
#include "analyzer/chrome.h"
#include "analyzer/decimal.h"
#include "analyzer/json_text.h"
#include "analyzer/kineto.h"

#include <string.h>

struct file {
    struct kineto k;
    struct chrome c;
    int64_t base;         /* baseTimeNanoseconds, 0 none */
    uint32_t device_name; /* of the first device */
    bool amd, nvidia;
};

enum device_slot { D_NAME, D_WARP, D_SLOTS };

/* Facts of the first device stand for all. */
static enum json_step read_devices(struct file *f)
{
    static const struct json_key rows[] = {{"name", D_NAME}, {"warpSize", D_WARP}, {0}};
    struct json_keys keys;
    struct json_value v[D_SLOTS];
    struct json_feed *j = &f->c.feed;
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
    if (json_peek(&f->c.feed) != '{')
        return json_skip(&f->c.feed);
    enum json_step rc = json_next_object(&f->c.feed, &keys, v, W_SLOTS);
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
    enum json_step rc = json_next(&f->c.feed, &v);
    if (rc == JSON_OK)
        f->base = json_int(&v, 0);
    return rc;
}

static enum json_step keep_fact(struct file *f, const char *meta)
{
    struct json_value v;
    int c = json_peek(&f->c.feed);
    if (c == '{' || c == '[')
        return json_skip(&f->c.feed);
    enum json_step rc = json_next(&f->c.feed, &v);
    uint32_t id = rc == JSON_OK ? json_intern(&v, &f->k.d->strings, &f->k.scratch, NULL) : 0;
    if (id)
        tracedata_meta(f->k.d, meta, intern_str(&f->k.d->strings, id));
    return rc;
}

/* What our own export says of the run. */
static enum json_step read_own(struct file *f)
{
    struct json_feed *j = &f->c.feed;
    enum json_step rc = JSON_OK;
    char key[64];
    if (json_peek(j) != '{')
        return json_skip(j);
    j->pos++;
    for (int c = json_peek(j); rc == JSON_OK && c != '}'; c = json_peek(j)) {
        if (c < 0)
            return JSON_END;
        if (c == ',')
            j->pos++;
        else if ((rc = json_next_key(j, key, sizeof key)) == JSON_OK)
            rc = keep_fact(f, key);
    }
    j->pos += rc == JSON_OK;
    return rc;
}

/* Top-level facts that may be kept, and as what. Everything else stays in the file: some of it is nobody's business. */
static const struct fact {
    const char *key, *meta;
    enum json_step (*read)(struct file *f);
} facts[] = {
    {"deviceProperties", NULL, read_devices},
    {"distributedInfo", NULL, read_distributed},
    {"baseTimeNanoseconds", NULL, read_base},
    {"cpscope", NULL, read_own},
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

static enum json_step read_fact(void *ctx, const char *key)
{
    struct file *f = ctx;
    for (const struct fact *t = facts; t->key; t++)
        if (strcmp(t->key, key) == 0)
            return t->read ? t->read(f) : keep_fact(f, t->meta);
    return json_skip(&f->c.feed);
}

static bool on_event(void *ctx)
{
    struct file *f = ctx;
    return kineto_event(&f->k);
}

static void say_backend(struct file *f)
{
    const struct kineto *k = &f->k;
    if (tracedata_meta_get(k->d, "backend")) /* our own export says so */
        return;
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

/* Rows of time that are none here. */
static void say_left(const struct kineto *k)
{
    const struct left {
        const char *reason;
        int64_t count;
    } left[] = {{"rows whose time is absent, not a number or out of range, left out", k->untimed},
                {"rows of categories that are not known here, left out", k->unknown},
                {"ranges without an end, left out", k->open.open},
                {"ends without a begin, left out", k->open.lone_ends},
                {"asynchronous ranges, left out", k->asynchronous}};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i].count)
            tracedata_loss(k->d, left[i].reason, left[i].count, INT64_MIN, INT64_MIN);
}

static bool finish(struct file *f, enum json_step rc)
{
    struct tracedata *d = f->k.d;
    if (f->k.e->kind)
        return false;
    if (f->k.events == 0)
        return chrome_refuse(&f->c, rc);
    if (f->k.rows == 0 && f->k.skipped)
        return fail(f->k.e, ERR_FAIL, "%s: a Chrome trace, but not of the PyTorch profiler: none of its %lld rows is of a category known here",
                    f->c.in->path, (long long)f->k.skipped);
    if (!kineto_finish(&f->k))
        return false;
    chrome_losses(&f->c, rc, d, f->k.events);
    say_left(&f->k);
    say_facts(f, rc);
    return true;
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct file f = {0};
    kineto_start(&f.k, d, e);
    f.c = (struct chrome){
        .keys = &f.k.event, .v = f.k.v, .nv = K_SLOTS, .event = on_event, .fact = read_fact, .ctx = &f, .e = e, .scratch = &f.k.scratch};
    f.k.feed = &f.c.feed;
    bool ok = finish(&f, chrome_read(&f.c, in));
    chrome_close(&f.c);
    kineto_free(&f.k);
    return ok;
}

static bool quotes_times(const char *text, size_t n)
{
    static const char key[] = "\"ts\"";
    const char *p = memmem(text, n, key, sizeof key - 1), *end = text + n;
    for (p = p ? p + sizeof key - 1 : end; p < end && *p && strchr(" :\t\r\n", *p);)
        p++;
    return p < end && *p == '"';
}

/* Ascend's profiler writes its categories too, and times in quotes. */
static enum sniffed marked(const char *text, size_t n)
{
    return !kineto_names_cat(text, n) ? SNIFF_NO : quotes_times(text, n) ? SNIFF_LIKELY : SNIFF_YES;
}

struct seen {
    struct json_value cat;
    int64_t rows;
    bool ours;
};

static bool see_cat(void *ctx)
{
    enum { ENOUGH = 100000 };
    struct seen *x = ctx;
    x->ours = x->cat.type == JSON_STRING && kineto_is_cat(x->cat.s, x->cat.n);
    return !x->ours && ++x->rows < ENOUGH;
}

/* A text in which anything may be written with escapes: its rows are read. */
static bool has_row(const char *path)
{
    static const struct json_key rows[] = {{"cat", 0}, {0}};
    struct json_keys keys;
    struct seen x = {.ours = false};
    struct err e = {0};
    struct arena scratch = {0};
    struct input in;
    struct chrome c = {.keys = &keys, .v = &x.cat, .nv = 1, .event = see_cat, .ctx = &x, .e = &e, .scratch = &scratch};
    json_keys_init(&keys, rows);
    if (input_open(&in, path, &e)) {
        chrome_read(&c, &in);
        chrome_close(&c);
        input_close(&in);
    }
    arena_free(&scratch);
    return x.ours;
}

/* Its facts and its categories; without one the file may be anybody's Chrome trace. */
static enum sniffed sniff(const struct input *in)
{
    static const char *const facts_of_it[] = {"\"schemaVersion\"", "\"deviceProperties\"", "\"distributedInfo\"", "\"baseTimeNanoseconds\""};
    if (!chrome_begins(in))
        return SNIFF_NO;
    for (size_t i = 0; i < sizeof facts_of_it / sizeof *facts_of_it; i++)
        if (memmem(in->head, in->nhead, facts_of_it[i], strlen(facts_of_it[i])))
            return SNIFF_YES;
    enum sniffed s = marked((const char *)in->head, in->nhead);
    bool escaped = s == SNIFF_NO && memmem(in->head, in->nhead, "\\u00", 4);
    return escaped && has_row(in->path) ? SNIFF_LIKELY : s;
}

const struct importer import_kineto = {.name = "kineto",
                                       .what = "PyTorch profiler (Kineto) JSON, also .gz and .zst",
                                       .sniff = sniff,
                                       .read = read,
                                       .marked = marked,
                                       .holds = chrome_holds};
