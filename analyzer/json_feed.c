/* json_feed.c - the window on the text. */
#include "analyzer/json_feed.h"
#include "analyzer/json_text.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 20, VALUE_MAX = 1 << 26 };

bool json_feed_open(struct json_feed *f, struct input *in, struct err *e)
{
    *f = (struct json_feed){.in = in, .cap = BLOCK};
    f->buf = calloc(1, f->cap + JSON_PADDING);
    f->scan.end = f->buf;
    return f->buf || fail(e, ERR_FAIL, "%s: out of memory", in->path);
}

void json_feed_close(struct json_feed *f)
{
    free(f->buf);
    arena_free(&f->words);
    *f = (struct json_feed){0};
}

int64_t json_offset(const struct json_feed *f)
{
    return f->before + (int64_t)f->pos;
}

/* Room behind `end`: what is consumed goes, and a window full of one value grows. */
static bool make_room(struct json_feed *f)
{
    memmove(f->buf, f->buf + f->pos, f->end - f->pos);
    f->before += (int64_t)f->pos;
    f->end -= f->pos;
    f->pos = 0;
    if (f->end < f->cap / 2)
        return true;
    if (f->cap >= VALUE_MAX)
        return false;
    char *bigger = realloc(f->buf, f->cap * 2 + JSON_PADDING);
    if (!bigger)
        return false;
    f->buf = bigger;
    f->cap *= 2;
    return true;
}

/* More text behind `end`; false when there is none. */
static bool read_on(struct json_feed *f)
{
    size_t got = 0;
    if (f->at_end || !make_room(f))
        return false;
    if (!input_read(f->in, f->buf + f->end, f->cap - f->end, &got, &f->err))
        got = 0;
    f->at_end = got == 0;
    f->end += got;
    memset(f->buf + f->end, 0, JSON_PADDING);
    f->scan.end = f->buf + f->end;
    return got > 0;
}

int json_peek(struct json_feed *f)
{
    for (;;) {
        f->pos = (size_t)(json_space(f->buf + f->pos) - f->buf);
        if (f->pos < f->end)
            return (unsigned char)f->buf[f->pos];
        if (!read_on(f))
            return -1;
    }
}

/* What a parse that gave no result means; *again: more text came, parse once more. */
static enum json_step no_result(struct json_feed *f, const struct json_repairs *before, bool *again)
{
    *again = false;
    if (!f->scan.more)
        return JSON_BAD;
    f->scan.repairs = *before;
    *again = read_on(f);
    if (*again || f->at_end)
        return JSON_END;
    f->scan.bad = "a value of over 64 MB";
    f->scan.bad_at = f->buf + f->pos;
    return JSON_BAD;
}

/* Short values as the text that they mean. */
static void resolve(struct json_feed *f, struct json_value *v, size_t nvalues)
{
    arena_free(&f->words);
    for (size_t i = 0; i < nvalues; i++)
        if (v[i].raw && v[i].n <= JSON_WORD_MAX && memchr(v[i].s, '\\', v[i].n)) {
            size_t n;
            v[i].s = json_text(&v[i], &f->words, &n, &f->scan.repairs.bytes);
            v[i].n = (uint32_t)n;
            v[i].raw = false;
        }
    f->scan.escaped = false;
}

static enum json_step step(struct json_feed *f, const struct json_keys *keys, struct json_value *v, size_t nvalues)
{
    enum json_step rc = JSON_END;
    bool again = json_peek(f) >= 0;
    f->scan.bad = NULL;
    while (again) {
        struct json_repairs before = f->scan.repairs;
        const char *from = f->buf + f->pos;
        memset(v, 0, nvalues * sizeof *v);
        const char *p = keys && *from == '{' ? json_object(&f->scan, from, keys, v) : json_value(&f->scan, from, v);
        if (p) {
            f->pos = (size_t)(p - f->buf);
            if (f->scan.escaped)
                resolve(f, v, nvalues);
            return JSON_OK;
        }
        rc = no_result(f, &before, &again);
    }
    return rc;
}

enum json_step json_next(struct json_feed *f, struct json_value *v)
{
    return step(f, NULL, v, 1);
}

enum json_step json_next_object(struct json_feed *f, const struct json_keys *keys, struct json_value *values, size_t nvalues)
{
    return step(f, keys, values, nvalues);
}

enum json_step json_next_key(struct json_feed *f, char *key, size_t size)
{
    struct json_value v;
    int c = json_peek(f);
    enum json_step rc = c == '"' ? step(f, NULL, &v, 1) : c < 0 ? JSON_END : JSON_BAD;
    if (rc == JSON_OK) {
        struct arena a = {0};
        size_t n;
        const char *text = json_text(&v, &a, &n, NULL);
        n = n < size - 1 ? n : size - 1;
        memcpy(key, text, n);
        key[n] = '\0';
        arena_free(&a);
        c = json_peek(f);
        rc = c == ':' ? JSON_OK : c < 0 ? JSON_END : JSON_BAD;
        f->pos += rc == JSON_OK;
    }
    if (rc == JSON_BAD && !f->scan.bad) {
        f->scan.bad = "expected a key in quotes and ':'";
        f->scan.bad_at = f->buf + f->pos;
    }
    return rc;
}

/* Where a walk over bracketed text stands. */
struct walk {
    int64_t depth;
    bool in_string, escaped;
};

/* One byte; true when it ends the value. */
static bool walk_byte(struct walk *w, char c)
{
    if (w->in_string) {
        bool ends = c == '"' && !w->escaped;
        w->escaped = c == '\\' && !w->escaped;
        w->in_string = !ends;
        return false;
    }
    w->in_string = c == '"';
    w->depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    return w->depth <= 0;
}

enum json_step json_skip(struct json_feed *f)
{
    struct json_value skipped;
    struct walk w = {0};
    int c = json_peek(f);
    if (c != '[' && c != '{')
        return json_next(f, &skipped);
    do {
        while (f->pos < f->end)
            if (walk_byte(&w, f->buf[f->pos++]))
                return JSON_OK;
    } while (read_on(f));
    return JSON_END;
}

enum json_step json_find(struct json_feed *f, const char *mark)
{
    size_t n = strlen(mark);
    do {
        const char *hit = memmem(f->buf + f->pos, f->end - f->pos, mark, n);
        if (hit) {
            f->pos = (size_t)(hit - f->buf) + n;
            return JSON_OK;
        }
        size_t keep = f->end - f->pos < n - 1 ? f->end - f->pos : n - 1; /* the mark may be cut by the window's edge */
        f->pos = f->end - keep;
    } while (read_on(f));
    return JSON_END;
}

static int64_t count_lines(const char *p, size_t n)
{
    int64_t lines = 0;
    for (const char *end = p + n; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        lines++;
    return lines;
}

int64_t json_line(const char *path, int64_t offset)
{
    struct err e = {0};
    struct input in = {0};
    static _Thread_local char block[1 << 16];
    int64_t line = 1;
    size_t got = 1;
    if (!input_open(&in, path, &e))
        return 0;
    line += in.blank_lines;
    while (offset > 0 && got && input_read(&in, block, offset < (int64_t)sizeof block ? (size_t)offset : sizeof block, &got, &e)) {
        line += count_lines(block, got);
        offset -= (int64_t)got;
    }
    input_close(&in);
    return e.kind ? 0 : line;
}
