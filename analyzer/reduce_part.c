/* reduce_part.c - the files of a host, several at a time, into a part in their order. */
#include "analyzer/reduce_part.h"
#include "analyzer/import.h"
#include "analyzer/part.h"
#include "analyzer/part_digest.h"
#include "analyzer/part_pack.h"
#include "analyzer/trace_build.h"
#include "schemas/tracefile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL = 9, TABLES = 64 };

/* What is written of one file. */
struct entry {
    struct bytes rows, file, tables[TABLES]; /* by entry of table_descs; empty: none */
    struct err err;
    unsigned lacks;
};

struct making {
    const struct paths *p;
    const struct trace_opts *o;
    bool rows;
    struct part *out;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t next; /* whose turn to write it is */
    unsigned lacks;
    struct trace first; /* the husk of the first file, for messages */
    struct err err;
};

static struct bytes packed(struct bytes *b)
{
    struct bytes p = bytes_pack(b, LEVEL);
    bytes_free(b);
    return p;
}

/* Every table that is made file by file when its options are the default ones. */
static void make_tables(const struct trace *t, struct entry *x)
{
    for (size_t i = 0; table_descs[i] && i < TABLES; i++) {
        const struct table_desc *d = table_descs[i];
        struct digest g = {0};
        struct bytes b = {0};
        if (d->whole && d->whole(NULL))
            continue;
        digest_make(d, t, NULL, &g);
        digest_put_table(&b, &g);
        x->tables[i] = packed(&b);
        digest_free(&g);
    }
}

static void make_entry(struct making *m, size_t i, struct entry *x, struct trace *husk)
{
    struct trace_opts o = *m->o;
    struct trace t;
    struct calls calls;
    struct bytes b = {0};
    o.one_of_many = true;
    o.threads = 1;
    o.spared |= m->rows ? 0u : (unsigned)COLUMNS_ALL;
    if (!trace_open(&m->p->v[i], 1, &o, &t, &x->err))
        return;
    size_t events = t.files[0].d.n;
    if (m->rows)
        x->rows = tracedata_pack(&t.files[0].d);
    make_tables(&t, x);
    calls_init(&calls);
    digest_calls(&t, &calls);
    x->lacks = t.lacks;
    husk_take(&t, husk);
    digest_put_file(&b, husk, &calls, events);
    x->file = packed(&b);
    calls_free(&calls);
}

static bool write_entry(struct making *m, size_t i, const struct entry *x, struct err *e)
{
    char part[4096];
    int64_t id;
    const char *path = m->p->v[i];
    uint64_t folder = part_holds(path, part, &id) ? part_folder_of(path) : part_folder(path);
    bool ok = part_add(m->out, (int64_t)i + 1, basename(path), folder, m->rows ? &x->rows : NULL, &x->file, e);
    for (size_t k = 0; ok && k < TABLES && table_descs[k]; k++)
        ok = !x->tables[k].v || part_add_result(m->out, (int64_t)i + 1, table_descs[k]->name, &x->tables[k], e);
    return ok;
}

static void free_entry(struct entry *x)
{
    bytes_free(&x->rows);
    bytes_free(&x->file);
    for (size_t k = 0; k < TABLES; k++)
        bytes_free(&x->tables[k]);
}

/* One file; it is written when all before it are. */
static bool one_file(void *ctx, size_t i)
{
    struct making *m = ctx;
    struct entry x = {0};
    struct trace husk = {0};
    make_entry(m, i, &x, &husk);
    pthread_mutex_lock(&m->lock);
    while (m->next != i)
        pthread_cond_wait(&m->turn, &m->lock);
    if (!m->err.kind && x.err.kind)
        m->err = x.err;
    if (!x.err.kind && husk.files[0].foreign && !m->o->quiet)
        import_warn(m->p->v[i], &husk.files[0].d, 0);
    if (!m->err.kind)
        write_entry(m, i, &x, &m->err);
    m->lacks &= x.lacks;
    m->next++;
    bool ok = !m->err.kind;
    pthread_cond_broadcast(&m->turn);
    pthread_mutex_unlock(&m->lock);
    if (i == 0)
        m->first = husk;
    else
        trace_close(&husk);
    free_entry(&x);
    return ok;
}

/* A restriction that leaves no event in any file is no part. */
static bool complete(struct making *m, struct err *e)
{
    if (m->err.kind)
        return fail(e, m->err.kind, "%s", m->err.msg);
    m->first.lacks = m->lacks;
    m->first.opts = *m->o;
    return trace_complete(&m->first, e);
}

bool reduce_part(const char *const *paths, size_t n, const struct trace_opts *o, bool rows, const char *out, bool force, struct err *e)
{
    struct arena a = {0};
    struct paths p = {0};
    struct trace_opts with = *o;
    const char *more;
    struct making m = {.p = &p, .o = &with, .rows = rows, .lacks = ~0u};
    pthread_mutex_init(&m.lock, NULL);
    pthread_cond_init(&m.turn, NULL);
    bool ok = paths_expand(&p, &a, paths, n, e) && part_options(p.v, p.n, &with, &a, &more, e) && (m.out = part_create(out, force, &with, e));
    if (ok && !o->quiet)
        paths_warn(&p);
    if (ok) {
        for_files(p.n, one_file, &m);
        ok = complete(&m, e);
    }
    if (ok)
        ok = part_finish(m.out, e);
    else
        part_drop(m.out);
    trace_close(&m.first);
    pthread_cond_destroy(&m.turn);
    pthread_mutex_destroy(&m.lock);
    paths_free(&p);
    arena_free(&a);
    return ok;
}
