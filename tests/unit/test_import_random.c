/* Kineto by property: random events written as JSON in random ways come back as they were; a text cut anywhere gives
 * exactly the events that are whole; a stream through a trace file equals the import into memory. */
#include "import_run.h"

#include "schemas/tracefile.h"

struct text {
    char *s;
    size_t n, cap;
};

static void add(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char buf[512];
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    for (int i = 0; i < n; i++)
        ARRAY_PUSH(t->s, t->n, t->cap, buf[i]);
}

static void blank(struct text *t)
{
    static const char *const blanks[] = {"", "", "", " ", "\n", "\r\n\t", "     "};
    add(t, "%s", blanks[rnd(sizeof blanks / sizeof *blanks)]);
}

struct want {
    int kind;
    int64_t start, length, correlation, bytes;
    int device, stream, pid, tid;
    char name[64];
};

static const struct {
    const char *cat;
    int kind;
} cats[] = {
    {"kernel", EV_KERNEL}, {"gpu_memcpy", EV_MEMCPY},     {"GPU_MEMSET", EV_MEMSET},     {"cuda_runtime", EV_RUNTIME},         {"cpu_op", EV_OP},
    {"Operator", EV_OP},   {"user_annotation", EV_RANGE}, {"python_function", EV_FRAME}, {"gpu_user_annotation", EV_GPU_RANGE}};

/* Names without U+FFFD traps; how they are written is another matter. */
static void random_name(struct want *w)
{
    static const char *const bits[] = {"a", "Kernel<4, float>", "\"", "\\", "/", "\xc3\xa4", "\xf0\x9f\x98\x80", "\n", "\x1f", "}", "]", ",{\"ph\":"};
    *w->name = '\0';
    for (int i = (int)rnd(4); i >= 0; i--)
        strncat(w->name, bits[rnd(sizeof bits / sizeof *bits)], sizeof w->name - strlen(w->name) - 1);
}

static void add_string(struct text *t, const char *s)
{
    add(t, "\"");
    for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
        if (*p == '"' || *p == '\\')
            add(t, rnd(4) ? "\\%c" : "\\u%04x", *p);
        else if (*p < 0x20)
            add(t, "\\u%04x", *p);
        else if (*p == 0xf0 && rnd(2)) {
            add(t, "\\uD83D\\ude00");
            p += 3;
        } else
            add(t, "%c", *p);
    }
    add(t, "\"");
}

/* ns as decimal us: 3 digits, or fewer where zeros allow, now and then quoted. */
static void add_time(struct text *t, int64_t ns)
{
    bool quoted = rnd(5) == 0;
    add(t, "%s%s%lld", quoted ? "\"" : "", ns < 0 ? "-" : "", (long long)llabs(ns / 1000));
    if (ns % 1000 || rnd(2))
        add(t, ".%03lld%s", (long long)llabs(ns % 1000), rnd(3) ? "" : "000");
    add(t, "%s", quoted ? "\"" : "");
}

static bool on_device(int kind)
{
    return kind == EV_KERNEL || kind == EV_MEMCPY || kind == EV_MEMSET || kind == EV_GPU_RANGE;
}

static void add_args(struct text *t, const struct want *w)
{
    add(t, "{");
    if (rnd(2))
        add(t, "\"Input Dims\": [[2, 3], [], [\"]}\", null]], \"nest\": {\"a\": {\"device\": 99}}, ");
    if (on_device(w->kind))
        add(t, "\"device\": %d, \"stream\":%d, ", w->device, w->stream);
    if (w->bytes >= 0)
        add(t, "\"bytes\":%lld,", (long long)w->bytes);
    if (w->correlation >= 0)
        add(t, rnd(3) ? "\"correlation\": %lld," : "\"correlation\": \"%lld\" ,", (long long)w->correlation);
    add(t, "\"note\": true}");
}

static struct want random_want(const char **cat)
{
    size_t c = (size_t)rnd(sizeof cats / sizeof *cats);
    struct want w = {.kind = cats[c].kind, .start = INT64_C(1700000000000000000) + (int64_t)rnd(1u << 30), .length = (int64_t)rnd(1u << 20)};
    w.correlation = rnd(3) ? (int64_t)rnd(1000) : -1;
    w.bytes = w.kind == EV_MEMCPY || w.kind == EV_MEMSET ? (int64_t)rnd(1u << 31) : -1;
    w.device = (int)rnd(8);
    w.stream = (int)rnd(30);
    w.pid = 100 + (int)rnd(2);
    w.tid = 200 + (int)rnd(5);
    *cat = cats[c].cat;
    random_name(&w);
    return w;
}

static void add_event(struct text *t, const struct want *w, const char *cat)
{
    int first = (int)rnd(8); /* the keys in any rotation */
    add(t, "{");
    for (int i = 0; i < 8; i++) {
        static const char *const keys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"};
        int k = (first + i) % 8;
        blank(t);
        add(t, "\"%s\"", keys[k]);
        blank(t);
        add(t, ":");
        blank(t);
        if (k == 0)
            add(t, "\"X\"");
        else if (k == 1 || k == 2)
            add_string(t, k == 1 ? cat : w->name);
        else if (k == 3 || k == 4)
            add(t, "%d", on_device(w->kind) ? (k == 3 ? w->device : w->stream) : (k == 3 ? w->pid : w->tid));
        else if (k == 5 || k == 6)
            add_time(t, k == 5 ? w->start : w->length);
        else
            add_args(t, w);
        blank(t);
        add(t, i < 7 ? "," : "");
    }
    add(t, "}");
}

