/* test_recorder_rings.c - ring files that processes left: merged once, cut, damaged. */
#include "forks.h"
#include "recorder_left.h"

#include "schemas/ringfile.h"

#include <sys/stat.h>
#include <sys/wait.h>

/* The ring file of a process that has reported `n` events a worker and is gone, in *size bytes. */
static char *a_ring(int64_t n, size_t *size)
{
    char ring[100];
    struct stat st;
    start_over();
    pid_t child = fork();
    if (child == 0)
        be_killed(n, 0, exit_at_once);
    waitpid(child, NULL, 0);
    snprintf(ring, sizeof ring, "%s-ring", left);
    FILE *f = fopen(ring, "rb");
    assert_int_equal(fstat(fileno(f), &st), 0);
    char *bytes = malloc((size_t)st.st_size);
    *size = fread(bytes, 1, (size_t)st.st_size, f);
    fclose(f);
    return bytes;
}

static void put_ring(const char *bytes, size_t size)
{
    char ring[100];
    snprintf(ring, sizeof ring, "%s-ring", left);
    FILE *f = fopen(ring, "wb");
    fwrite(bytes, 1, size, f);
    fclose(f);
}

/* A ring that was merged is not merged again, nor is one of another recording. */
TEST(a_ring_is_merged_once)
{
    needs_threads_in_children();
    size_t size;
    struct err e = {0};
    bool done;
    char *bytes = a_ring(500, &size);
    assert_ok(tracefile_recover(left, &done, &e), &e);
    assert_true(done);
    put_ring(bytes, size);
    check_left("after");
    char *other = a_ring(300, &size);
    assert_ok(tracefile_recover(left, &done, &e), &e);
    put_ring(bytes, size);
    check_left("after");
    free(bytes);
    free(other);
}

/* Copied while it was being written, or by a disk that was full: what is left comes, and that some is missing is said. */
TEST(a_ring_that_was_cut_gives_what_is_left)
{
    needs_threads_in_children();
    enum { CUTS = 24 };
    size_t size, before = 0;
    struct err e = {0};
    bool done;
    char *good = a_ring(60, &size);
    for (size_t i = 0; i <= CUTS; i++) {
        struct tracedata d;
        size_t n = sizeof(struct ring_head) + (size - sizeof(struct ring_head)) * i / CUTS;
        start_over();
        fclose(fopen(left, "w"));
        put_ring(good, n);
        assert_ok(recover_merge(left, &done, &e), &e);
        assert_true(done);
        tracedata_init(&d);
        assert_ok(tracefile_load(left, &d, &e), &e);
        assert_true(d.n >= before);
        assert_int_equal(d.nloss > 0, n % CHUNK_BYTES != 0);
        before = d.n;
        tracedata_free(&d);
    }
    assert_true(before > 0);
    start_over();
    free(good);
}

/* Bytes that are not as they were: an error or a trace, and nothing is read that is not there. */
TEST(a_damaged_ring_harms_nobody)
{
    needs_threads_in_children();
    size_t size;
    struct err e = {0};
    bool done;
    char *good = a_ring(60, &size), *bad = malloc(size);
    PROP(150)
    {
        memcpy(bad, good, size);
        for (uint64_t i = 1 + rnd(40); i > 0; i--) {
            size_t chunk = (rnd(6) + (rnd(4) != 0)) << 16, at = chunk + rnd(rnd(2) ? 64 : 12000);
            if (at < size)
                bad[at] = (char)(rnd(2) ? rnd(256) : (uint64_t)bad[at] ^ UINT64_C(1) << rnd(8));
        }
        start_over();
        fclose(fopen(left, "w"));
        put_ring(bad, rnd(4) ? size : rnd(size));
        e = (struct err){0};
        if (recover_merge(left, &done, &e) && done) {
            struct tracedata d;
            tracedata_init(&d);
            if (!tracefile_load(left, &d, &e))
                fail_msg("merged, and cannot be read: %s", e.msg);
            tracedata_free(&d);
        }
    }
    start_over();
    free(good);
    free(bad);
}

UNIT_MAIN(UNIT(a_ring_is_merged_once), UNIT(a_ring_that_was_cut_gives_what_is_left), UNIT(a_damaged_ring_harms_nobody))
