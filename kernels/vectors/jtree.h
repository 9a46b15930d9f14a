/* jtree.h - a JSON text as a tree (yajl's), and the few ways we look at it. Numbers are read by strtod, correctly rounded. */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdbool.h>
#include <stdint.h>

struct jtree; /* a value; belongs to the document that it came from */

/* The whole file, up to 1 GiB. NULL on failure: unreadable, or not one JSON value (line one of yajl's reason). */
struct jtree *jtree_load(const char *path, struct err *e);
struct jtree *jtree_parse(const char *text, const char *name, struct err *e); /* name: how messages call it */
void jtree_free(struct jtree *root);                                          /* NULL is fine */

bool jtree_is_object(const struct jtree *v); /* false for NULL too, as all of these */
bool jtree_is_array(const struct jtree *v);
bool jtree_is_null(const struct jtree *v);
const struct jtree *jtree_get(const struct jtree *object, const char *key); /* NULL: no such member, or not an object */
const struct jtree *jtree_at(const struct jtree *array, size_t i);          /* NULL: beyond its end, or not an array */
size_t jtree_len(const struct jtree *array);                                /* 0 for anything else */
const char *jtree_text(const struct jtree *v);                              /* NULL: not a string */
bool jtree_bool(const struct jtree *v, bool *value);                        /* false: not a boolean */
bool jtree_real(const struct jtree *v, double *value);                      /* false: not a number */
bool jtree_int(const struct jtree *v, int64_t *value);                      /* false: not a whole number of int64 */

/* Members of an object, in the file's order. */
const char *jtree_key(const struct jtree *object, size_t i); /* NULL: beyond the end */

/* Nested arrays of numbers, flattened row-major: number of leaves, or -1 when something else lies inside. */
int64_t jtree_count(const struct jtree *v);
bool jtree_reals(const struct jtree *v, double *out); /* jtree_count(v) of them */
bool jtree_ints(const struct jtree *v, int64_t *out); /* false: a leaf is not a whole number */
