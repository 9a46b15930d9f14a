/* test_texts.c - kept texts, and the ranges of threads. */
#include "recorder_run.h"

#include "collector/ranges.h"
#include "collector/text.h"

#include <pthread.h>

static void *keep_many(void *p)
{
    const char **kept = p;
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 5000; i++) {
            char s[32];
            snprintf(s, sizeof s, "text number %d", i);
            const char *k = text_keep(s);
            if (strcmp(k, s) != 0 || (kept[i] && kept[i] != k))
                return p;
            kept[i] = k;
        }
    return NULL;
}

TEST(equal_texts_are_kept_once)
{
    enum { N = 4 };
    static const char *kept[N][5000];
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, keep_many, kept[i]);
    for (int i = 0; i < N; i++) {
        void *wrong;
        pthread_join(t[i], &wrong);
        assert_null(wrong);
        assert_memory_equal(kept[i], kept[0], sizeof kept[0]);
    }
    assert_null(text_keep(NULL));
    assert_string_equal(text_keep_wide(L"a\u00e9\u20ac\U0001f600"), "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

/* Random pushes and pops of three owners on one thread, against a list that is searched from its end. */
TEST(ranges_nest_by_owner)
{
    static const char *const names[] = {"zero", "one", "two"};
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    int stack[500], n = 0, depth[3] = {0};
    size_t ended[3] = {0};
    PROP(400)
    {
        int owner = (int)rnd(3);
        if (rnd(5) < 3) {
            assert_int_equal(ranges_push(r, &names[owner], owner ? names[owner] : NULL, names[owner]), depth[owner]++);
            stack[n++] = owner;
            continue;
        }
        int i = n - 1;
        while (i >= 0 && stack[i] != owner)
            i--;
        assert_int_equal(ranges_pop(r, &names[owner]), i < 0 ? -1 : --depth[owner]);
        if (i >= 0) {
            memmove(&stack[i], &stack[i + 1], (size_t)(--n - i) * sizeof *stack);
            ended[owner]++;
        }
    }
    ranges_end(r);
    recorder_close(r);
    load(&d);
    for (size_t i = 0; i < d.n; i++)
        for (size_t k = 0; k < 3; k++)
            if (strcmp(intern_str(&d.strings, d.ev[i].name), names[k]) == 0) {
                ended[k]--;
                assert_string_equal(intern_str(&d.strings, ev_range_of(&d, &d.ev[i])->domain), k ? names[k] : "");
            }
    assert_int_equal((int)(ended[0] + ended[1] + ended[2]), -n); /* those that were open ended at the end */
    assert_true(n == 0 || strstr(tracedata_meta_get(&d, "degraded"), "still open at the end"));
    tracedata_free(&d);
    recorder_free(r);
}

UNIT_MAIN(UNIT(equal_texts_are_kept_once), UNIT(ranges_nest_by_owner))