static struct text random_doc(struct want *w, size_t n, size_t *ends)
{
    struct text t = {0};
    add(&t, "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 2}, \"traceEvents\": [");
    for (size_t i = 0; i < n; i++) {
        const char *cat;
        w[i] = random_want(&cat);
        blank(&t);
        add_event(&t, &w[i], cat);
        ends[i] = t.n;
        add(&t, i + 1 < n ? "," : "");
    }
    add(&t, "], \"traceName\": \"x\"}");
    return t;
}

static void check_event(const struct tracedata *d, size_t i, const struct want *w)
{
    const struct event *ev = &d->ev[i];
    bool same = ev->kind == w->kind && ev->start + d->t0 == w->start && ev->end - ev->start == w->length && ev->correlation == w->correlation &&
                ev->bytes == w->bytes && ev->rank == 2 && strcmp(event_name(d, i), w->name) == 0;
    if (on_device(w->kind))
        same = same && ev->device == w->device && d->streams[ev->stream].native == w->stream && !ev->thread;
    else
        same = same && ev->device == -1 && d->threads[ev->thread].tid == w->tid && d->processes[process_of_event(d, ev)].pid == w->pid;
    if (!same)
        fail_msg("event %zu: kind %d name %s start %lld length %lld", i, ev->kind, event_name(d, i), (long long)ev->start,
                 (long long)(ev->end - ev->start));
}

TEST(random_events_come_back)
{
    PROP(60)
    {
        enum { MOST = 6000 };
        static struct want w[MOST];
        static size_t ends[MOST];
        size_t n = prop_ % 10 ? 1 + (size_t)rnd(60) : MOST; /* over one window of 1 MB now and then */
        struct text t = random_doc(w, n, ends);
        import_write("import.in", t.s, t.n);
        struct tracedata d;
        struct err e = {0};
        assert_ok(import_quietly("import.in", &d, &e), &e);
        assert_int_equal(d.n, n);
        assert_int_equal(d.nloss, 0);
        for (size_t i = 0; i < n; i++)
            check_event(&d, i, &w[i]);
        tracedata_free(&d);
        free(t.s);
    }
    unlink("import.in");
}

TEST(a_text_cut_anywhere_gives_what_is_whole)
{
    PROP(3)
    {
        struct want w[12];
        size_t ends[12], n = 12;
        struct text t = random_doc(w, n, ends);
        for (size_t cut = 0; cut < t.n; cut++) {
            struct tracedata d;
            struct err e = {0};
            size_t whole = 0;
            while (whole < n && ends[whole] <= cut)
                whole++;
            import_write("import.in", t.s, cut);
            bool ok = import_quietly("import.in", &d, &e);
            if (ok != (whole > 0) || (ok && (d.n != whole || d.nloss != 1)) || (!ok && e.kind != ERR_FAIL))
                fail_msg("cut at %zu: %s, %zu events, %zu losses; want %zu events", cut, ok ? "taken" : e.msg, d.n, d.nloss, whole);
            tracedata_free(&d);
        }
        free(t.s);
    }
    unlink("import.in");
}

/* What the file holds, streamed through spill, is what memory holds. */
TEST(streamed_to_a_file_equals_memory)
{
    PROP(2)
    {
        enum { MOST = 70000 }; /* more than SPILL_EVENTS */
        struct want *w = calloc(MOST, sizeof *w);
        size_t *ends = calloc(MOST, sizeof *ends);
        struct text t = random_doc(w, MOST, ends);
        import_write("import.in", t.s, t.n);
        struct tracedata mem, out, back;
        struct err e = {0};
        assert_ok(import_quietly("import.in", &mem, &e), &e);
        tracedata_init(&out);
        struct tracefile *f = tracefile_create("import.db", true, &e);
        out.spill = tracefile_append;
        out.spill_ctx = f;
        assert_ok(f && import_file("import.in", true, &out, &e) && tracefile_finish(f, &out, &e), &e);
        tracedata_init(&back);
        assert_ok(tracefile_load("import.db", &back, &e), &e);
        assert_int_equal(back.n, mem.n);
        assert_int_equal(back.t0, mem.t0);
        for (size_t i = 0; i < mem.n; i++) {
            check_event(&back, i, &w[i]);
            assert_int_equal(!back.ev[i].detail, !mem.ev[i].detail);
        }
        tracedata_free(&mem);
        tracedata_free(&out);
        tracedata_free(&back);
        free(t.s);
        free(w);
        free(ends);
    }
    unlink("import.in");
    unlink("import.db");
}

UNIT_MAIN(UNIT(random_events_come_back), UNIT(a_text_cut_anywhere_gives_what_is_whole), UNIT(streamed_to_a_file_equals_memory))
