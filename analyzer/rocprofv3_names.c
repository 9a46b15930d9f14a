/* rocprofv3_names.c - the tables of names of a rocprofv3 file. */
#include "analyzer/rocprofv3.h"

#include <string.h>

void sdk_names_free(struct sdk_names *n)
{
    struct idmap *maps[] = {&n->kernels, &n->operations, &n->markers, &n->gpus};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        idmap_free(maps[i]);
    *n = (struct sdk_names){.pid = -1};
}

static enum json_step object(struct sdk *x, const struct json_key *rows, struct json_value *v, size_t n)
{
    struct json_keys keys;
    json_keys_init(&keys, rows);
    memset(v, 0, n * sizeof *v);
    return json_peek(x->feed) == '{' ? json_next_object(x->feed, &keys, v, n) : json_skip(x->feed);
}

static uint32_t text(struct sdk *x, const struct json_value *v)
{
    return json_intern(v, &x->r.d->strings, &x->r.scratch, &x->feed->scan.repairs.bytes);
}

enum json_step sdk_metadata(struct sdk *x)
{
    static const struct json_key rows[] = {{"pid", 0}, {0}};
    struct json_value v[1];
    enum json_step rc = object(x, rows, v, 1);
    x->names.pid = rc == JSON_OK ? json_int(&v[0], -1) : -1;
    return rc;
}

static enum json_step one_agent(struct sdk *x, int64_t n, const char *key)
{
    static const struct json_key id[] = {{"handle", 0}, {0}};
    struct json_keys inside;
    (void)n, (void)key;
    json_keys_init(&inside, id);
    const struct json_key rows[] = {{"id", 0, &inside}, {"type", 1}, {"name", 2}, {"product_name", 3}, {0}};
    struct json_value v[4];
    enum json_step rc = object(x, rows, v, 4);
    if (rc != JSON_OK || json_int(&v[1], 0) != 2) /* 2: a GPU */
        return rc;
    idmap_set(&x->names.gpus, json_int(&v[0], -1), 1);
    uint32_t name = text(x, v[3].n ? &v[3] : &v[2]);
    if (name && !tracedata_meta_get(x->r.d, "device_name"))
        tracedata_meta(x->r.d, "device_name", rows_str(&x->r, name));
    return rc;
}

enum json_step sdk_agents(struct sdk *x)
{
    return sdk_each(x, '[', one_agent);
}

static enum json_step one_symbol(struct sdk *x, int64_t n, const char *key)
{
    static const struct json_key rows[] = {{"kernel_id", 0}, {"formatted_kernel_name", 1}, {"demangled_kernel_name", 2}, {"kernel_name", 3}, {0}};
    struct json_value v[4];
    (void)n, (void)key;
    enum json_step rc = object(x, rows, v, 4);
    for (int i = 1; rc == JSON_OK && i < 4; i++)
        if (v[i].type == JSON_STRING && v[i].n) {
            idmap_set(&x->names.kernels, json_int(&v[0], -1), text(x, &v[i]) + 1);
            break;
        }
    return rc;
}

enum json_step sdk_symbols(struct sdk *x)
{
    return sdk_each(x, '[', one_symbol);
}

/* ["hipFree", "hipMalloc", ...]: a name's number is its place. */
static void operations(struct sdk *x, int64_t kind, const struct json_value *list)
{
    struct json_scan scan = {.end = list->s + list->n};
    const char *p = json_space(list->s + 1);
    for (int64_t i = 0; p && p < scan.end && *p != ']';) {
        struct json_value name = {0};
        p = *p == ',' ? p + 1 : json_value(&scan, p, &name);
        if (p && name.type)
            idmap_set(&x->names.operations, kind << 32 | i++, text(x, &name) + 1);
        p = p ? json_space(p) : NULL;
    }
}

/* {"kind": "HIP_RUNTIME_API", "operations": [...]}; a kind's number is its place, too. */
static enum json_step one_kind(struct sdk *x, int64_t n, const char *key)
{
    static const struct json_key rows[] = {{"operations", 0}, {0}};
    struct json_value v[1];
    (void)key;
    enum json_step rc = object(x, rows, v, 1);
    if (rc == JSON_OK && n < INT32_MAX && v[0].type == JSON_ARRAY)
        operations(x, n, &v[0]);
    return rc;
}

static enum json_step kinds(struct sdk *x)
{
    return sdk_each(x, '[', one_kind);
}

static enum json_step one_marker(struct sdk *x, int64_t n, const char *key)
{
    static const struct json_key rows[] = {{"key", 0}, {"value", 1}, {0}};
    struct json_value v[2];
    (void)n, (void)key;
    enum json_step rc = object(x, rows, v, 2);
    if (rc == JSON_OK && v[1].n)
        idmap_set(&x->names.markers, json_int(&v[0], -1), text(x, &v[1]) + 1);
    return rc;
}

static enum json_step markers(struct sdk *x)
{
    return sdk_each(x, '[', one_marker);
}

static enum json_step one_table(struct sdk *x, int64_t n, const char *key)
{
    static const struct sdk_part parts[] = {{"buffer_records", kinds}, {"marker_api", markers}, {0}};
    (void)n;
    return sdk_part(x, parts, key);
}

enum json_step sdk_strings(struct sdk *x)
{
    return sdk_each(x, '{', one_table);
}
