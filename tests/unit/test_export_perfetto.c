/* Perfetto's protobuf, decoded again by a reader of its own: every row is a slice, and slices of a track nest. */
#include "export_random.h"

struct bytes {
    const unsigned char *p, *end;
};

static uint64_t varint(struct bytes *b)
{
    uint64_t v = 0;
    for (int shift = 0; b->p < b->end; shift += 7) {
        v |= (uint64_t)(*b->p & 0x7f) << shift;
        if (!(*b->p++ & 0x80))
            return v;
    }
    fail_msg("a number is cut");
    return 0;
}

/* The next field; a number in *v, or a message or text in *inner. */
static int field(struct bytes *b, uint64_t *v, struct bytes *inner)
{
    uint64_t key = varint(b);
    *inner = (struct bytes){b->p, b->p};
    if ((key & 7) == 0) {
        *v = varint(b);
    } else if ((key & 7) == 1) {
        assert_true(b->end - b->p >= 8);
        memcpy(v, b->p, 8);
        b->p += 8;
    } else {
        assert_int_equal(key & 7, 2);
        uint64_t n = varint(b);
        assert_true(n <= (uint64_t)(b->end - b->p));
        *inner = (struct bytes){b->p, b->p + n};
        b->p += n;
    }
    return (int)(key >> 3);
}

enum { TRACKS = 2048, NAMES = 4096, DEPTH = 256 };

struct slice {
    uint64_t start;
    uint64_t name, category;
};

static struct reader {
    bool known[TRACKS];
    uint64_t parent[TRACKS], at[TRACKS]; /* the last time of each */
    struct slice open[TRACKS][DEPTH];
    size_t depth[TRACKS];
    char *name[NAMES], *category[64];
    const char *lines[4096];
    size_t nlines, packets, flows;
    struct arena a;
} * r;

static char *text(struct bytes b)
{
    return arena_strndup(&r->a, (const char *)b.p, (size_t)(b.end - b.p));
}

static void intern_entry(struct bytes b, char **table, size_t most)
{
    uint64_t id = 0, v;
    struct bytes inner;
    while (b.p < b.end) {
        int f = field(&b, &v, &inner);
        if (f == 1)
            id = v;
        else if (f == 2 && id < most)
            table[id] = text(inner);
    }
    assert_in_range(id, 1, most - 1);
}

static void interned(struct bytes b)
{
    static char *keys[64];
    uint64_t v;
    struct bytes inner;
    while (b.p < b.end)
        switch (field(&b, &v, &inner)) {
        case 1:
            intern_entry(inner, r->category, 64);
            break;
        case 2:
            intern_entry(inner, r->name, NAMES);
            break;
        case 3:
            intern_entry(inner, keys, 64);
            break;
        default:
            fail_msg("an unknown kind of interned data");
        }
}

static void descriptor(struct bytes b)
{
    uint64_t v, uuid = 0, parent = 0;
    struct bytes inner;
    while (b.p < b.end) {
        int f = field(&b, &v, &inner);
        uuid = f == 1 ? v : uuid;
        parent = f == 5 ? v : parent;
    }
    assert_in_range(uuid, 1, TRACKS - 1);
    assert_false(r->known[uuid]);
    assert_true(!parent || r->known[parent]);
    r->known[uuid] = true;
}

static void closed(uint64_t start, uint64_t end, const struct slice *s)
{
    r->lines[r->nlines++] = arena_printf(&r->a, "%s|%s|%llu+%llu", r->category[s->category], r->name[s->name], (unsigned long long)start,
                                         (unsigned long long)(end - start));
}

