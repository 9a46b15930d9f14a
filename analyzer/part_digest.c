/* part_digest.c - husks, calls and rows as bytes and back. What is damaged is told by numbers that do not fit. */
#include "analyzer/part_digest.h"
#include "analyzer/part.h"

#include <stdlib.h>
#include <string.h>

static const struct field call_fields[] = {
    FIELD(call, c.lane),     FIELD_DELTA(call, c.event),  FIELD(call, c.group), FIELD(call, c.op), FIELD_DELTA(call, c.start), FIELD(call, c.end),
    FIELD(call, c.total_ns), FIELD(call, c.bytes),        FIELD(call, c.ranks), FIELD(call, seat), FIELD(call, part),          FIELD(call, name),
    FIELD(call, size),       FIELD_DELTA(call, sequence), FIELD(call, message), FIELD(call, rank), FIELD(call, peer),          FIELDS_END};
static const struct field step_fields[] = {FIELD_DELTA(step, number), FIELD_DELTA(step, start), FIELD_DELTA(step, end), FIELDS_END};
static const struct field ivl_fields[] = {FIELD_DELTA(ivl, start), FIELD_DELTA(ivl, end), FIELDS_END};
static const struct field int_fields[] = {{0, sizeof(int32_t), true, false}, FIELDS_END};

static void put_set(struct bytes *b, struct ivlset x)
{
    bytes_int(b, (int64_t)x.n);
    bytes_fields(b, x.v, sizeof *x.v, NULL, x.n, ivl_fields);
}

static struct ivlset get_set(struct reading *r, struct arena *a)
{
    struct ivlset x = {.n = read_count(r, r->n - r->at)};
    x.v = arena_array(a, struct ivl, x.n + 1);
    read_fields(r, x.v, sizeof *x.v, NULL, x.n, ivl_fields);
    return x;
}

/* ---- the file's facts ---- */

static void put_facts(struct bytes *b, const struct trace_file *f)
{
    const struct tracedata *d = &f->d;
    bytes_int(b, f->start);
    bytes_int(b, f->end);
    bytes_int(b, (int64_t)f->bad_rows);
    bytes_int(b, f->kinds);
    bytes_int(b, d->t0);
    bytes_int(b, (int64_t)f->nheld);
    bytes_fields(b, f->held, sizeof *f->held, NULL, f->nheld, int_fields);
    bytes_int(b, (int64_t)d->nmeta);
    for (size_t i = 0; i < d->nmeta; i++) {
        bytes_string(b, intern_str(&d->strings, d->meta[i].key));
        bytes_string(b, intern_str(&d->strings, d->meta[i].value));
    }
    bytes_int(b, (int64_t)d->nloss);
    for (size_t i = 0; i < d->nloss; i++) {
        bytes_string(b, intern_str(&d->strings, d->loss[i].reason));
        bytes_int(b, d->loss[i].count);
        bytes_int(b, d->loss[i].start);
        bytes_int(b, d->loss[i].end);
    }
    bytes_int(b, (int64_t)d->nclocks);
    for (size_t i = 0; i < d->nclocks; i++) {
        bytes_string(b, intern_str(&d->strings, d->clocks[i].clock));
        bytes_int(b, d->clocks[i].before);
        bytes_int(b, d->clocks[i].other);
        bytes_int(b, d->clocks[i].after);
    }
}

static void get_meta(struct reading *r, struct trace_file *f, struct arena *a)
{
    size_t n = read_count(r, r->n - r->at);
    for (size_t i = 0; i < n && !r->bad; i++) {
        const char *key = read_string(r, a), *value = read_string(r, a);
        tracedata_meta(&f->d, key ? key : "", value ? value : "");
    }
    n = read_count(r, r->n - r->at);
    for (size_t i = 0; i < n && !r->bad; i++) {
        const char *reason = read_string(r, a);
        int64_t count = read_int(r), start = read_int(r);
        tracedata_loss(&f->d, reason ? reason : "", count, start, read_int(r));
    }
}

