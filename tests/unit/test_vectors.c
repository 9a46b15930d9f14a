/* `cpbench vectors` on files written here: right ones pass in every row, a wrong number is noticed in the row it belongs to. */
#include "kernels/bench.h"
#include "kernels/ops/gemm.h"
#include "kernels/vectors/vectors.h"
#include "unit.h"

#include "gdn_oracle.h"
#include "layer_oracle.h"
#include <unistd.h>

static const struct column columns[] = {{"file"}, {"case"}, {"quantity"}, {"max_abs"}, {"rel_l2"}, {"limit"}, {"ok"}, {0}};

/* Text that grows. */
struct text {
    char *p;
    size_t n, cap;
};

static void put(struct text *t, const char *fmt, ...)
{
    va_list ap;
    if (t->n + 256 > t->cap)
        t->p = array_grow(t->p, &t->cap, t->n + 256, 1);
    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->p + t->n, 256, fmt, ap);
    va_end(ap);
}

/* "key":[numbers], flat: shapes are the reader's business. Element `wrong` of `wrong_key` is off by a thousandth. */
static const char *wrong_key;

static void put_reals(struct text *t, const char *key, const double *x, int64_t n)
{
    put(t, ",\"%s\":[", key);
    for (int64_t i = 0; i < n; i++)
        put(t, "%s%.17g", i ? "," : "", x[i] + (wrong_key && strcmp(key, wrong_key) == 0 && i == n - 1 ? 1e-3 * (1 + fabs(x[i])) : 0));
    put(t, "]");
}

static void put_cu(struct text *t, const int64_t *cu, int nseg)
{
    put(t, "{\"doc\":\"\",\"cases\":[{\"name\":\"one\",\"cu_seqlens\":[");
    for (int i = 0; i <= nseg; i++)
        put(t, "%s%lld", i ? "," : "", (long long)cu[i]);
    put(t, "]");
}

/* Rows that are not ok; -1: the form was not found or did not run. Only rows of `key` may be wrong. */
static int run_text(const char *text, const char *form, const char *key)
{
    struct err e = {0};
    struct table t;
    struct jtree *root = jtree_parse(text, "text", &e);
    int bad = -1;
    table_init(&t, "vectors", "", columns);
    for (const struct vector_form *const *f = vector_forms; root && *f; f++)
        if ((*f)->sniff(root)) {
            assert_string_equal((*f)->name, form);
            bad = (*f)->run(root, "text", &t, &e) ? 0 : -1;
            break;
        }
    for (size_t i = 0; bad >= 0 && i < t.nrows; i++) {
        struct cell *row = table_at(&t, i);
        bad += row[6].i != 1;
        if (row[6].i != 1 && !strstr(row[2].s, key))
            fail_msg("%s is not ok (max_abs %g)", row[2].s, row[3].r);
    }
    assert_true(bad < 0 || t.nrows > 5);
    if (bad < 0)
        print_message("# %s\n", e.msg);
    table_free(&t);
    jtree_free(root);
    return bad;
}

static void draw(double *x, int n, double low, double high)
{
    for (int i = 0; i < n; i++)
        x[i] = (double)(float)(low + (high - low) * (0.5 + 0.5 * rnd_real()));
}

/* ---- gdn_core ---- */

/* cu 0 5 9, HK 1, HV 2, dk 3, dv 2 */
static char *core_text(void)
{
    static const int64_t cu[] = {0, 5, 9};
    double q[27], k[27], v[36], g[18], beta[18], d_o[36], o[36], states[24], dq[27], dk[27], dv[36], dg[18], dbeta[18];
    struct text t = {0};
    unit_prop("core_text"); /* always the same numbers */
    draw(q, 27, -0.5, 0.5), draw(k, 27, -0.5, 0.5), draw(v, 36, -1, 1), draw(g, 18, -0.5, -0.01), draw(beta, 18, 0.1, 0.9), draw(d_o, 36, -1, 1);
    struct gdn_oracle a = {9, 1, 2, 3, 2, 1, cu, 0.5, q, k, v, g, beta, NULL, o, states, d_o, NULL, dq, dk, dv, dg, dbeta, NULL};
    gdn_oracle(&a);
    a.nseg = 2, a.h_out = states + 12;
    gdn_oracle(&a);
    put_cu(&t, cu, 2);
    put(&t, ",\"HK\":1,\"HV\":2,\"dk\":3,\"dv\":2,\"scale\":0.5");
    put_reals(&t, "q", q, 27), put_reals(&t, "k", k, 27), put_reals(&t, "v", v, 36), put_reals(&t, "g", g, 18), put_reals(&t, "beta", beta, 18);
    put_reals(&t, "d_out", d_o, 36), put_reals(&t, "out", o, 36), put_reals(&t, "final_state", states, 24), put_reals(&t, "dq", dq, 27);
    put_reals(&t, "dk_grad", dk, 27), put_reals(&t, "dv_grad", dv, 36), put_reals(&t, "dg", dg, 18), put_reals(&t, "dbeta", dbeta, 18);
    put(&t, "}]}");
    return t.p;
}

