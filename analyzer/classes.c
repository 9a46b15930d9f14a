/* classes.c - kernel names to classes by rows of lower-case words; the first row that fits decides.
 *
 * Names come from NCCL, cuBLAS (nvjet, cutlass, sgemm ...), cuDNN, ATen, Triton, Megatron and our own kernels. A row is a
 * word that the lower-case name contains, or starts with when the row begins with '^'.
 */
#include "analyzer/classes.h"
#include "analyzer/re.h"
#include "schemas/arena.h"
#include "schemas/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[KCLASS_N + 1] = {
    "", "gemm", "attention", "scan", "conv", "norm", "index", "concat", "elementwise", "copy", "comm", "other", NULL,
};

const char *kclass_name(enum kclass c)
{
    return (unsigned)c < KCLASS_N ? names[c] : "";
}

static const struct {
    const char *word;
    enum kclass class;
} rules[] = {
    {"nccl", KCLASS_COMM},
    {"rccl", KCLASS_COMM},
    {"hccl", KCLASS_COMM},
    {"oneccl", KCLASS_COMM},
    {"^all-reduce", KCLASS_COMM}, /* XLA's, on TPUs */
    {"^all-gather", KCLASS_COMM},
    {"^reduce-scatter", KCLASS_COMM},
    {"^all-to-all", KCLASS_COMM},
    {"^ragged-all-to-all", KCLASS_COMM},
    {"^collective-", KCLASS_COMM},
    {"catarray", KCLASS_CONCAT},
    {"^concat", KCLASS_CONCAT},
    {"_concat", KCLASS_CONCAT},
    {"flash", KCLASS_ATTENTION},
    {"fmha", KCLASS_ATTENTION},
    {"attention", KCLASS_ATTENTION},
    {"attn", KCLASS_ATTENTION},
    {"gdn_scan", KCLASS_SCAN},
    {"gated_delta", KCLASS_SCAN},
    {"delta_rule", KCLASS_SCAN},
    {"chunk_fwd", KCLASS_SCAN},
    {"chunk_bwd", KCLASS_SCAN},
    {"selective_scan", KCLASS_SCAN},
    {"chunk_scan", KCLASS_SCAN},
    {"solve_tril", KCLASS_SCAN},
    {"^gdn_", KCLASS_SCAN},
    {"layernorm", KCLASS_NORM},
    {"layer_norm", KCLASS_NORM},
    {"rmsnorm", KCLASS_NORM},
    {"rms_norm", KCLASS_NORM},
    {"l2norm", KCLASS_NORM},
    {"batch_norm", KCLASS_NORM},
    {"batchnorm", KCLASS_NORM},
    {"bn_fw", KCLASS_NORM},
    {"bn_bw", KCLASS_NORM},
    {"group_norm", KCLASS_NORM},
    {"gammabeta", KCLASS_NORM},
    {"cucomputegrad", KCLASS_NORM},
    {"^norm", KCLASS_NORM},
    {"_norm_", KCLASS_NORM},
    {"conv1d", KCLASS_CONV},
    {"conv2d", KCLASS_CONV},
    {"convolve", KCLASS_CONV},
    {"convolution", KCLASS_CONV},
    {"scudnn", KCLASS_CONV},
    {"dgrad", KCLASS_CONV},
    {"wgrad", KCLASS_CONV},
    {"fprop", KCLASS_CONV},
    {"winograd", KCLASS_CONV},
    {"miopenconv", KCLASS_CONV},
    {"implicit_con", KCLASS_CONV},
    {"gemm", KCLASS_GEMM},
    {"gemv", KCLASS_GEMM},
    {"nvjet", KCLASS_GEMM},
    {"cutlass", KCLASS_GEMM},
    {"cublas", KCLASS_GEMM},
    {"matmul", KCLASS_GEMM},
    {"^cijk_", KCLASS_GEMM},
    {"splitkreduce", KCLASS_GEMM},
    {"scan", KCLASS_SCAN},
    {"index", KCLASS_INDEX},
    {"gather", KCLASS_INDEX},
    {"scatter", KCLASS_INDEX},
    {"nonzero", KCLASS_INDEX},
    {"embedding", KCLASS_INDEX},
    {"bucketize", KCLASS_INDEX},
    {"searchsorted", KCLASS_INDEX},
    {"radixsort", KCLASS_INDEX},
    {"argsort", KCLASS_INDEX},
    {"bitonicsort", KCLASS_INDEX},
    {"arange", KCLASS_INDEX},
    {"^pack", KCLASS_INDEX},
    {"unpack", KCLASS_INDEX},
    {"^route", KCLASS_INDEX},
    {"deviceselect", KCLASS_INDEX},
    {"devicecompact", KCLASS_INDEX},
    {"mask", KCLASS_INDEX},
    {"memcpy", KCLASS_COPY},
    {"copy_kernel", KCLASS_COPY},
    {"direct_copy", KCLASS_COPY},
    {"^copy", KCLASS_COPY},
    {"transpose", KCLASS_COPY},
    {"^rows_copy", KCLASS_COPY},
    {"nchwtonhwc", KCLASS_COPY},
    {"nhwctonchw", KCLASS_COPY},
    {"elementwise", KCLASS_ELEMENTWISE},
    {"pointwise", KCLASS_ELEMENTWISE},
    {"triton_poi", KCLASS_ELEMENTWISE},
    {"multi_tensor_apply", KCLASS_ELEMENTWISE},
    {"fillfunctor", KCLASS_ELEMENTWISE},
    {"activation", KCLASS_ELEMENTWISE},
    {"dropout", KCLASS_ELEMENTWISE},
    {"^gate_", KCLASS_ELEMENTWISE},
    {"^rows_add", KCLASS_ELEMENTWISE},
};