static void get_clocks(struct reading *r, struct trace_file *f, struct arena *a)
{
    size_t n = read_count(r, r->n - r->at);
    for (size_t i = 0; i < n && !r->bad; i++) {
        const char *clock = read_string(r, a);
        struct clock_row row = {intern_id(&f->d.strings, clock ? clock : ""), read_int(r), 0, 0};
        row.other = read_int(r);
        row.after = read_int(r);
        ARRAY_PUSH(f->d.clocks, f->d.nclocks, f->d.clocks_cap, row);
    }
}

static void get_facts(struct reading *r, struct trace_file *f, struct arena *a)
{
    f->start = read_int(r);
    f->end = read_int(r);
    f->bad_rows = read_count(r, SIZE_MAX);
    f->kinds = (unsigned)read_int(r);
    f->d.t0 = read_int(r);
    f->nheld = read_count(r, r->n - r->at);
    int32_t *held = arena_array(a, int32_t, f->nheld + 1);
    read_fields(r, held, sizeof *held, NULL, f->nheld, int_fields);
    f->held = held;
    get_meta(r, f, a);
    get_clocks(r, f, a);
    f->backend = tracedata_meta_get(&f->d, "backend");
}

/* ---- ranks and lanes ---- */

static void put_rank(struct bytes *b, const struct trace_rank *k, const struct lane *lanes)
{
    bytes_int(b, k->rank);
    bytes_int(b, (int64_t)k->bad_rows);
    put_set(b, k->window);
    bytes_int(b, (int64_t)k->steps.n);
    bytes_fields(b, k->steps.v, sizeof *k->steps.v, NULL, k->steps.n, step_fields);
    bytes_int(b, k->nlanes);
    for (uint32_t i = 0; i < k->nlanes; i++) {
        bytes_int(b, lanes[i].rank);
        bytes_int(b, lanes[i].device);
        bytes_int(b, (int64_t)lanes[i].bad_rows);
        put_set(b, lanes[i].window);
    }
}

static void get_rank(struct reading *r, struct trace *t)
{
    struct arena *a = &t->arena;
    struct trace_rank k = {.rank = (int32_t)read_int(r), .bad_rows = read_count(r, SIZE_MAX), .first_lane = (uint32_t)t->nlanes};
    k.window = get_set(r, a);
    k.steps.n = read_count(r, r->n - r->at);
    struct step *steps = arena_array(a, struct step, k.steps.n + 1);
    read_fields(r, steps, sizeof *steps, NULL, k.steps.n, step_fields);
    k.steps.v = steps;
    k.nlanes = (uint32_t)read_count(r, r->n - r->at);
    for (uint32_t i = 0; i < k.nlanes && !r->bad; i++) {
        struct lane l = {.host = (uint32_t)t->nranks, .rank = (int32_t)read_int(r)};
        l.device = (int32_t)read_int(r);
        l.bad_rows = read_count(r, SIZE_MAX);
        l.window = get_set(r, a);
        ARRAY_PUSH(t->lanes, t->nlanes, t->lanes_cap, l);
    }
    ARRAY_PUSH(t->ranks, t->nranks, t->ranks_cap, k);
}

/* ---- calls ---- */

enum { SINGLE = 1, P2P = 2, COUNTS = 4, SENT = 8, RECEIVES = 16, KNOWN = 32 };

static int64_t flags_of(const struct call *c)
{
    return c->single * SINGLE + c->p2p * P2P + c->counts * COUNTS + c->c.sent * SENT + c->receives * RECEIVES + (c->c.transfer_ns >= 0) * KNOWN;
}

static void set_flags(struct call *c, int64_t flags)
{
    c->single = flags & SINGLE, c->p2p = flags & P2P, c->counts = flags & COUNTS, c->c.sent = flags & SENT, c->receives = flags & RECEIVES;
    c->c.transfer_ns = flags & KNOWN ? c->c.total_ns : -1;
}