TEST(core_passes_and_notices)
{
    static const char *const wanted[] = {NULL, "out", "final_state", "dq", "dk_grad", "dv_grad", "dg", "dbeta"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        wrong_key = wanted[i];
        char *text = core_text();
        assert_int_equal(run_text(text, "gdn_core", i ? wanted[i] : "none"), i ? 3 : 0); /* at three chunk lengths */
        free(text);
    }
    wrong_key = NULL;
}

/* ---- gdn_layer ---- */

static struct layer_oracle layer;
static double layer_grad[8][ORACLE_MOST]; /* the parameters, then dx */

static void layer_make(void)
{
    static const int64_t cu[] = {0, 2, 7};
    static const double range[6][2] = {{-1, 1}, {-1, 1}, {-2, 0}, {-1, 1}, {0.5, 1.5}, {-1, 1}};
    int rows[6], cols[6];
    unit_prop("layer_make");
    layer = (struct layer_oracle){.T = 7, .hidden = 3, .HK = 1, .HV = 2, .dk = 3, .dv = 2, .W = 4, .nseg = 2, .cu = cu};
    oracle_sizes(&layer, rows, cols);
    draw(layer.x, 21, -1, 1), draw(layer.dy, 21, -1, 1);
    for (int i = 0; i < 7; i++) {
        double *p = i < 6 ? layer.p[i] : layer.x;
        int n = i < 6 ? rows[i] * cols[i] : 21;
        if (i < 6)
            draw(p, n, range[i][0], range[i][1]);
    }
    for (int i = 0; i < 7; i++) {
        double *p = i < 6 ? layer.p[i] : layer.x;
        for (int j = 0; j < (i < 6 ? rows[i] * cols[i] : 21); j++) {
            double old = p[j], h = 1e-5;
            p[j] = old + h;
            double up = layer_oracle(&layer);
            p[j] = old - h;
            layer_grad[i][j] = (up - layer_oracle(&layer)) / (2 * h);
            p[j] = old;
        }
    }
    layer_oracle(&layer);
}

static char *layer_text(const char *wrong_grad)
{
    static const char *const names[] = {"w_in", "w_conv", "A_log", "dt_bias", "w_norm", "w_out"};
    struct text t = {0};
    int rows[6], cols[6];
    const char *keep = wrong_key;
    oracle_sizes(&layer, rows, cols);
    put_cu(&t, layer.cu, 2);
    put(&t, ",\"hidden\":3,\"HK\":1,\"HV\":2,\"dk\":3,\"dv\":2,\"conv_width\":4,\"l2_eps\":1e-6,\"norm_eps\":1e-6");
    put_reals(&t, "x", layer.x, 21), put_reals(&t, "dy", layer.dy, 21), put_reals(&t, "out", layer.out, 21), put_reals(&t, "dx", layer_grad[6], 21);
    for (int grads = 0; grads < 2; grads++) {
        wrong_key = grads ? wrong_grad : NULL;
        put(&t, ",\"%s\":{\"\":0", grads ? "grads" : "params");
        for (int i = 0; i < 6; i++)
            put_reals(&t, names[i], grads ? layer_grad[i] : layer.p[i], rows[i] * cols[i]);
        put(&t, "}");
    }
    wrong_key = keep;
    put(&t, "}]}");
    return t.p;
}

TEST(layer_passes_and_notices)
{
    static const char *const grads[] = {"w_in", "w_conv", "A_log", "dt_bias", "w_norm", "w_out"};
    layer_make();
    char *text = layer_text(NULL);
    assert_int_equal(run_text(text, "gdn_layer", "none"), 0);
    free(text);
    for (int i = 0; i < 6; i++) {
        text = layer_text(grads[i]);
        assert_true(run_text(text, "gdn_layer", grads[i]) > 0);
        free(text);
    }
    for (int i = 0; i < 2; i++) {
        wrong_key = i ? "dx" : "out";
        text = layer_text(NULL);
        assert_true(run_text(text, "gdn_layer", wrong_key) > 0);
        free(text);
    }
    wrong_key = NULL;
}

/* ---- what is not of a form ---- */

TEST(other_texts_are_refused)
{
    static const char *const texts[] = {"", "{", "[1,2", "{\"a\":1}x", "nul"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err e = {0};
        assert_null(jtree_parse(texts[i], "t", &e));
        assert_true(e.kind == ERR_FAIL && strncmp(e.msg, "t: not JSON", 11) == 0 && !strchr(e.msg, '\n'));
    }
    struct err e = {0};
    char deep[1000];
    memset(deep, '[', sizeof deep);
    deep[999] = 0;
    assert_null(jtree_parse(deep, "t", &e));
    assert_non_null(strstr(e.msg, "deeper"));
    assert_int_equal(run_text("{\"something\":[1,2]}", "none", ""), -1);
}