static void track_event(struct bytes b, uint64_t time)
{
    uint64_t v, type = 0, track = 0;
    struct slice s = {.start = time};
    struct bytes inner;
    while (b.p < b.end) {
        int f = field(&b, &v, &inner);
        type = f == 9 ? v : type;
        track = f == 11 ? v : track;
        s.name = f == 10 ? v : s.name;
        s.category = f == 3 ? v : s.category;
        r->flows += f == 47;
    }
    assert_true(track < TRACKS && r->known[track]);
    if (type == 3) {
        closed(time, time, &s);
        return;
    }
    assert_true(time >= r->at[track]); /* in order, track by track: so an end belongs to the innermost open slice */
    r->at[track] = time;
    if (type == 1) {
        assert_true(r->name[s.name] && r->category[s.category] && r->depth[track] < DEPTH);
        r->open[track][r->depth[track]++] = s;
    } else {
        assert_int_equal(type, 2);
        assert_true(r->depth[track] > 0);
        const struct slice *top = &r->open[track][--r->depth[track]];
        closed(top->start, time, top);
    }
}

static void packet(struct bytes b)
{
    uint64_t v, time = 0;
    struct bytes inner, event = {0};
    while (b.p < b.end) {
        int f = field(&b, &v, &inner);
        if (f == 8)
            time = v;
        else if (f == 12)
            interned(inner);
        else if (f == 60)
            descriptor(inner);
        else if (f == 11)
            event = inner;
        else
            assert_true((f == 10 && v == 1) || (f == 13 && v == (r->packets ? 2 : 1)));
    }
    r->packets++;
    if (event.p)
        track_event(event, time);
}

static void decode(const char *path)
{
    static unsigned char buf[1 << 20];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(buf, 1, sizeof buf, f);
    fclose(f);
    assert_true(n > 0 && n < sizeof buf);
    struct bytes b = {buf, buf + n}, inner;
    uint64_t v;
    while (b.p < b.end) {
        assert_int_equal(field(&b, &v, &inner), 1);
        packet(inner);
    }
    for (size_t i = 0; i < TRACKS; i++)
        assert_int_equal(r->depth[i], 0);
}

static int by_text(const void *p, const void *q)
{
    return strcmp(*(const char *const *)p, *(const char *const *)q);
}

/* The rows of the trace at `path` as slices. */
static void check(const char *path)
{
    struct trace t;
    struct export_job x;
    struct err e = {0};
    r = calloc(1, sizeof *r);
    open_job(path, NULL, &t, &x);
    assert_ok(exporter_named("perfetto")->write(&x, "pf.tmp", &e), &e);
    decode("pf.tmp");
    const struct export_file *f = &x.files[0];
    const char **want = arena_array(&r->a, const char *, f->n);
    for (size_t i = 0; i < f->n; i++) {
        const struct event *ev = &f->f->d.ev[f->rows[i]];
        want[i] = arena_printf(&r->a, "%s|%s|%lld+%lld", ev_kind_name((enum ev_kind)ev->kind), clean(f->f, ev->name, &r->a),
                               (long long)(ev->start - x.first), (long long)(ev->end - ev->start));
    }
    qsort(want, f->n, sizeof *want, by_text);
    qsort(r->lines, r->nlines, sizeof *r->lines, by_text);
    assert_int_equal(r->nlines, f->n);
    for (size_t i = 0; i < f->n; i++)
        assert_string_equal(r->lines[i], want[i]);
    close_job(&t, &x);
    arena_free(&r->a);
    free(r);
    unlink("pf.tmp");
}

TEST(every_row_is_a_slice)
{
    PROP(300)
    {
        struct maker m = maker("perfetto");
        random_rows(&m, 1 + rnd(80), (1u << EV_NKINDS) - 1);
        make_file(&m);
        check(m.path);
        unlink(m.path);
    }
}

/* Hundreds of kernels that overlap without nesting on one stream: none is lost, each on a level of its own. */
TEST(rows_that_overlap_are_kept)
{
    struct maker m = maker("overlap");
    for (int i = 0; i < 500; i++)
        make_work(&m, EV_KERNEL, "k", 0, 7, i, 1000 + 3 * i, -1);
    for (int i = 0; i < 500; i++)
        make_work(&m, EV_KERNEL, "l", 0, 7, 3000 + i, 3001 + i, -1);
    make_file(&m);
    check(m.path);
    unlink(m.path);
}

UNIT_MAIN(UNIT(every_row_is_a_slice), UNIT(rows_that_overlap_are_kept))
