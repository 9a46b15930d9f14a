/* rocprofv3.h - what the files of the rocprofv3 importer share.
 *
 *   import_rocprofv3.c   the file: its entries, the order of reading, what is wrong with it
 *   rocprofv3_names.c    tables of names
 *   rocprofv3_records.c  records, a row of a table each kind
 */
#pragma once
#include "analyzer/json_feed.h"
#include "analyzer/json_text.h"
#include "analyzer/rows.h"

enum sdk_slot {
    SDK_KIND,
    SDK_OPERATION,
    SDK_THREAD,
    SDK_START,
    SDK_END,
    SDK_CORRELATION,
    SDK_AGENT,
    SDK_QUEUE,
    SDK_KERNEL,
    SDK_GRID_X,
    SDK_GRID_Y,
    SDK_GRID_Z,
    SDK_GROUP_X,
    SDK_GROUP_Y,
    SDK_GROUP_Z,
    SDK_LDS,
    SDK_BYTES,
    SDK_SOURCE,
    SDK_DESTINATION,
    SDK_SLOTS
};

enum {
    SDK_IN_CORRELATION,
    SDK_IN_AGENT,
    SDK_IN_QUEUE,
    SDK_IN_GRID,
    SDK_IN_GROUP,
    SDK_IN_SOURCE,
    SDK_IN_DESTINATION,
    SDK_IN_DISPATCH,
    SDK_IN_RECORD,
    SDK_NKEYS
};

struct sdk_names {           /* of one entry */
    struct idmap kernels;    /* kernel_id -> string id + 1 */
    struct idmap operations; /* kind << 32 | operation -> string id + 1 */
    struct idmap markers;    /* correlation -> string id + 1 */
    struct idmap gpus;       /* handle -> 1: not a processor */
    int64_t pid;
    bool known;
};

struct record_kind;

struct sdk {
    struct rows r;
    struct json_feed *feed;
    struct input *in;
    struct json_keys keys[SDK_NKEYS];
    struct json_key dispatch_rows[8], record_rows[16];
    struct json_value v[SDK_SLOTS];
    struct sdk_names names;
    const struct record_kind *kind; /* of the records at hand */
    bool only_names;                /* the second look: records are skipped */
    int64_t entry;                  /* number of the entry at hand */
    int64_t wanted;                 /* the one whose names are looked for */
};

void sdk_keys_init(struct sdk *x);
void sdk_names_free(struct sdk_names *n);

/* The values of a list or object, one by one; `key` is "" in a list. Another kind of value is skipped. */
enum json_step sdk_each(struct sdk *x, char open, enum json_step (*value)(struct sdk *x, int64_t number, const char *key));

/* A key of an object and what reads its value. */
struct sdk_part {
    const char *key;
    enum json_step (*read)(struct sdk *x);
};
enum json_step sdk_part(struct sdk *x, const struct sdk_part *p, const char *key); /* skips what is not among p[] */

/* Values of an entry. */
enum json_step sdk_metadata(struct sdk *x);
enum json_step sdk_agents(struct sdk *x);
enum json_step sdk_strings(struct sdk *x);
enum json_step sdk_symbols(struct sdk *x);
enum json_step sdk_records(struct sdk *x); /* the names are known */