/* A file of a form in which something is missing or of another size. */
TEST(damaged_cases_are_refused)
{
    static const char *const cuts[] = {"\"HK\":1", "\"dq\":[", "\"scale\":0.5", "\"cu_seqlens\":[0,5", "\"beta\":[", "\"dv\":2", "\"name\""};
    static const char *const into[] = {"\"HK\":3", "\"dq\":[1,", "\"scale\":\"\"", "\"cu_seqlens\":[1,5", "\"beta\":[{},", "\"dv\":0", "\"nome\""};
    char *text = core_text();
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct text t = {0};
        char *at = strstr(text, cuts[i]);
        assert_non_null(at);
        t.p = malloc(strlen(text) + 64);
        sprintf(t.p, "%.*s%s%s", (int)(at - text), text, into[i], at + strlen(cuts[i]));
        assert_int_equal(run_text(t.p, "gdn_core", ""), -1);
        free(t.p);
    }
    free(text);
}

/* ---- the reader and the comparison ---- */

TEST(trees_are_read)
{
    struct err e = {0};
    struct jtree *t =
        jtree_parse("{\"a\":[[1,2],[3.5]],\"n\":null,\"t\":true,\"s\":\"x\",\"big\":1e400,\"i\":9007199254740993,\"m\":[1,\"x\"]}", "t", &e);
    double x[3], r;
    int64_t i;
    bool b;
    assert_non_null(t);
    assert_int_equal(jtree_count(jtree_get(t, "a")), 3);
    assert_true(jtree_reals(jtree_get(t, "a"), x) && x[0] == 1 && x[1] == 2 && x[2] == 3.5);
    assert_int_equal(jtree_count(jtree_get(t, "m")), -1);
    assert_true(jtree_is_null(jtree_get(t, "n")) && jtree_bool(jtree_get(t, "t"), &b) && b);
    assert_true(jtree_int(jtree_get(t, "i"), &i) && i == 9007199254740993);
    assert_false(jtree_int(jtree_get(t, "a"), &i));
    assert_false(jtree_real(jtree_get(t, "big"), &r));
    assert_string_equal(jtree_text(jtree_get(t, "s")), "x");
    assert_null(jtree_get(t, "nothing"));
    assert_null(jtree_at(jtree_get(t, "a"), 2));
    assert_string_equal(jtree_key(t, 1), "n");
    jtree_free(t);
}

static bool ok_of(const float *got, const double *want, size_t n)
{
    struct table t;
    table_init(&t, "vectors", "", columns);
    vec_compare_f32(&(struct vec_out){&t, "f", "c"}, "q", got, want, n);
    bool ok = table_at(&t, 0)[6].i == 1;
    table_free(&t);
    return ok;
}

TEST(comparison_is_strict)
{
    const double want[] = {1, -2, 0.5}, zero[] = {0, 0, 0};
    assert_true(ok_of((float[]){1, -2, 0.5f}, want, 3));
    assert_true(ok_of((float[]){1.00001f, -2, 0.5f}, want, 3));
    assert_false(ok_of((float[]){1.0001f, -2, 0.5f}, want, 3));
    assert_false(ok_of((float[]){1, -2, NAN}, want, 3));
    assert_true(ok_of((float[]){0, 0, 1e-6f}, zero, 3));
    assert_false(ok_of((float[]){0, 0, 1e-4f}, zero, 3));
}

/* ---- the reference files, where they are ---- */

TEST(reference_files)
{
    static const char *const names[] = {"gdn_core", "gdn_cp", "gdn_layer", "conv_halo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        struct err e = {0};
        struct table t;
        snprintf(path, sizeof path, "%s/../shared/vectors/%s.json", TEST_ROOT, names[i]);
        if (access(path, R_OK) != 0)
            skip_because("the reference vectors are not beside this checkout");
        struct jtree *root = jtree_load(path, &e);
        assert_ok(root != NULL, &e);
        table_init(&t, "vectors", "", columns);
        for (const struct vector_form *const *f = vector_forms; *f; f++)
            if (strcmp((*f)->name, names[i]) == 0)
                assert_ok((*f)->sniff(root) && (*f)->run(root, names[i], &t, &e), &e);
        assert_true(t.nrows > 10);
        for (size_t r = 0; r < t.nrows; r++)
            if (table_at(&t, r)[6].i != 1)
                fail_msg("%s %s %s: off by %g", names[i], table_at(&t, r)[1].s, table_at(&t, r)[2].s, table_at(&t, r)[3].r);
        table_free(&t);
        jtree_free(root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(core_passes_and_notices), UNIT(layer_passes_and_notices), UNIT(other_texts_are_refused), UNIT(damaged_cases_are_refused),
        UNIT(trees_are_read),          UNIT(comparison_is_strict),     UNIT(reference_files)};
    gemm_init();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
