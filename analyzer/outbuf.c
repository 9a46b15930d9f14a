/* outbuf.c - see outbuf.h. */
#include "analyzer/outbuf.h"
#include "schemas/utf8.h"

#include <errno.h>
#include <string.h>

bool outbuf_open(struct outbuf *o, const char *path, struct err *e)
{
    o->n = 0;
    o->path = path;
    o->f = path ? fopen(path, "we") : stdout;
    return o->f || fail(e, ERR_FAIL, "%s: cannot write: %s", path, strerror(errno));
}

static void flush(struct outbuf *o)
{
    fwrite(o->buf, 1, o->n, o->f);
    o->n = 0;
}

bool outbuf_close(struct outbuf *o, struct err *e)
{
    if (!o->f)
        return false;
    flush(o);
    bool ok = !ferror(o->f);
    ok = (o->path ? fclose(o->f) : fflush(o->f)) == 0 && ok;
    o->f = NULL;
    return ok || fail(e, ERR_FAIL, "%s: cannot write: %s", o->path ? o->path : "standard output", strerror(errno));
}

void out_bytes(struct outbuf *o, const void *s, size_t n)
{
    if (n > sizeof o->buf - o->n)
        flush(o);
    if (n > sizeof o->buf) {
        fwrite(s, 1, n, o->f);
        return;
    }
    memcpy(o->buf + o->n, s, n);
    o->n += n;
}

void out_text(struct outbuf *o, const char *s)
{
    out_bytes(o, s, strlen(s));
}

void out_char(struct outbuf *o, char c)
{
    if (o->n == sizeof o->buf)
        flush(o);
    o->buf[o->n++] = c;
}

/* Digits of v, the last `least` of them always there, into the end of buf; where they begin. */
static char *digits(char buf[24], uint64_t v, int least)
{
    char *p = buf + 24;
    for (; v || least > 0; v /= 10, least--)
        *--p = (char)('0' + v % 10);
    return p;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

void out_int(struct outbuf *o, int64_t v)
{
    char buf[24], *p = digits(buf, magnitude(v), 1);
    if (v < 0)
        out_char(o, '-');
    out_bytes(o, p, (size_t)(buf + 24 - p));
}

void out_us(struct outbuf *o, int64_t ns)
{
    char buf[24], *p = digits(buf, magnitude(ns) / 1000, 1);
    if (ns < 0)
        out_char(o, '-');
    out_bytes(o, p, (size_t)(buf + 24 - p));
    out_char(o, '.');
    p = digits(buf, magnitude(ns) % 1000, 3);
    out_bytes(o, p, 3);
}

/* Runs of bytes that `plain` takes go out as they are; the rest one character at a time. */
static void out_escaped(struct outbuf *o, const char *s, bool (*plain)(unsigned char c), void (*put)(struct outbuf *o, uint32_t c))
{
    const unsigned char *p = (const unsigned char *)s, *end = p + strlen(s);
    while (p < end) {
        const unsigned char *run = p;
        while (p < end && plain(*p))
            p++;
        out_bytes(o, run, (size_t)(p - run));
        if (p == end)
            break;
        int n;
        uint32_t c = utf8_get(p, end, &n);
        if (c >= 0x80)
            out_bytes(o, p, (size_t)n);
        else
            put(o, c ? c : 0xfffd);
        p += n;
    }
}

static void put_replacement(struct outbuf *o)
{
    out_bytes(o, "\xef\xbf\xbd", 3);
}

static bool json_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void json_put(struct outbuf *o, uint32_t c)
{
    static const char hex[] = "0123456789abcdef";
    if (c == 0xfffd) {
        put_replacement(o);
    } else if (c == '"' || c == '\\') {
        out_char(o, '\\');
        out_char(o, (char)c);
    } else {
        out_text(o, "\\u00");
        out_char(o, hex[c >> 4]);
        out_char(o, hex[c & 15]);
    }
}

void out_json(struct outbuf *o, const char *s)
{
    out_char(o, '"');
    out_escaped(o, s, json_plain, json_put);
    out_char(o, '"');
}

static bool csv_plain(unsigned char c)
{
    return c < 0x80 && c != '"';
}

static void csv_put(struct outbuf *o, uint32_t c)
{
    if (c == 0xfffd)
        put_replacement(o);
    else
        out_text(o, "\"\"");
}

void out_csv(struct outbuf *o, const char *s)
{
    bool quoted = strpbrk(s, ",\"\r\n") != NULL;
    if (quoted)
        out_char(o, '"');
    out_escaped(o, s, csv_plain, csv_put);
    if (quoted)
        out_char(o, '"');
}

static bool folded_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != ';';
}

static void folded_put(struct outbuf *o, uint32_t c)
{
    if (c == 0xfffd)
        put_replacement(o);
    else
        out_char(o, c == ';' ? ':' : ' ');
}

void out_folded(struct outbuf *o, const char *s)
{
    out_escaped(o, *s ? s : "?", folded_plain, folded_put);
}
