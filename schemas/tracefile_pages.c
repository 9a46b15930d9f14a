/* tracefile_pages.c - a table's tree walked by hand. Format: sqlite.org/fileformat2.html, sections 1.3, 1.6, 2.1.
 *
 *   root ----- interior pages: (child, largest id under it) ... last child
 *                 |
 *              leaves: cells (length, id, record of whole numbers), shared out to threads, each run of leaves to one
 *
 * Rows are put where their id says; those that stay close ranks at the end.
 */
#include "schemas/tracefile_pages.h"
#include "schemas/tracefile_spare.h"
#include "schemas/tracefile_sql.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HEADER = 100,
    INTERIOR = 5,
    LEAF = 13,
    MOST_DEPTH = 20,
    OVERFLOWS = 35,
    RUN = 32
}; /* OVERFLOWS: bytes of a leaf that no cell alone
                                                                                                may fill; RUN: pages read at once */

/* A connection in a read transaction; its file. */
struct source {
    sqlite3 *db;
    sqlite3_file *file;
    size_t page, usable; /* bytes */
    uint32_t pages, root;
};

struct leaf {
    uint32_t page;
    int64_t last; /* the largest id that it may hold */
};

struct leaves {
    struct leaf *v;
    size_t n, cap;
};

static uint32_t big(const uint8_t *p, int bytes)
{
    uint32_t x = 0;
    for (int i = 0; i < bytes; i++)
        x = x << 8 | p[i];
    return x;
}

static bool read_at(const struct source *s, void *buf, size_t n, uint32_t page)
{
    return s->file->pMethods->xRead(s->file, buf, (int)n, (sqlite3_int64)(page - 1) * (sqlite3_int64)s->page) == SQLITE_OK;
}

/* A number asked for; -1: there is none. */
static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int64_t x = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        x = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return x;
}

static void source_close(struct source *s)
{
    sqlite3_close(s->db);
}

/* The columns are where version 1 has them; later ones come behind. */
static const char columns[] = "SELECT group_concat(name) = 'id,start,end,kind,name,rank,device,stream,thread,correlation,bytes,site' FROM "
                              "(SELECT name FROM pragma_table_info('event') ORDER BY cid LIMIT 12)";

/* The first SELECT takes the lock, which the transaction keeps. */
static bool begin(struct source *s, const char *path)
{
    bool ok = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
              sqlite3_busy_timeout(s->db, BUSY_MS) == SQLITE_OK && sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
    int64_t root = ok ? ask(s->db, "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = 'event'") : -1;
    int64_t pages = root > 1 && ask(s->db, columns) == 1 ? ask(s->db, "PRAGMA page_count") : -1;
    s->root = (uint32_t)root;
    s->pages = (uint32_t)pages;
    return pages >= root && pages > 1 && pages <= UINT32_MAX;
}

static bool source_open(struct source *s, const char *path)
{
    uint8_t h[HEADER];
    if (!begin(s, path) || sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &s->file) != SQLITE_OK || !s->file->pMethods ||
        !read_at(s, h, HEADER, 1) || h[18] != 1) /* in WAL mode */
        return false;
    s->page = big(h + 16, 2) == 1 ? 65536 : big(h + 16, 2);
    s->usable = s->page - h[20];
    return s->page >= 512 && s->usable >= 480 && s->usable <= s->page;
}

/* Behind the number; NULL: it does not end before `end`. */
static const uint8_t *varint(const uint8_t *p, const uint8_t *end, uint64_t *x)
{
    *x = 0;
    for (int i = 0; i < 9 && p < end; i++, p++) {
        if (i == 8)
            return *x = *x << 8 | *p, p + 1;
        *x = *x << 7 | (*p & 0x7f);
        if (!(*p & 0x80))
            return p + 1;
    }
    return NULL;
}

/* The k-th cell of a page; NULL: it lies outside. */
static const uint8_t *cell(const struct source *s, const uint8_t *page, size_t header, size_t k)
{
    size_t at = header + 2 * k + 2 <= s->usable ? big(page + header + 2 * k, 2) : 0;
    return at >= header && at < s->usable ? page + at : NULL;
}

/* ---- the tree ---- */

static bool add_child(const struct source *s, struct leaves *l, uint32_t page, int64_t last)
{
    bool ascending = !l->n || l->v[l->n - 1].last < last;
    if (page < 2 || page > s->pages || last < 1 || !ascending || l->n >= s->pages)
        return false;
    ARRAY_PUSH(l->v, l->n, l->cap, ((struct leaf){page, last}));
    return true;
}

/* The children of an interior page that holds ids up to `last`. */
static bool children(const struct source *s, const uint8_t *page, int64_t last, struct leaves *l)
{
    const uint8_t *end = page + s->usable;
    size_t n = big(page + 3, 2);
    for (size_t i = 0; i < n; i++) {
        uint64_t key;
        const uint8_t *p = cell(s, page, 12, i);
        if (!p || end - p < 5 || !varint(p + 4, end, &key) || (int64_t)key >= last || !add_child(s, l, big(p, 4), (int64_t)key))
            return false;
    }
    return add_child(s, l, big(page + 8, 4), last);
}

