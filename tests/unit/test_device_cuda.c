/* Modules of the cuda device, the real one and that of the stand-in: each has what the tree's kernels need; and the stand-in's
 * host side does what it should: the ring of pinned memory, sums, points. Sizes of blocks against a plain list. */
#include "unit.h"

#include "kernels/device/blocks.h"
#include "kernels/device/cuda_module.h"
#include "schemas/clock.h"
#include "schemas/version.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL TEST_BUILD "/lib/cpscope/device_cuda.so"
#define STANDIN TEST_BUILD "/standin/lib/cpscope/device_cuda.so"

/* The module, or the test is skipped: a build with a sanitizer has none, one without a toolkit no real one. */
static const struct cuda_module *module(const char *path)
{
    if (access(path, R_OK) != 0)
        skip_because("%s is not in this build", path + strlen(TEST_BUILD) + 1);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        fail_msg("%s", dlerror());
    const struct cuda_module *m = dlsym(so, CUDA_MODULE_SYMBOL);
    assert_non_null(m);
    assert_string_equal(m->version, CPSCOPE_VERSION);
    return m;
}

static void has_every_kernel(const char *path)
{
    const struct cuda_module *m = module(path);
    FILE *f = fopen(TEST_BUILD "/gen/kernel_names", "r");
    char name[128], missing[4096] = "";
    int names = 0, lacking = 0;
    assert_non_null(f);
    while (fgets(name, sizeof name, f)) {
        name[strcspn(name, "\n")] = 0;
        names++;
        if (m->find(name))
            continue;
        lacking++;
        snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s", name);
    }
    fclose(f);
    assert_true(names > 60);
    assert_null(m->find("no_such_kernel"));
    if (lacking)
        fail_msg("%d of %d kernels have no CUDA launcher:%s", lacking, names, missing);
}

TEST(compiled_module_has_every_kernel)
{
    has_every_kernel(REAL);
}

TEST(standin_has_every_kernel)
{
    has_every_kernel(STANDIN);
}

struct fixture {
    const struct cuda_module *m;
    struct cuda_gpu *gpu;
    struct cuda_lane *lane;
};

static struct fixture standin(void)
{
    struct fixture f = {.m = module(STANDIN)};
    int devices = 0;
    const char *what = NULL;
    assert_null(f.m->start(&devices, &what));
    assert_int_equal(devices, 1);
    assert_non_null(strstr(what, "not a GPU"));
    assert_null(f.m->open(0, &f.gpu));
    assert_null(f.m->lane_open(f.gpu, &f.lane));
    return f;
}

static void done(struct fixture *f)
{
    assert_null(f->m->wait(f->lane));
    f->m->lane_close(f->lane);
    f->m->close(f->gpu);
}

/* Sizes around a segment of the ring and well over all of it; many small ones, so that the ring turns. */
TEST(what_goes_up_comes_down)
{
    static const size_t sizes[] = {1, 63, 64, 65, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20, (9 << 20) + 5};
    struct fixture f = standin();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 3; i++) {
        size_t n = sizes[i % (sizeof sizes / sizeof *sizes)];
        unsigned char *host = malloc(n), *back = calloc(1, n), *device = f.m->alloc(f.gpu, n);
        assert_true(host && back && device);
        for (size_t k = 0; k < n; k++)
            host[k] = (unsigned char)(k * 31 + i);
        assert_null(f.m->upload(f.lane, device, host, n));
        assert_null(f.m->download(f.lane, back, device, n));
        assert_null(f.m->wait(f.lane));
        assert_memory_equal(host, back, n);
        assert_null(f.m->release(f.gpu, device));
        free(host);
        free(back);
    }
    done(&f);
}

TEST(sums_are_in_order_of_the_parts)
{
    struct fixture f = standin();
    PROP(50)
    {
        enum { PARTS = 5, N = 300 };
        int parts = 1 + (int)rnd(PARTS), n = 1 + (int)rnd(N);
        float host[PARTS][N], got[N];
        float *device[PARTS];
        for (int r = 0; r < parts; r++) {
            for (int i = 0; i < n; i++)
                host[r][i] = (float)rnd(1000000) * 1e-3f;
            device[r] = f.m->alloc(f.gpu, sizeof host[r]);
            assert_null(f.m->upload(f.lane, device[r], host[r], sizeof host[r]));
        }
        assert_null(f.m->add(f.lane, false, device[0], (const void *const *)device, parts, n));
        assert_null(f.m->download(f.lane, got, device[0], (size_t)n * sizeof *got));
        assert_null(f.m->wait(f.lane));
        for (int i = 0; i < n; i++) {
            float want = host[0][i];
            for (int r = 1; r < parts; r++)
                want += host[r][i];
            assert_true(got[i] == want);
        }
        for (int r = 0; r < parts; r++)
            assert_null(f.m->release(f.gpu, device[r]));
    }
    done(&f);
}

TEST(points_tell_the_time)
{
    struct fixture f = standin();
    struct cuda_point *p = NULL;
    assert_null(f.m->point_open(f.gpu, &p));
    int64_t before = clock_now();
    assert_null(f.m->record(f.lane, p));
    int64_t after = clock_now(), slack = 100000; /* a float of milliseconds */
    assert_true(f.m->reached(p));
    assert_null(f.m->join(p));
    assert_true(f.m->time(p) >= before - slack && f.m->time(p) <= after + slack);
    f.m->point_close(p);
    done(&f);
}

TEST(sizes_of_blocks)
{
    PROP(20)
    {
        enum { MOST = 700 };
        struct blocks b = {0};
        size_t size[MOST] = {0}, address[MOST] = {0};
        for (int i = 0; i < 5000; i++) {
            size_t k = rnd(MOST);
            if (address[k]) {
                assert_int_equal(blocks_take(&b, (void *)address[k]), size[k]);
                address[k] = 0;
            } else {
                address[k] = (k + 1) * 256; /* neighbours share homes often enough */
                size[k] = rnd(1 << 30);
                assert_true(blocks_add(&b, (void *)address[k], size[k]));
            }
        }
        blocks_free(&b);
    }
}

UNIT_MAIN(UNIT(compiled_module_has_every_kernel), UNIT(standin_has_every_kernel), UNIT(what_goes_up_comes_down), UNIT(sums_are_in_order_of_the_parts),
          UNIT(points_tell_the_time), UNIT(sizes_of_blocks))
