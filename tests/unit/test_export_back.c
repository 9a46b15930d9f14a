/* Exports that are imported again: the rows come back, whatever their names are. */
#include "export_random.h"
#include "analyzer/nest.h"
#include "nsight_queries.h"

#include <glob.h>
#include <sys/stat.h>

/* What a format keeps by convention only is written the same way for both sides: the names of copies, static and dynamic
 * shared memory (Kineto has their sum), the number of a wait's stream where the row has one. */
static const char *detail_text(const struct trace_file *f, const struct event *ev, struct arena *a)
{
    const struct ev_sync *s = ev_sync_of(&f->d, ev);
    const struct ev_kernel *k = ev_kernel_of(&f->d, ev);
    const struct ev_comm *c = ev_comm_of(&f->d, ev);
    const struct ev_copy *m = ev_copy_of(&f->d, ev);
    const struct ev_range *r = ev_range_of(&f->d, ev);
    if (s && ev->kind == EV_RUNTIME)
        return arena_printf(a, "sync %d %d %lld %lld", s->class, s->did_block, (long long)s->wait_stream, (long long)s->wait_event);
    if (ev->kind == EV_SYNC)
        return arena_printf(a, "wait %d %lld", s ? s->class : 0, s ? (long long)s->wait_event : -1);
    if (k)
        return arena_printf(a, "%d %d %d %d %d %lld", k->grid[0], k->grid[2], k->block[0], k->registers, k->static_shared + k->dynamic_shared,
                            (long long)k->graph);
    if (c) {
        const char *dtype = clean(f, c->dtype, a);
        return arena_printf(a, "%s %s %s %d %d %lld %lld", clean(f, c->communicator, a), clean(f, c->function, a),
                            strcmp(dtype, "Byte") == 0 ? "" : dtype, c->peer, c->group_size, (long long)c->sequence, (long long)c->message_bytes);
    }
    if (m && (m->kind || m->src || m->dst))
        return arena_printf(a, "%d %d %d", m->kind, m->src, m->dst);
    if (r && (r->domain || r->flavour))
        return arena_printf(a, "%s %d", clean(f, r->domain, a), r->flavour);
    return ev->kind == EV_KERNEL ? "0 0 0 0 0 0" : "";
}

/* Of a wait without a stream of its own: the one waited for, which is in the same column there. */
static int64_t stream_of(const struct tracedata *d, const struct event *ev)
{
    const struct ev_sync *s = ev->kind == EV_SYNC ? ev_sync_of(d, ev) : NULL;
    return ev->stream ? d->streams[ev->stream].native : s ? s->wait_stream : -1;
}

/* A thread number that 24 bits do not hold gets one of the last ones there. */
static long long thread_of(const struct tracedata *d, const struct event *ev)
{
    int64_t tid = d->threads[ev->thread].tid;
    return tid < 0 || tid > (1 << 24) - 1000 ? -1 : tid;
}

static const char *row_text(struct export_job *x, uint32_t row, struct arena *a)
{
    const struct export_file *f = &x->files[0];
    const struct tracedata *d = &f->f->d;
    const struct event *ev = &d->ev[row];
    const struct sitekey *s = &d->sites[ev->site];
    bool host = ev_kind_class((enum ev_kind)ev->kind) == EV_HOST, copy = ev->kind == EV_MEMCPY || ev->kind == EV_MEMSET;
    const struct event *from = f->launched[row] ? &d->ev[f->launched[row] - 1] : NULL;
    return arena_printf(a, "%s|%s|%lld+%lld|rank %d|%s %lld %lld|from %s|%lld bytes|%s %s %d|%s", ev_kind_name((enum ev_kind)ev->kind),
                        copy ? "" : clean(f->f, ev->name, a), (long long)(ev->start - x->first), (long long)(ev->end - ev->start),
                        trace_event_rank(d, ev), host ? "host" : "device", host ? (long long)f->pid[export_process(d, ev)] : export_device(x, 0, ev),
                        host ? thread_of(d, ev) : (long long)stream_of(d, ev), from ? clean(f->f, from->name, a) : "", (long long)ev->bytes,
                        clean(f->f, s->function, a), clean(f->f, s->file, a), s->line, detail_text(f->f, ev, a));
}

static int by_text(const void *p, const void *q)
{
    return strcmp(*(const char *const *)p, *(const char *const *)q);
}