static bool fits(const char *word, const char *lower)
{
    return *word == '^' ? strncmp(lower, word + 1, strlen(word + 1)) == 0 : strstr(lower, word) != NULL;
}

static enum kclass built_in(const char *name)
{
    char lower[512]; /* the telling part of a name is at its front */
    size_t n = 0;
    if (strncmp(name, "void ", 5) == 0)
        name += 5;
    for (; name[n] && n < sizeof lower - 1; n++)
        lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = '\0';
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fits(rules[i].word, lower))
            return rules[i].class;
    return KCLASS_OTHER;
}

struct pattern {
    enum kclass class;
    regex_t re;
};

struct patterns {
    struct pattern *v;
    size_t n, cap;
};

static bool parse_line(struct patterns *p, char *line, const char *path, int number, struct err *e)
{
    line[strcspn(line, "\r\n")] = '\0';
    char *word = line + strspn(line, " \t");
    if (!*word || *word == '#')
        return true;
    char *re = word + strcspn(word, " \t");
    if (*re)
        *re++ = '\0';
    re += strspn(re, " \t");
    enum kclass c = KCLASS_NONE;
    for (int i = 1; i < KCLASS_N; i++)
        if (strcmp(names[i], word) == 0)
            c = (enum kclass)i;
    if (!c) {
        const char *near = nearest_name(word, names + 1);
        return fail(e, ERR_USAGE, "%s:%d: %s: no such kernel class%s%s", path, number, word, near ? "; did you mean " : "", near ? near : "");
    }
    struct pattern one = {.class = c};
    char buf[RE_WHY];
    const char *why = *re ? re_compile(&one.re, re, buf) : "no pattern";
    if (why)
        return fail(e, ERR_USAGE, "%s:%d: %s: %s", path, number, re, why);
    ARRAY_PUSH(p->v, p->n, p->cap, one);
    return true;
}

struct patterns *patterns_open(const char *path, const char *text, struct err *e)
{
    if (!path || (text && !*text))
        return NULL;
    FILE *f = text ? fmemopen((void *)text, strlen(text), "r") : fopen(path, "re");
    if (!f) {
        fail(e, ERR_USAGE, "--patterns %s: cannot open", path);
        return NULL;
    }
    size_t cap = 0, line_cap = 0;
    struct patterns *p = array_grow(NULL, &cap, 1, sizeof *p);
    *p = (struct patterns){0};
    char *line = NULL;
    bool ok = true;
    for (int number = 1; ok && getline(&line, &line_cap, f) >= 0; number++)
        ok = parse_line(p, line, path, number, e);
    free(line);
    fclose(f);
    if (ok)
        return p;
    patterns_close(p);
    return NULL;
}

void patterns_close(struct patterns *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        regfree(&p->v[i].re);
    free(p->v);
    free(p);
}

enum kclass kclass_of(const struct patterns *p, const char *name)
{
    for (size_t i = 0; p && i < p->n; i++)
        if (regexec(&p->v[i].re, name, 0, NULL, 0) == 0)
            return p->v[i].class;
    return built_in(name);
}
