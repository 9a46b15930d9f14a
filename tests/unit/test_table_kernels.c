/* test_table_kernels.c - names, short names, classes, ranges of the launch. */
#include "analyzer/classes.h"
#include "analyzer/kernels.h"
#include "analyzer/shortname.h"
#include "trace_maker.h"

TEST(classes_by_name)
{
    static const struct {
        const char *name;
        enum kclass class;
    } cases[] = {
        {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", KCLASS_COMM},
        {"NCCLKERNEL_ALLREDUCE", KCLASS_COMM},
        {"rccl_main_kernel", KCLASS_COMM},
        {"all-reduce-start.2", KCLASS_COMM},
        {"collective-permute.1", KCLASS_COMM},
        {"fusion.all-reduce", KCLASS_OTHER},
        {"hcclAllReduce", KCLASS_COMM},
        {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3>(float*)", KCLASS_CONCAT},
        {"ampere_sgemm_128x64_tn", KCLASS_GEMM},
        {"nvjet_hsh_192x192_64x4_2x1_v_bz_coopB_NNT", KCLASS_GEMM},
        {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm>(P)", KCLASS_GEMM},
        {"void pytorch_flash::flash_fwd_kernel<T>(P)", KCLASS_ATTENTION},
        {"cunn_SoftMaxForward", KCLASS_OTHER},
        {"gdn_scan_bwd", KCLASS_SCAN},
        {"gdn_summary_merge", KCLASS_SCAN},
        {"conv1d_fwd", KCLASS_CONV},
        {"volta_scudnn_winograd_128x128", KCLASS_CONV},
        {"norm_fwd", KCLASS_NORM},
        {"l2norm_bwd", KCLASS_NORM},
        {"index_argsort", KCLASS_INDEX},
        {"nonzero_count", KCLASS_INDEX},
        {"pack_rows", KCLASS_INDEX},
        {"rows_gather", KCLASS_INDEX},
        {"rows_concat", KCLASS_CONCAT},
        {"elementwise_add", KCLASS_ELEMENTWISE},
        {"void at::native::vectorized_elementwise_kernel<4, F>(int)", KCLASS_ELEMENTWISE},
        {"void at::native::index_elementwise_kernel<128, 4>(long)", KCLASS_INDEX},
        {"triton_poi_fused_add_3", KCLASS_ELEMENTWISE},
        {"something_else", KCLASS_OTHER},
        {"", KCLASS_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (kclass_of(NULL, cases[i].name) != cases[i].class)
            fail_msg("%s: %s", cases[i].name, kclass_name(kclass_of(NULL, cases[i].name)));
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST(patterns_come_before_the_built_in_rules)
{
    char path[] = "/tmp/cpscope-patterns-XXXXXX";
    struct err e = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, "# ours\ncomm ^deep_ep\n\n  scan  sgemm$\n");
    struct patterns *p = patterns_open(path, NULL, &e);
    assert_non_null(p);
    assert_int_equal(kclass_of(p, "deep_ep_dispatch"), KCLASS_COMM);
    assert_int_equal(kclass_of(p, "sgemm"), KCLASS_SCAN);
    assert_int_equal(kclass_of(p, "sgemm_nt"), KCLASS_GEMM);
    patterns_close(p);
    static const char *const bad[] = {"comm ^a\ncom b\n", "comm\n", "comm (\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err why = {0};
        write_file(path, bad[i]);
        assert_null(patterns_open(path, NULL, &why));
        assert_int_equal(why.kind, ERR_USAGE);
        assert_non_null(strstr(why.msg, i ? ":1:" : ":2: com: no such kernel class; did you mean comm"));
    }
    unlink(path);
    assert_null(patterns_open(path, NULL, &e));
    assert_int_equal(e.kind, ERR_USAGE);
}

TEST(short_names)
{
    static const char *const cases[][2] = {
        {"void at::native::vectorized_elementwise_kernel<4, at::native::f<a>, std::array<char*, 2ul> >(int, f)", "vectorized_elementwise_kernel"},
        {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 3>(float*)", "CatArrayBatchedCopy"},
        {"void cutlass::Kernel2<cutlass_80_tensorop_gemm_align8>(cutlass_80_tensorop_gemm_align8::Params)", "cutlass_80_tensorop_gemm_align8"},
        {"triton_poi_fused_add_12", "triton_poi_fused_add"},
        {"gemm_nt", "gemm_nt"},
        {"a::b", "b"},
        {"<odd>", "<odd>"},
        {"x<", "x"},
        {"(", "("},
        {"name ()", "name"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n;
        const char *s = short_name(cases[i][0], &n);
        if (n != strlen(cases[i][1]) || memcmp(s, cases[i][1], n) != 0)
            fail_msg("%s: '%.*s'", cases[i][0], (int)n, s);
    }
}

TEST(rows_by_name_and_range)
{
    static const struct kernels_args by_range = {.by = "range"}, by_class = {.by = "class"};
    struct maker m = maker("kernels");
    struct trace t;
    struct table s;
    make_host(&m, EV_RANGE, "layer#1", 1, 0, 50);
    make_host(&m, EV_RANGE, "conv1d", 1, 5, 40);
    make_call(&m, "cudaLaunchKernel", 1, 10, 11, 1);
    make_call(&m, "cudaLaunchKernel", 1, 45, 46, 2);
    make_host(&m, EV_RANGE, "layer#2", 1, 50, 90);
    make_call(&m, "cudaLaunchKernel", 1, 60, 61, 3);
    make_work(&m, EV_KERNEL, "gemm_nt", 0, 7, 20, 30, 1);
    make_work(&m, EV_KERNEL, "gemm_nn", 0, 7, 50, 57, 2);
    make_work(&m, EV_KERNEL, "gemm_nn", 0, 7, 70, 90, 3);
    make_work(&m, EV_KERNEL, "norm_fwd", 0, 7, 95, 100, 99); /* no launch row */
    make_work(&m, EV_MEMCPY, "Memcpy", 0, 7, 100, 200, -1);
    make_open(&m, NULL, &t);
    make_table(&t, "kernels", NULL, &s);
    assert_int_equal(s.nrows, 3);
    assert_string_equal(text_of(&s, 0, "name"), "gemm_nn");
    assert_int_equal(cell_of(&s, 0, "calls"), 2);
    assert_int_equal(cell_of(&s, 0, "total_ns"), 27);
    assert_int_equal(cell_of(&s, 0, "mean_ns"), 13);
    assert_int_equal(cell_of(&s, 0, "min_ns"), 7);
    assert_int_equal(cell_of(&s, 0, "max_ns"), 20);
    assert_true(table_at(&s, 0)[table_column(&s, "share_pct")].r == 100.0 * 27 / 42);
    table_free(&s);
    make_table(&t, "kernels", &by_range, &s);
    assert_int_equal(s.nrows, 3);
    assert_string_equal(text_of(&s, 0, "name"), "layer");
    assert_int_equal(cell_of(&s, 0, "total_ns"), 27);
    assert_string_equal(text_of(&s, 1, "name"), "layer/conv1d");
    assert_string_equal(text_of(&s, 2, "name"), ""); /* absent */
    table_free(&s);
    make_table(&t, "kernels", &by_class, &s);
    assert_string_equal(text_of(&s, 0, "name"), "gemm");
    assert_int_equal(cell_of(&s, 0, "calls"), 3);
    table_free(&s);
    trace_close(&t);
}

UNIT_MAIN(UNIT(classes_by_name), UNIT(patterns_come_before_the_built_in_rules), UNIT(short_names), UNIT(rows_by_name_and_range))
