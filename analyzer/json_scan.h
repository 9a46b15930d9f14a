/* json_scan.h - a tokenizer for JSON as profilers write it, over text in memory.
 *
 * It reads what people have, not only what RFC 8259 allows: bare NaN, Infinity, inf and N/A (values without a number),
 * raw control characters in strings, backslashes that escape nothing, integers beyond int64, missing and surplus commas.
 * Each such repair is counted. Values are spans of the text: nothing is copied, and what nobody asks for is only skipped.
 *
 * The text ends with JSON_PADDING zero bytes at `end`, so that no step needs a bound. A text that ends inside a value is
 * `more`: the caller reads on and parses that value again from its start (json_feed.h).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_PADDING = 64, JSON_DEPTH = 512, JSON_WORD_MAX = 256 };

enum json_type {
    JSON_NONE, /* not there */
    JSON_STRING,
    JSON_NUMBER, /* as written, maybe beyond any range */
    JSON_WORD,   /* true, false, null, and bare words that stand for "no number" */
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_value {
    const char *s; /* of a string: what stands between the quotes */
    uint32_t n;
    uint8_t type;
    bool raw; /* a string with escapes or bytes beyond ASCII: json_text() makes text of it */
};

/* An object's keys that are wanted: values[slot] receives the value; with `inside`, those of the object that it is. */
struct json_key {
    const char *name;
    int slot;
    const struct json_keys *inside;
};

struct json_keys {
    const struct json_key *rows; /* the row of no name ends them */
    uint8_t at[256];             /* hash -> row + 1; filled by json_keys_init */
};

void json_keys_init(struct json_keys *k, const struct json_key *rows);
const struct json_key *json_keys_find(const struct json_keys *k, const char *s, size_t n);

struct json_repairs {
    int64_t words, controls, integers, backslashes, bytes; /* bytes: of bad UTF-8, counted by json_text */
};

struct json_scan {
    const char *end;
    bool more;       /* the text ends inside what was asked for */
    bool escaped;    /* a value that was asked for, of at most JSON_WORD_MAX bytes, holds a backslash; stays until it is cleared */
    const char *bad; /* else: why it is not JSON, and where */
    const char *bad_at;
    struct json_repairs repairs;
};

/* Each takes p at the first byte of a value and gives the byte behind it; NULL: see s->more and s->bad.
 * json_object wants p at '{'; it sets values it finds and leaves the others. */
const char *json_value(struct json_scan *s, const char *p, struct json_value *v);
const char *json_object(struct json_scan *s, const char *p, const struct json_keys *keys, struct json_value *values);
const char *json_string(struct json_scan *s, const char *p, struct json_value *v); /* p at the quote */

/* Behind white space. */
static inline const char *json_space(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
        p++;
    return p;
}