static void put_calls(struct bytes *b, const struct calls *k)
{
    bytes_int(b, k->nseats);
    bytes_int(b, (int64_t)k->names.n);
    for (size_t i = 0; i < k->names.n; i++)
        bytes_text(b, k->names.strings[i], k->names.lengths[i]);
    bytes_int(b, (int64_t)k->n);
    bytes_fields(b, k->v, sizeof *k->v, NULL, k->n, call_fields);
    for (size_t i = 0; i < k->n; i++)
        bytes_int(b, flags_of(&k->v[i]));
}

static bool call_fits(const struct call *c, const struct calls *k, size_t nlanes)
{
    bool names = c->c.group < k->names.n && c->c.op < k->names.n && c->name < k->names.n;
    return names && c->seat < k->nseats && (c->c.lane < nlanes || c->c.lane == CALL_HIDDEN);
}

static void get_calls(struct reading *r, struct calls *k, size_t nlanes)
{
    k->nseats = (uint32_t)read_count(r, UINT32_MAX);
    size_t names = read_count(r, r->n - r->at), n;
    for (size_t i = 0; i < names && !r->bad; i++) {
        size_t length;
        const char *s = read_text(r, &length);
        r->bad |= intern_id_n(&k->names, s, length) != i;
    }
    n = read_count(r, r->n - r->at);
    k->v = array_grow(k->v, &k->cap, n + 1, sizeof *k->v);
    memset(k->v, 0, n * sizeof *k->v);
    read_fields(r, k->v, sizeof *k->v, NULL, n, call_fields);
    for (size_t i = 0; i < n; i++) {
        set_flags(&k->v[i], read_int(r));
        r->bad |= !call_fits(&k->v[i], k, nlanes);
    }
    k->n = r->bad ? 0 : n;
}

void digest_put_file(struct bytes *b, const struct trace *husk, const struct calls *calls, size_t events)
{
    bytes_int(b, (int64_t)events);
    bytes_int(b, husk->span);
    bytes_int(b, husk->lacks);
    put_facts(b, &husk->files[0]);
    bytes_int(b, (int64_t)husk->nranks);
    for (size_t i = 0; i < husk->nranks; i++)
        put_rank(b, &husk->ranks[i], husk->lanes + husk->ranks[i].first_lane);
    put_calls(b, calls);
}

bool digest_get_file(struct reading *r, const char *path, struct digest *g, size_t *events)
{
    struct trace *t = &g->husk;
    size_t cap = 0;
    *g = (struct digest){0};
    calls_init(&g->calls);
    *events = read_count(r, SIZE_MAX);
    t->span = (enum span)read_count(r, SPAN_ALL);
    t->lacks = (unsigned)read_int(r);
    t->files = array_grow(NULL, &cap, 1, sizeof *t->files);
    t->nfiles = 1;
    t->files[0] = (struct trace_file){.path = arena_strdup(&t->arena, path)};
    t->files[0].name = strrchr(t->files[0].path, '/') + 1;
    tracedata_init(&t->files[0].d);
    get_facts(r, &t->files[0], &t->arena);
    size_t ranks = read_count(r, r->n - r->at);
    for (size_t i = 0; i < ranks && !r->bad; i++)
        get_rank(r, t);
    t->files[0].nranks = (uint32_t)t->nranks;
    get_calls(r, &g->calls, t->nlanes);
    return !r->bad && r->at == r->n;
}

/* ---- a table ---- */

static void put_cell(struct bytes *b, struct cell c)
{
    int64_t bits;
    bytes_int(b, c.kind);
    if (c.kind == CELL_TEXT)
        bytes_text(b, c.s, strlen(c.s));
    if (c.kind == CELL_INT)
        bytes_int(b, c.i);
    if (c.kind == CELL_REAL) {
        memcpy(&bits, &c.r, sizeof bits);
        bytes_int(b, bits);
    }
}