/* All leaves lie equally deep, so one look tells what a level is. */
static bool find_leaves(const struct source *s, int64_t n, struct leaves *l)
{
    uint8_t *buf = malloc(s->page);
    bool ok = buf && add_child(s, l, s->root, n);
    for (int depth = 0; ok && depth < MOST_DEPTH; depth++) {
        struct leaves next = {0};
        ok = read_at(s, buf, s->page, l->v[0].page);
        if (ok && *buf == LEAF)
            break;
        for (size_t i = 0; ok && i < l->n; i++)
            ok = read_at(s, buf, s->page, l->v[i].page) && *buf == INTERIOR && children(s, buf, l->v[i].last, &next);
        free(l->v);
        *l = next;
    }
    free(buf);
    return ok;
}

/* ---- rows ---- */

enum { ID, START, END, KIND, NAME, RANK, DEVICE, STREAM, THREAD, CORRELATION, BYTES, SITE };

const int64_t event_absent[EVENT_COLUMNS] = {[RANK] = -1, [DEVICE] = -1, [CORRELATION] = -1, [BYTES] = -1};

static int64_t whole(const uint8_t *p, unsigned bytes)
{
    uint64_t x = (uint64_t)(int64_t)(int8_t)p[0];
    for (unsigned i = 1; i < bytes; i++)
        x = x << 8 | p[i];
    return (int64_t)x;
}

/* The columns of a record; those that are NULL or missing keep what v[] holds. False: something else than whole numbers. */
static bool record(const uint8_t *p, const uint8_t *end, int64_t v[EVENT_COLUMNS])
{
    static const uint8_t size[] = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};
    uint64_t header;
    const uint8_t *type = varint(p, end, &header);
    if (!type || header > (uint64_t)(end - p) || header < (uint64_t)(type - p))
        return false;
    const uint8_t *types = p + header, *body = types;
    for (int i = 0; i < EVENT_COLUMNS && type < types; i++, type++) {
        if (*type >= sizeof size || *type == 7 || size[*type] > end - body)
            return false;
        if (*type >= 8)
            v[i] = *type - 8;
        else if (*type)
            v[i] = whole(body, size[*type]);
        body += size[*type];
    }
    return true;
}

/* Differences of any two times must fit: 146 years either way. */
static bool is_time(int64_t t)
{
    return t < INT64_C(1) << 62 && t > -(INT64_C(1) << 62);
}

bool event_make(const struct tracedata *d, const int64_t v[EVENT_COLUMNS], struct event *ev)
{
    *ev = (struct event){
        .start = v[START],
        .end = v[END],
        .kind = (int32_t)v[KIND],
        .name = (uint32_t)v[NAME],
        .rank = (int32_t)v[RANK],
        .device = (int32_t)v[DEVICE],
        .stream = (uint32_t)v[STREAM],
        .thread = (uint32_t)v[THREAD],
        .correlation = v[CORRELATION],
        .bytes = v[BYTES],
        .site = (uint32_t)v[SITE],
    };
    return ev->name < d->strings.n && ev->stream < d->nstreams && ev->thread < d->nthreads && ev->site < d->nsites && ev->kind >= 0 &&
           is_time(ev->start) && is_time(ev->end);
}

/* A run of leaves, for one thread. */
struct part {
    size_t first, end; /* leaves */
    int64_t from, to;  /* ids */
    size_t kept;       /* rows, from ev[from - 1] on */
    struct spare spare;
    bool ok;
};

struct reading {
    const char *path;
    const struct tracedata *d;
    struct event_rows *out;
    struct leaves leaves;
    struct part *parts;
    size_t nparts;
    atomic_size_t next;
};

/* The k-th row of a leaf, which must have this id. */
static bool read_cell(const struct source *s, const uint8_t *page, size_t k, int64_t id, int64_t v[EVENT_COLUMNS])
{
    const uint8_t *end = page + s->usable, *p = cell(s, page, 8, k);
    uint64_t length, key;
    memcpy(v, event_absent, sizeof event_absent);
    p = p ? varint(p, end, &length) : NULL;
    p = p ? varint(p, end, &key) : NULL;
    return p && (int64_t)key == id && length <= (uint64_t)(end - p) && length <= s->usable - OVERFLOWS && record(p, p + length, v) && !v[ID];
}

/* All rows of a leaf; *id: of the row before. */
static bool read_leaf(const struct reading *r, const struct source *s, struct part *k, const uint8_t *page, int64_t last, int64_t *id)
{
    int64_t v[EVENT_COLUMNS];
    size_t n = *page == LEAF ? big(page + 3, 2) : 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)k->from - 1 + k->kept;
        struct event *ev = &r->out->ev[at];
        if (++*id > last || !read_cell(s, page, i, *id, v) || !event_make(r->d, v, ev))
            return false;
        if (k->spare.kinds && spare_row(&k->spare, ev))
            continue;
        if (r->out->id)
            r->out->id[at] = (uint32_t)*id;
        k->kept++;
    }
    return *id == last;
}

