/* Text exports: csv and folded stacks with hostile names; what a selection leaves; one number a device. */
#include "export_random.h"

static char *slurp(const char *path)
{
    static char buf[1 << 20];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(buf, 1, sizeof buf - 1, f);
    fclose(f);
    unlink(path);
    assert_true(n < sizeof buf - 1 && strlen((buf[n] = '\0', buf)) == n);
    return buf;
}

static char *export_text(struct export_job *x, const char *to)
{
    struct err e = {0};
    assert_ok(exporter_named(to)->write(x, "text.tmp", &e), &e);
    return slurp("text.tmp");
}

/* One field of RFC 4180 into out; the byte behind it. */
static const char *csv_field(const char *p, char *out)
{
    if (*p != '"') {
        while (*p && *p != ',' && *p != '\n')
            *out++ = *p++;
        *out = '\0';
        return p;
    }
    for (p++; *p != '"' || p[1] == '"'; p++) {
        assert_true(*p != '\0');
        p += *p == '"';
        *out++ = *p;
    }
    *out = '\0';
    return p + 1;
}

TEST(csv_gives_every_name_back)
{
    PROP(200)
    {
        struct maker m = maker("csv");
        struct trace t;
        struct export_job x;
        struct arena a = {0};
        random_rows(&m, 1 + rnd(40), (1u << EV_NKINDS) - 1);
        make_file(&m);
        open_job(m.path, NULL, &t, &x);
        const char *p = strchr(export_text(&x, "csv"), '\n') + 1;
        const struct export_file *f = &x.files[0];
        for (size_t i = 0; i < f->n; i++) {
            const struct event *ev = &f->f->d.ev[f->rows[i]];
            char field[512];
            int columns = 1;
            for (;; columns++, p++) {
                p = csv_field(p, field);
                if (columns == 2)
                    assert_int_equal(strtoll(field, NULL, 10), ev->end);
                if (columns == 5)
                    assert_string_equal(field, clean(f->f, ev->name, &a));
                if (*p != ',')
                    break;
            }
            assert_int_equal(columns, 40);
            assert_int_equal(*p++, '\n');
        }
        assert_int_equal(*p, '\0');
        close_job(&t, &x);
        arena_free(&a);
        unlink(m.path);
    }
}

/* Rows one inside the other, at random: from `start` to at most `end`. */
static void random_nest(struct maker *m, int64_t tid, int64_t start, int64_t end, int depth)
{
    char name[16];
    while (depth < 5 && start < end) {
        int64_t length = (int64_t)rnd((uint64_t)(end - start) + 1);
        hostile(name, sizeof name);
        make_host(m, rnd(2) ? EV_OP : EV_FRAME, name, tid, start, start + length);
        random_nest(m, tid, start + (int64_t)rnd((uint64_t)length + 1), start + length, depth + 1);
        start += length + (int64_t)rnd(30);
    }
}

/* All ns of the stacks together are those in which a thread was in any row; each line is a stack and a number. */
TEST(folded_charges_every_ns_once)
{
    PROP(200)
    {
        struct maker m = maker("folded");
        struct trace t;
        struct export_job x;
        int64_t want = 0, got = 0;
        make_host(&m, EV_OP, "first", 1, 0, 1);
        for (int64_t tid = 1; tid <= 3; tid++)
            random_nest(&m, tid, 5, 300, 0);
        make_file(&m);
        open_job(m.path, NULL, &t, &x);
        const struct tracedata *d = &x.files[0].f->d;
        for (size_t th = 1; th < d->nthreads; th++) {
            bool busy[512] = {0};
            for (size_t i = 0; i < d->n; i++)
                for (int64_t ns = d->ev[i].start; d->ev[i].thread == th && ns < d->ev[i].end; ns++)
                    busy[ns] = true;
            for (size_t ns = 0; ns < 512; ns++)
                want += busy[ns];
        }
        for (char *line = strtok(export_text(&x, "folded"), "\n"); line; line = strtok(NULL, "\n")) {
            char *last = strrchr(line, ' '), *end;
            assert_non_null(last);
            got += strtoll(last + 1, &end, 10);
            assert_true(*end == '\0' && end > last + 1);
            for (const unsigned char *p = (const unsigned char *)line; *p; p++)
                assert_true(*p >= 0x20 && *p != 0x7f);
        }
        if (want != got)
            fail_msg("stacks add up to %lld, threads are busy for %lld", (long long)got, (long long)want);
        close_job(&t, &x);
        unlink(m.path);
    }
}

