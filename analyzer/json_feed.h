/* json_feed.h - JSON from a stream, value by value, in a window that grows only as large as one value.
 *
 *   text   ....................[ value ][ value ][ val|ue ]......
 *   window                     ^ pos                  ^ end         a cut value is moved to the front and read on
 *
 * Steps give JSON_OK, JSON_END (the text ends inside what was asked for) or JSON_BAD (it is not JSON; `scan.bad` says why).
 * A read error ends the text too and stays in `err`.
 */
#pragma once
#include "analyzer/input.h"
#include "analyzer/json_scan.h"
#include "schemas/arena.h"

enum json_step { JSON_OK, JSON_END, JSON_BAD };

struct json_feed {
    struct input *in;
    char *buf;
    size_t cap, pos, end;
    int64_t before; /* bytes of text in front of buf[0] */
    bool at_end;
    struct json_scan scan;
    struct arena words; /* text of the values of the last step that were written with escapes */
    struct err err;
};

bool json_feed_open(struct json_feed *f, struct input *in, struct err *e);
void json_feed_close(struct json_feed *f);

/* Skips white space; the byte that pos is at then, -1 at the end of the text. */
int json_peek(struct json_feed *f);

/* One value, resp. one object with these keys; spans in *v are valid until the next step. In an object's values what is
 * no longer than a word is text already, however it was written ("\u0058"): it may be compared as it is. */
enum json_step json_next(struct json_feed *f, struct json_value *v);
enum json_step json_next_object(struct json_feed *f, const struct json_keys *keys, struct json_value *values, size_t nvalues);

/* A key, its escapes resolved and cut to size - 1 bytes, and its colon. */
enum json_step json_next_key(struct json_feed *f, char *key, size_t size);

/* Over a value; what is inside brackets is not kept, whatever its size. */
enum json_step json_skip(struct json_feed *f);

/* Moves behind the next `mark` in the text; JSON_END when there is none. */
enum json_step json_find(struct json_feed *f, const char *mark);

/* Offset of pos in the unpacked text. */
int64_t json_offset(const struct json_feed *f);

/* The line (from 1) of an offset; reads the file again. 0 when it cannot. */
int64_t json_line(const char *path, int64_t offset);
