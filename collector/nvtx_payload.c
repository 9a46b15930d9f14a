/* nvtx_payload.c - schemas are few and stay for good: a list that is read without a lock. */
#include "collector/nvtx_payload.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MODULE = 2, SLOT_REGISTER = 0, SLOT_PUSH = 3, SLOT_POP = 4 };
enum { MASK_ID = 1 << 8, FLAG_POINTER = 1 << 1, FLAG_ARRAY = 7 << 4, ENTRIES_MAX = 256, BLOBS_MAX = 16 };

struct field {
    char *name;
    size_t offset;
    int8_t bytes; /* negative: signed; 0: not a number, or nobody knows where */
};

struct schema {
    const void *domain;
    uint64_t id;
    size_t n, size;
    struct schema *next;
    struct field fields[];
};

static _Atomic(struct schema *) schemas;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of adding one */
static uint64_t last_id = UINT64_C(1) << 32;             /* of those that are given out */

/* Sizes of the predefined types that are whole numbers, by their code. */
static const int8_t sizes[] = {
    [1] = -1,  [2] = 1,  [3] = -2,  [4] = 2,  [5] = -4, [6] = 4,  [7] = -8, [8] = 8,  [9] = -8, [10] = 8, [11] = -1, [12] = 1, [13] = -2, [14] = 2,
    [15] = -4, [16] = 4, [17] = -8, [18] = 8, [22] = 8, [23] = 8, [32] = 1, [68] = 4, [69] = 4, [70] = 8, [71] = 4,  [72] = 8, [73] = 4,  [74] = 8};

static size_t align(size_t at, size_t to)
{
    return to ? (at + to - 1) / to * to : at;
}

/* Where each field is: as it says, else behind the one before it. Behind one of a size that is not known, nobody knows. */
static void lay_out(struct schema *s, const struct nvtx_entry *e)
{
    size_t at = 0;
    bool known = true;
    for (size_t i = 0; i < s->n; i++) {
        bool plain = !(e[i].flags & (FLAG_POINTER | FLAG_ARRAY)) && e[i].type < sizeof sizes;
        int8_t bytes = plain ? sizes[e[i].type] : 0;
        size_t width = e[i].flags & FLAG_POINTER ? sizeof(void *) : (size_t)abs(bytes);
        known = known || e[i].offset;
        at = e[i].offset ? (size_t)e[i].offset : align(at, width);
        s->fields[i] = (struct field){e[i].name ? strdup(e[i].name) : NULL, at, known ? bytes : 0};
        at += width;
        known = known && width;
    }
    s->size = at;
}

static uint64_t register_schema(void *domain, const struct nvtx_schema *a)
{
    uint64_t id = 0;
    int saved = errno;
    if (!a || !a->entries || !a->n || a->n > ENTRIES_MAX)
        return 0;
    pthread_mutex_lock(&lock);
    struct schema *s = calloc(1, sizeof *s + a->n * sizeof s->fields[0]);
    if (s) {
        *s = (struct schema){.domain = domain, .n = a->n, .next = atomic_load(&schemas)};
        id = s->id = a->mask & MASK_ID && a->id ? a->id : ++last_id;
        lay_out(s, a->entries);
        s->size = a->static_size ? a->static_size : s->size;
        atomic_store_explicit(&schemas, s, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return id;
}

bool payload_attach(const struct nvtx_module *m, struct nvtx_payload_calls calls)
{
    if (!m || m->size < sizeof *m || m->module != MODULE || !m->nsegments || !m->segments || m->segments->nslots <= SLOT_POP)
        return false;
    m->segments->slots[SLOT_REGISTER] = (intptr_t)register_schema;
    m->segments->slots[SLOT_PUSH] = (intptr_t)calls.push;
    m->segments->slots[SLOT_POP] = (intptr_t)calls.pop;
    return true;
}

static const struct schema *schema_of(const void *domain, uint64_t id)
{
    const struct schema *s = atomic_load_explicit(&schemas, memory_order_acquire);
    while (s && (s->id != id || s->domain != domain))
        s = s->next;
    return s;
}

static bool read_field(const struct field *f, const char *bytes, size_t size, int64_t *out)
{
    size_t n = (size_t)abs(f->bytes);
    if (!n || f->offset > size || n > size - f->offset)
        return false;
    uint64_t v = 0;
    memcpy(&v, bytes + f->offset, n);
    bool minus = f->bytes < 0 && n < sizeof v && v >> (8 * n - 1) & 1;
    *out = (int64_t)(minus ? v | ~UINT64_C(0) << 8 * n : v);
    return true;
}

bool payload_number(const void *domain, const struct nvtx_blob *v, size_t n, const char *name, int64_t *out)
{
    for (size_t i = 0; v && i < n && i < BLOBS_MAX; i++) {
        const struct schema *s = v[i].bytes ? schema_of(domain, v[i].schema) : NULL;
        for (size_t k = 0; s && k < s->n; k++)
            if (s->fields[k].name && strcmp(s->fields[k].name, name) == 0)
                return read_field(&s->fields[k], v[i].bytes, v[i].size == SIZE_MAX ? s->size : v[i].size, out);
    }
    return false;
}

void payload_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}