static const char *folded_of(struct maker *m, const struct trace_opts *o)
{
    struct trace t;
    struct export_job x;
    make_file(m);
    open_job(m->path, o, &t, &x);
    const char *s = export_text(&x, "folded");
    close_job(&t, &x);
    unlink(m->path);
    return s;
}

TEST(stacks_by_hand)
{
    struct maker m = maker("hand");
    make_host(&m, EV_RANGE, "step", 1, 0, 100);
    make_host(&m, EV_RANGE, "lay;er", 1, 10, 60);
    make_call(&m, "cudaLaunchKernel", 1, 20, 30, 1);
    make_host(&m, EV_FRAME, "outlasts\n", 1, 50, 70); /* cut at 60, where lay;er ends */
    make_host(&m, EV_RANGE, "step", 2, 5, 10);
    assert_string_equal(folded_of(&m, NULL), "step 55\nstep;lay:er 30\nstep;lay:er;cudaLaunchKernel 10\nstep;lay:er;outlasts  10\n");
}

TEST(a_selection_leaves_whole_rows)
{
    struct maker m = maker("select");
    struct trace_opts o = TRACE_OPTS_NONE;
    o.step = "1";
    make_host(&m, EV_RANGE, "step#0", 1, 0, 100);
    make_host(&m, EV_RANGE, "step#1", 1, 100, 200);
    make_host(&m, EV_OP, "in", 1, 110, 120);
    make_host(&m, EV_OP, "before", 1, 90, 100);
    assert_string_equal(folded_of(&m, &o), "step#1 90\nstep#1;in 10\n");
}

/* Ranks that all call their device 0; a rank's second device; ranks with devices of their own. */
TEST(one_number_a_device)
{
    static const struct {
        int rank, device, number;
    } cases[][3] = {
        {{0, 0, 0}, {1, 0, 1}, {2, 0, 2}}, {{0, 0, 0}, {0, 1, 1}, {1, 0, 2}}, {{0, 4, 4}, {1, 5, 5}, {1, 6, 6}}, {{3, 1, 3}, {5, 1, 5}, {7, 1, 7}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct maker m = maker("numbers");
        struct trace t;
        struct export_job x;
        for (int i = 0; i < 3; i++) {
            m.rank = cases[c][i].rank;
            make_work(&m, EV_KERNEL, "k", cases[c][i].device, 7, 10 * i, 10 * i + 5, -1);
        }
        make_file(&m);
        open_job(m.path, NULL, &t, &x);
        for (int i = 0; i < 3; i++)
            assert_int_equal(export_device(&x, 0, &t.files[0].d.ev[i]), cases[c][i].number);
        close_job(&t, &x);
        unlink(m.path);
    }
}

TEST(devices_of_a_model_are_called_simulated)
{
    static const char *const formats[] = {"chrome", "perfetto"};
    for (size_t i = 0; i < 2; i++) {
        struct maker m = maker("sim");
        struct trace t;
        struct export_job x;
        struct err e = {0};
        char buf[4096];
        tracedata_meta(&m.d, "backend", "sim");
        make_work(&m, EV_KERNEL, "k", 0, 7, 10, 15, -1);
        make_file(&m);
        open_job(m.path, NULL, &t, &x);
        assert_ok(exporter_named(formats[i])->write(&x, "sim.tmp", &e), &e);
        FILE *f = fopen("sim.tmp", "rb");
        size_t n = fread(buf, 1, sizeof buf, f);
        fclose(f);
        assert_non_null(memmem(buf, n, "SIMULATED device 0", 18));
        close_job(&t, &x);
        unlink(m.path);
        unlink("sim.tmp");
    }
}

UNIT_MAIN(UNIT(csv_gives_every_name_back), UNIT(folded_charges_every_ns_once), UNIT(stacks_by_hand), UNIT(a_selection_leaves_whole_rows),
          UNIT(one_number_a_device), UNIT(devices_of_a_model_are_called_simulated))
