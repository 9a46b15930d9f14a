/* chrome.c - Chrome traces as people have them. */
#include "analyzer/chrome.h"
#include "analyzer/json_text.h"

#include <string.h>

static void note_bad(struct chrome *c)
{
    const struct json_feed *j = &c->feed;
    if (c->bad || !j->scan.bad)
        return;
    c->bad = j->scan.bad;
    c->bad_at = j->before + (j->scan.bad_at - j->buf);
}

/* Behind a malformed event, to the next "}, {" that a key follows. */
static enum json_step resync(struct chrome *c)
{
    struct json_feed *j = &c->feed;
    size_t at = (size_t)(j->scan.bad_at - j->buf);
    c->malformed++;
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

static enum json_step one_event(struct chrome *c, int first)
{
    struct json_value other;
    struct json_feed *j = &c->feed;
    enum json_step rc = first == '{' ? json_next_object(j, c->keys, c->v, c->nv) : json_next(j, &other);
    if (rc == JSON_BAD) {
        note_bad(c);
        return resync(c);
    }
    if (rc == JSON_OK && first == '{' && !c->event(c->ctx))
        return JSON_BAD; /* cannot be written: e says why */
    return rc;
}

/* At a brace between events that closes nothing: no event is lost by it. */
static void step_over(struct chrome *c)
{
    struct json_feed *j = &c->feed;
    j->scan.bad = "a '}' that closes nothing";
    j->scan.bad_at = j->buf + j->pos++;
    note_bad(c);
    c->malformed++;
}

static enum json_step read_events(struct chrome *c)
{
    struct json_feed *j = &c->feed;
    enum json_step rc = JSON_OK;
    if (json_peek(j) != '[')
        return json_skip(j);
    c->found = true;
    j->pos++;
    while (rc == JSON_OK) {
        int next = json_peek(j);
        if (next < 0)
            return JSON_END;
        if (next == ']' || next == ',')
            j->pos++;
        if (next == ']')
            return JSON_OK;
        if (next == '}')
            step_over(c);
        else if (next != ',')
            rc = one_event(c, next);
    }
    return rc;
}

static enum json_step read_fact(struct chrome *c, const char *key)
{
    if (strcmp(key, "traceEvents") == 0)
        return read_events(c);
    return c->fact ? c->fact(c->ctx, key) : json_skip(&c->feed);
}

/* The keys of the top object from here to its end. */
static enum json_step read_facts(struct chrome *c)
{
    struct json_feed *j = &c->feed;
    enum json_step rc = JSON_OK;
    char key[64];
    while (rc == JSON_OK) {
        int next = json_peek(j);
        if (next < 0)
            return JSON_END;
        if (next == '}' || next == ',')
            j->pos++;
        if (next == '}')
            return JSON_OK;
        if (next != ',' && (rc = json_next_key(j, key, sizeof key)) == JSON_OK)
            rc = read_fact(c, key);
    }
    return rc;
}

static enum json_step read_top(struct chrome *c)
{
    struct json_feed *j = &c->feed;
    if (json_peek(j) != '{')
        return read_events(c);
    j->pos++;
    return read_facts(c);
}

/* A fact in front of the events is so broken that its end is not found: the events are looked for by their key. */
static enum json_step read_from_mark(struct chrome *c)
{
    struct json_feed *j = &c->feed;
    json_feed_close(j);
    if (!input_open(&c->again, c->in->path, c->e) || !json_feed_open(j, &c->again, c->e))
        return JSON_BAD;
    c->facts_lost = true;
    enum json_step rc = JSON_OK;
    while (!c->found && rc == JSON_OK && (rc = json_find(j, "\"traceEvents\"")) == JSON_OK)
        if (json_peek(j) == ':') {
            j->pos++;
            rc = json_peek(j) == '[' ? read_events(c) : JSON_OK;
        }
    return c->found && rc == JSON_OK ? read_facts(c) : rc;
}

enum json_step chrome_read(struct chrome *c, struct input *in)
{
    c->in = in;
    if (!json_feed_open(&c->feed, in, c->e))
        return JSON_BAD;
    enum json_step rc = read_top(c);
    note_bad(c);
    if (rc != JSON_OK && !c->found && c->e->kind == ERR_NONE)
        rc = read_from_mark(c);
    c->more_text = rc == JSON_OK && json_peek(&c->feed) >= 0;
    return rc;
}

bool chrome_look(const struct chrome *c, const char *path, bool (*look)(void *ctx))
{
    struct chrome first = *c;
    struct input in;
    if (!input_open(&in, path, c->e))
        return false;
    first.event = look;
    chrome_read(&first, &in);
    chrome_close(&first);
    input_close(&in);
    return c->e->kind == ERR_NONE;
}

struct first {
    struct json_value ph;
    bool found;
};

static bool is_event(void *ctx)
{
    struct first *x = ctx;
    x->found = x->ph.type == JSON_STRING && x->ph.n == 1;
    return !x->found;
}

bool chrome_holds(struct input *in)
{
    static const struct json_key rows[] = {{"ph", 0}, {0}};
    struct json_keys keys;
    struct first x = {.found = false};
    struct err e = {0};
    struct arena scratch = {0};
    struct chrome c = {.keys = &keys, .v = &x.ph, .nv = 1, .event = is_event, .ctx = &x, .e = &e, .scratch = &scratch};
    json_keys_init(&keys, rows);
    chrome_read(&c, in);
    chrome_close(&c);
    arena_free(&scratch);
    return x.found;
}

/* "line 12: why", for whoever has to mend the file. */
static const char *where(struct chrome *c, const char *why, int64_t offset)
{
    int64_t line = json_line(c->in->path, offset);
    return line ? arena_printf(c->scratch, "line %lld: %s", (long long)line, why) : why;
}

bool chrome_refuse(struct chrome *c, enum json_step rc)
{
    const char *path = c->in->path, *cut = c->feed.in ? input_cut(c->feed.in) : NULL;
    if (c->feed.err.kind)
        return fail(c->e, ERR_FAIL, "%s", c->feed.err.msg);
    if (c->bad)
        return fail(c->e, ERR_FAIL, "%s: %s; no whole event in it", path, where(c, c->bad, c->bad_at));
    if (rc == JSON_END)
        return fail(c->e, ERR_FAIL, "%s: %s; no whole event in it", path, where(c, cut ? cut : "the text ends too early", json_offset(&c->feed)));
    return fail(c->e, ERR_FAIL, "%s: JSON, but not a trace: %s", path, c->found ? "no event in it" : "no list of events (traceEvents) in it");
}

static void loss(struct tracedata *d, const char *reason, int64_t count)
{
    if (count)
        tracedata_loss(d, reason, count, INT64_MIN, INT64_MIN);
}

void chrome_losses(struct chrome *c, enum json_step rc, struct tracedata *d, int64_t events)
{
    const struct json_repairs *r = &c->feed.scan.repairs;
    const char *cut = input_cut(c->feed.in), *why = c->bad ? c->bad : cut ? cut : "the text ends too early";
    int64_t at = c->bad ? c->bad_at : json_offset(&c->feed);
    if (c->malformed)
        loss(d, where(c, arena_printf(c->scratch, "%s: malformed events stepped over", why), at), c->malformed);
    if (c->facts_lost)
        loss(d, where(c, arena_printf(c->scratch, "%s: facts in front of the events are missing", why), at), -1);
    if (c->more_text)
        loss(d, "text behind the trace, not looked at", -1);
    if (rc != JSON_OK || cut)
        loss(d,
             where(c, arena_printf(c->scratch, "%s; the %lld whole events in front are kept", cut ? cut : why, (long long)events),
                   json_offset(&c->feed)),
             -1);
    loss(d, "bare NaN, Infinity or N/A taken as absent", r->words);
    loss(d, "integers beyond int64, not kept", r->integers);
    loss(d, "raw control characters in strings", r->controls);
    loss(d, "backslashes that escape nothing taken as they are", r->backslashes);
    loss(d, "bytes that are not UTF-8 replaced", r->bytes);
}

void chrome_settle_ids(struct tracedata *d)
{
    for (size_t i = 1; i < d->nthreads; i++) {
        struct threadkey *t = &d->threads[i];
        uint32_t text = json_id_text(t->tid);
        t->name = t->name ? t->name : text;
        t->tid = text ? -1 - (int64_t)i : t->tid;
    }
    for (size_t i = 1; i < d->nprocesses; i++) {
        struct processkey *p = &d->processes[i];
        uint32_t text = json_id_text(p->pid);
        p->name = p->name ? p->name : text;
        p->pid = text ? -1 - (int64_t)i : p->pid;
    }
}

void chrome_close(struct chrome *c)
{
    json_feed_close(&c->feed);
    input_close(&c->again);
}

bool chrome_begins(const struct input *in)
{
    bool wide = in->nhead > 1 && in->head[1] == 0; /* UTF-16 */
    return in->nhead && !wide && (in->head[0] == '{' || in->head[0] == '[');
}