static size_t run_of(const struct leaf *v, size_t most)
{
    size_t n = 1;
    while (n < most && n < RUN && v[n].page == v[n - 1].page + 1)
        n++;
    return n;
}

static bool read_part(const struct reading *r, const struct source *s, struct part *k, uint8_t *buf)
{
    int64_t id = k->from - 1;
    bool ok = true;
    for (size_t i = k->first, n; ok && i < k->end; i += n) {
        n = run_of(&r->leaves.v[i], k->end - i);
        ok = read_at(s, buf, n * s->page, r->leaves.v[i].page);
        for (size_t m = 0; ok && m < n; m++)
            ok = read_leaf(r, s, k, buf + m * s->page, r->leaves.v[i + m].last, &id);
    }
    return ok;
}

static void *read_next(void *arg)
{
    struct reading *r = arg;
    struct source s = {0};
    bool ok = source_open(&s, r->path);
    uint8_t *buf = ok ? malloc(RUN * s.page) : NULL;
    for (size_t i; (i = atomic_fetch_add(&r->next, 1)) < r->nparts;)
        r->parts[i].ok = buf && read_part(r, &s, &r->parts[i], buf);
    free(buf);
    source_close(&s);
    return NULL;
}

static bool read_parts(struct reading *r)
{
    enum { MOST = 64 };
    pthread_t others[MOST];
    int started = 0;
    bool ok = true;
    while (started < MOST && started + 1 < r->out->threads && (size_t)started + 1 < r->nparts &&
           pthread_create(&others[started], NULL, read_next, r) == 0)
        started++;
    read_next(r);
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    for (size_t i = 0; i < r->nparts; i++)
        ok = ok && r->parts[i].ok;
    return ok;
}

static bool share_out(struct reading *r)
{
    enum { FEW_LEAVES = 512 };
    size_t most = r->leaves.n / FEW_LEAVES + 1, n = r->out->threads > 1 ? 4 * (size_t)r->out->threads : 1;
    r->nparts = n < most ? n : most;
    r->parts = calloc(r->nparts, sizeof *r->parts);
    for (size_t i = 0; r->parts && i < r->nparts; i++) {
        struct part *k = &r->parts[i];
        k->first = r->leaves.n * i / r->nparts;
        k->end = r->leaves.n * (i + 1) / r->nparts;
        k->from = k->first ? r->leaves.v[k->first - 1].last + 1 : 1;
        k->to = r->leaves.v[k->end - 1].last;
        k->spare.kinds = r->out->spared;
    }
    return r->parts != NULL;
}

/* ---- all of it ---- */

/* Large pages where the machine has them: fewer faults. */
static void prefer_large(void *p, size_t size)
{
    enum { LARGE = 1 << 21 };
    uintptr_t from = ((uintptr_t)p + LARGE - 1) / LARGE * LARGE, to = ((uintptr_t)p + size) / LARGE * LARGE;
    if (to > from)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* Parts moved together, the rows that stand for others behind them. Those are no more than were left out. */
static void close_ranks(struct reading *r)
{
    struct event_rows *o = r->out;
    for (size_t i = 0; i < r->nparts; i++) {
        struct part *k = &r->parts[i];
        memmove(o->ev + o->n, o->ev + k->from - 1, k->kept * sizeof *o->ev);
        if (o->id)
            memmove(o->id + o->n, o->id + k->from - 1, k->kept * sizeof *o->id);
        o->n += k->kept;
    }
    o->nid = o->id ? o->n : 0;
    for (size_t i = 0; o->id && i < r->nparts; i++)
        o->n += spare_rows(&r->parts[i].spare, o->ev + o->n);
    struct event *less = realloc(o->ev, o->n * sizeof *less);
    o->ev = less ? less : o->ev;
    o->cap = less ? o->n : o->cap;
}

bool tracefile_pages(const char *path, const struct tracedata *d, int64_t n, struct event_rows *out)
{
    struct source s = {0};
    struct reading r = {.path = path, .d = d, .out = out};
    size_t ids = 0;
    bool ok = n > 0 && n < UINT32_MAX && source_open(&s, path) && find_leaves(&s, n, &r.leaves) && share_out(&r);
    if (ok) {
        out->ev = array_grow(NULL, &out->cap, (size_t)n, sizeof *out->ev);
        out->id = out->spared ? array_grow(NULL, &ids, (size_t)n, sizeof *out->id) : NULL;
        prefer_large(out->ev, (size_t)n * sizeof *out->ev);
        ok = read_parts(&r);
    }
    if (ok)
        close_ranks(&r);
    source_close(&s);
    free(r.leaves.v);
    free(r.parts);
    return ok;
}
