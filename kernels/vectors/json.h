/* json.h - a JSON text as a tree (yajl's), and the few ways we look at it. Numbers are read by strtod, correctly rounded. */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdbool.h>
#include <stdint.h>

struct json; /* a value; belongs to the document that it came from */

/* The whole file, up to 1 GiB. NULL on failure: unreadable, or not one JSON value (line one of yajl's reason). */
struct json *json_load(const char *path, struct err *e);
struct json *json_parse(const char *text, const char *name, struct err *e); /* name: how messages call it */
void json_free(struct json *root);                                          /* NULL is fine */

bool json_is_object(const struct json *v); /* false for NULL too, as all of these */
bool json_is_array(const struct json *v);
bool json_is_null(const struct json *v);
const struct json *json_get(const struct json *object, const char *key); /* NULL: no such member, or not an object */
const struct json *json_at(const struct json *array, size_t i);          /* NULL: beyond its end, or not an array */
size_t json_len(const struct json *array);                               /* 0 for anything else */
const char *json_text(const struct json *v);                             /* NULL: not a string */
bool json_bool(const struct json *v, bool *value);                       /* false: not a boolean */
bool json_real(const struct json *v, double *value);                     /* false: not a number */
bool json_int(const struct json *v, int64_t *value);                     /* false: not a whole number of int64 */

/* Members of an object, in the file's order. */
const char *json_key(const struct json *object, size_t i); /* NULL: beyond the end */

/* Nested arrays of numbers, flattened row-major: number of leaves, or -1 when something else lies inside. */
int64_t json_count(const struct json *v);
bool json_reals(const struct json *v, double *out); /* json_count(v) of them */
bool json_ints(const struct json *v, int64_t *out); /* false: a leaf is not a whole number */
