/* jtree.c - a thin layer over yajl's tree. yajl frees a tree by recursion, so depth is limited before it sees the text. */
#include "kernels/vectors/jtree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

enum { DEPTH_MAX = 64 };
#define SIZE_LIMIT (INT64_C(1) << 30)

/* A struct jtree is yajl's value under a name of ours. */
static yajl_val val(const struct jtree *v)
{
    return (yajl_val)(uintptr_t)v;
}

/* The character behind the string that starts at p, or the end of the text. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

static bool shallow(const char *p)
{
    int depth = 0;
    while (*p && depth <= DEPTH_MAX) {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
        p++;
    }
    return depth <= DEPTH_MAX;
}

struct jtree *jtree_parse(const char *text, const char *name, struct err *e)
{
    char why[256] = "";
    if (!shallow(text)) {
        fail(e, ERR_FAIL, "%s: nested deeper than %d: not a vector file", name, DEPTH_MAX);
        return NULL;
    }
    yajl_val v = yajl_tree_parse(text, why, sizeof why);
    if (!v)
        fail(e, ERR_FAIL, "%s: not JSON: %.*s", name, (int)strcspn(why, "\n"), *why ? why : "no value");
    return (struct jtree *)v;
}

/* The text in new memory, 0 at its end; NULL with *e set. */
static char *slurp(const char *path, struct err *e)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, cap = 0, got = 1;
    if (!f) {
        fail(e, ERR_FAIL, "%s: cannot open: %s", path, strerror(errno));
        return NULL;
    }
    while (got && n < SIZE_LIMIT) {
        if (n + 65536 > cap)
            text = array_grow(text, &cap, n + 65536, 1);
        got = fread(text + n, 1, cap - n - 1, f);
        n += got;
    }
    if (ferror(f))
        fail(e, ERR_FAIL, "%s: cannot read: %s", path, strerror(errno));
    else if (n >= SIZE_LIMIT)
        fail(e, ERR_FAIL, "%s: larger than 1 GiB: not a vector file", path);
    else if (memchr(text, 0, n))
        fail(e, ERR_FAIL, "%s: not JSON: a zero byte inside", path);
    fclose(f);
    if (e->kind) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    return text;
}

struct jtree *jtree_load(const char *path, struct err *e)
{
    char *text = slurp(path, e);
    struct jtree *root = text ? jtree_parse(text, path, e) : NULL;
    free(text);
    return root;
}

void jtree_free(struct jtree *root)
{
    yajl_tree_free(val(root));
}

bool jtree_is_object(const struct jtree *v)
{
    return YAJL_IS_OBJECT(val(v));
}

bool jtree_is_array(const struct jtree *v)
{
    return YAJL_IS_ARRAY(val(v));
}

bool jtree_is_null(const struct jtree *v)
{
    return YAJL_IS_NULL(val(v));
}

const struct jtree *jtree_get(const struct jtree *object, const char *key)
{
    for (size_t i = 0; jtree_is_object(object) && i < val(object)->u.object.len; i++)
        if (strcmp(val(object)->u.object.keys[i], key) == 0)
            return (const struct jtree *)val(object)->u.object.values[i];
    return NULL;
}

const struct jtree *jtree_at(const struct jtree *array, size_t i)
{
    return i < jtree_len(array) ? (const struct jtree *)val(array)->u.array.values[i] : NULL;
}

size_t jtree_len(const struct jtree *array)
{
    return jtree_is_array(array) ? val(array)->u.array.len : 0;
}

const char *jtree_text(const struct jtree *v)
{
    return YAJL_GET_STRING(val(v));
}

bool jtree_bool(const struct jtree *v, bool *value)
{
    *value = YAJL_IS_TRUE(val(v));
    return *value || YAJL_IS_FALSE(val(v));
}

bool jtree_real(const struct jtree *v, double *value)
{
    *value = YAJL_IS_NUMBER(val(v)) ? strtod(val(v)->u.number.r, NULL) : 0;
    return YAJL_IS_NUMBER(val(v)) && isfinite(*value);
}

bool jtree_int(const struct jtree *v, int64_t *value)
{
    *value = YAJL_IS_INTEGER(val(v)) ? YAJL_GET_INTEGER(val(v)) : 0;
    return YAJL_IS_INTEGER(val(v));
}

const char *jtree_key(const struct jtree *object, size_t i)
{
    return jtree_is_object(object) && i < val(object)->u.object.len ? val(object)->u.object.keys[i] : NULL;
}

int64_t jtree_count(const struct jtree *v)
{
    if (YAJL_IS_NUMBER(val(v)))
        return 1;
    int64_t n = 0;
    for (size_t i = 0; i < jtree_len(v) && n >= 0; i++) {
        int64_t inner = jtree_count(jtree_at(v, i));
        n = inner < 0 ? -1 : n + inner;
    }
    return jtree_is_array(v) ? n : -1;
}

/* Calls itself over nested arrays; *out moves on. */
static bool flatten_reals(const struct jtree *v, double **out)
{
    bool ok = true;
    if (YAJL_IS_NUMBER(val(v)))
        return jtree_real(v, (*out)++);
    for (size_t i = 0; i < jtree_len(v); i++)
        ok = flatten_reals(jtree_at(v, i), out) && ok;
    return ok && jtree_is_array(v);
}

static bool flatten_ints(const struct jtree *v, int64_t **out)
{
    bool ok = true;
    if (YAJL_IS_NUMBER(val(v)))
        return jtree_int(v, (*out)++);
    for (size_t i = 0; i < jtree_len(v); i++)
        ok = flatten_ints(jtree_at(v, i), out) && ok;
    return ok && jtree_is_array(v);
}

bool jtree_reals(const struct jtree *v, double *out)
{
    return flatten_reals(v, &out);
}

bool jtree_ints(const struct jtree *v, int64_t *out)
{
    return flatten_ints(v, &out);
}