static struct cell get_cell(struct reading *r, struct arena *a)
{
    struct cell c = {.kind = (enum cell_kind)read_count(r, CELL_TEXT)};
    size_t n;
    const char *s = c.kind == CELL_TEXT ? read_text(r, &n) : NULL;
    int64_t v = c.kind == CELL_INT || c.kind == CELL_REAL ? read_int(r) : 0;
    if (s)
        c.s = arena_strndup(a, s, n);
    else if (c.kind == CELL_REAL)
        memcpy(&c.r, &v, sizeof c.r);
    else if (c.kind == CELL_INT)
        c.i = v;
    return c;
}

void digest_put_table(struct bytes *b, const struct digest *g)
{
    bytes_int(b, g->err.kind);
    bytes_string(b, g->err.kind ? g->err.msg : NULL);
    bytes_int(b, (int64_t)g->rows.nnotes);
    for (size_t i = 0; i < g->rows.nnotes; i++)
        bytes_string(b, g->rows.notes[i]);
    bytes_int(b, (int64_t)g->rows.ncolumns);
    bytes_int(b, (int64_t)g->rows.nrows);
    for (size_t c = 0; c < g->rows.ncolumns; c++)
        for (size_t i = 0; i < g->rows.nrows; i++)
            put_cell(b, table_at(&g->rows, i)[c]);
    bytes_int(b, (int64_t)g->calls.n);
    for (size_t i = 0; i < g->calls.n; i++)
        bytes_int(b, g->calls.v[i].c.row);
}

static void get_rows(struct reading *r, struct table *t, int waits)
{
    size_t columns = read_count(r, UINT32_MAX), rows = read_count(r, r->n - r->at);
    r->bad |= columns != t->ncolumns;
    for (size_t i = 0; i < rows && !r->bad; i++)
        table_row(t);
    for (size_t c = 0; c < t->ncolumns && !r->bad; c++)
        for (size_t i = 0; i < rows && !r->bad; i++) {
            struct cell *cell = &table_at(t, i)[c];
            *cell = get_cell(r, &t->arena);
            bool number = cell->kind == CELL_INT && cell->i > 0 && (uint64_t)cell->i <= rows;
            r->bad |= (int)c == waits && cell->kind && !number;
        }
}

bool digest_get_table(struct reading *r, const struct table_desc *d, struct digest *g)
{
    struct arena a = {0};
    table_init(&g->rows, d->name, d->title, d->columns);
    enum err_kind kind = (enum err_kind)read_count(r, ERR_UNDECIDED);
    const char *why = read_string(r, &a);
    if (kind)
        fail(&g->err, kind, "%s", why ? why : "");
    size_t notes = read_count(r, r->n - r->at);
    for (size_t i = 0; i < notes && !r->bad; i++) {
        const char *note = read_string(r, &a);
        table_note(&g->rows, "%s", note ? note : "");
    }
    get_rows(r, &g->rows, d->waits ? table_column(&g->rows, d->waits) : -1);
    size_t n = read_count(r, g->calls.n);
    r->bad |= n && n != g->calls.n;
    for (size_t i = 0; i < n && !r->bad; i++)
        g->calls.v[i].c.row = (uint32_t)read_count(r, g->rows.nrows);
    arena_free(&a);
    return !r->bad && r->at == r->n;
}

bool part_digest(const char *path, const struct table_desc *d, struct digest *g)
{
    struct bytes file = {0}, content = {0};
    size_t events;
    *g = (struct digest){0};
    bool ok = part_blob(path, NULL, &file) && part_blob(path, d->name, &content);
    struct reading f = {.v = file.v, .n = file.n}, c = {.v = content.v, .n = content.n};
    ok = ok && digest_get_file(&f, path, g, &events) && digest_get_table(&c, d, g);
    bytes_free(&file);
    bytes_free(&content);
    if (!ok) {
        digest_free(g);
        *g = (struct digest){0};
    }
    return ok;
}