static size_t all_rows(struct export_job *x, const char ***lines, unsigned skip, struct arena *a)
{
    size_t n = 0;
    *lines = arena_array(a, const char *, x->files[0].n + 1);
    for (size_t i = 0; i < x->files[0].n; i++)
        if (!(skip >> x->files[0].f->d.ev[x->files[0].rows[i]].kind & 1))
            (*lines)[n++] = row_text(x, x->files[0].rows[i], a);
    qsort(*lines, n, sizeof **lines, by_text);
    return n;
}

/* Exports the trace at `path` and compares it with what comes back. */
static void there_and_back(const char *path, const char *to, unsigned skip)
{
    struct trace t, back;
    struct export_job x, y;
    struct err e = {0};
    struct arena a = {0};
    const char **was, **is;
    open_job(path, NULL, &t, &x);
    assert_ok(exporter_named(to)->write(&x, "back.tmp", &e), &e);
    open_job("back.tmp", NULL, &back, &y);
    size_t n = all_rows(&x, &was, skip, &a), m = all_rows(&y, &is, skip, &a);
    for (size_t i = 0; i < n && i < m; i++)
        if (strcmp(was[i], is[i]) != 0)
            fail_msg("%s: %s\n  was %s\n  is  %s", path, to, was[i], is[i]);
    assert_int_equal(n, m);
    assert_true(n > 0);
    assert_int_equal(back.files[0].d.nloss, 0); /* what is written needs no repair */
    const char *backend = back.files[0].backend;
    assert_string_equal(backend ? backend : "", t.files[0].backend ? t.files[0].backend : "");
    close_job(&back, &y);
    close_job(&t, &x);
    arena_free(&a);
    unlink("back.tmp");
}

static void random_there_and_back(const char *to, unsigned kinds, unsigned skip)
{
    struct maker m = maker("export");
    random_rows(&m, 1 + rnd(60), kinds);
    tracedata_meta(&m.d, "backend", rnd(2) ? "sim" : "cuda");
    make_file(&m);
    there_and_back(m.path, to, skip);
    unlink(m.path);
}

enum { EVERY_KIND = (1u << EV_NKINDS) - 1 };

TEST(random_traces_come_back_from_chrome)
{
    PROP(300)
    {
        random_there_and_back("chrome", EVERY_KIND, 0);
    }
}

/* A call that waits has a row of its own in SYNCHRONIZATION there, so those rows are compared where calls are none. */
TEST(random_traces_come_back_from_nsys)
{
    PROP(150)
    {
        random_there_and_back("nsys", EVERY_KIND, 1u << EV_SYNC);
        random_there_and_back("nsys", EVERY_KIND & ~(1u << EV_RUNTIME), 0);
    }
}

TEST(shared_traces_come_back)
{
    static const char *const patterns[] = {"kineto/*.json*", "kineto/dlrm8/*", "nsys/*.sqlite", "rocpd/*", "rocprofv3/*", "ascend/*.gz"};
    size_t files = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char path[1024];
        glob_t g;
        snprintf(path, sizeof path, "%s/../shared/traces/%s", TEST_ROOT, patterns[i]);
        if (glob(path, 0, NULL, &g) != 0)
            continue;
        for (size_t k = 0; k < g.gl_pathc; k++) {
            struct stat st;
            if (stat(g.gl_pathv[k], &st) != 0 || (st.st_size > 1000000 && !getenv("LONG")))
                continue;
            files++;
            there_and_back(g.gl_pathv[k], "chrome", 0);
            there_and_back(g.gl_pathv[k], "nsys", 0);
        }
        globfree(&g);
    }
    if (!files)
        skip_because("the shared traces are not beside this checkout");
}

TEST(queries_on_the_exported_tables)
{
    char path[64];
    struct trace t;
    struct export_job x;
    struct err e = {0};
    snprintf(path, sizeof path, "queries-%d.sqlite", (int)getpid());
    fill();
    struct tracefile *f = tracefile_create(path, true, &e);
    assert_ok(f && tracefile_finish(f, &made, &e), &e);
    tracedata_free(&made);
    open_job(path, NULL, &t, &x);
    assert_ok(exporter_named("nsys")->write(&x, "queries.tmp", &e), &e);
    ask_all("queries.tmp");
    close_job(&t, &x);
    unlink(path);
    unlink("queries.tmp");
}

UNIT_MAIN(UNIT(random_traces_come_back_from_chrome), UNIT(random_traces_come_back_from_nsys), UNIT(queries_on_the_exported_tables),
          UNIT(shared_traces_come_back))
