/* ascend.c - names of CANN. */
#include "analyzer/ascend.h"
#include "analyzer/decimal.h"
#include "analyzer/tarfile.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* First the name, then the type; the first word that one of them begins with decides. */
static const struct task {
    const char *word;
    enum ev_kind kind;
} by_name[] =
    {
        {"MEMCPY", EV_MEMCPY},        {"EVENT_WAIT", EV_SYNC},     {"Notify Wait", EV_SYNC}, {"Notify_Wait", EV_SYNC}, {"EVENT_RECORD", EV_NKINDS},
        {"Notify Record", EV_NKINDS}, {"Write Value", EV_NKINDS},  {"SDMA", EV_NKINDS},      {"RDMA", EV_NKINDS},      {"PROFILING_", EV_NKINDS},
        {"MODEL_", EV_NKINDS},        {"PLACE_HOLDER", EV_NKINDS}, {"MEMSET", EV_MEMSET},    {"STREAM_WAIT", EV_SYNC}, {0},
},
  by_type[] = {
      {"AI_CORE", EV_KERNEL},  {"AI_VECTOR_CORE", EV_KERNEL}, {"MIX_AIC", EV_KERNEL},  {"MIX_AIV", EV_KERNEL},   {"AI_CPU", EV_KERNEL},
      {"DSA_SQE", EV_KERNEL},  {"KERNEL_", EV_KERNEL},        {"Other", EV_KERNEL},    {"MEMCPY", EV_MEMCPY},    {"PCIE_DMA", EV_MEMCPY},
      {"SDMA_SQE", EV_MEMCPY}, {"MEMSET", EV_MEMSET},         {"EVENT_WAIT", EV_SYNC}, {"Notify Wait", EV_SYNC}, {0},
};

static const struct task *find(const struct task *t, const char *s)
{
    while (t->word && strncmp(s, t->word, strlen(t->word)) != 0)
        t++;
    return t->word ? t : NULL;
}

enum ev_kind ascend_task(const char *name, const char *type, bool computes)
{
    if (computes)
        return EV_KERNEL;
    const struct task *t = find(by_name, name);
    t = t ? t : find(by_type, type);
    return t ? t->kind : EV_NKINDS;
}

uint32_t ascend_detail(struct rows *r, enum ev_kind kind, const char *name)
{
    if (kind == EV_SYNC)
        return tracedata_sync_row(r->d, (struct ev_sync){.class = SYNC_NONE, .did_block = -1, .wait_stream = -1, .wait_event = -1});
    enum copy_kind way = kind == EV_MEMCPY ? rows_copy_kind(name) : COPY_UNKNOWN;
    return way ? tracedata_copy_row(r->d, (struct ev_copy){.kind = way}) : 0;
}

static int64_t element_size(const char *dtype)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"INT8", 1},  {"UINT8", 1},  {"INT16", 2}, {"UINT16", 2}, {"FP16", 2},   {"BFP16", 2}, {"BF16", 2},
                 {"INT32", 4}, {"UINT32", 4}, {"FP32", 4},  {"INT64", 8},  {"UINT64", 8}, {"FP64", 8},  {"INT128", 16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(dtype, types[i].name) == 0)
            return types[i].bytes;
    return 0;
}

/* The call's number in its group: 3 of "hcom_allReduce__586_3_1"; -1: the name has no such tail. */
static int64_t sequence(const char *name)
{
    const char *last = strrchr(name, '_'), *before = last ? memrchr(name, '_', (size_t)(last - name)) : NULL;
    int64_t n;
    return before && strstr(name, "__") && decimal_int(before + 1, (size_t)(last - before - 1), &n) && n >= 0 ? n : -1;
}

/* "hcom_allReduce__586_3_1" -> "allReduce" */
static uint32_t function(struct rows *r, const char *name)
{
    const char *from = strncmp(name, "hcom_", 5) == 0 ? name + 5 : name;
    return rows_text(r, from, strcspn(from, "_"));
}

uint32_t ascend_comm(struct rows *r, const char *name, uint32_t group, const char *dtype, int64_t count)
{
    int64_t size = element_size(dtype), bytes;
    bool known = size && count >= 0 && !__builtin_mul_overflow(size, count, &bytes);
    return tracedata_comm_row(r->d, (struct ev_comm){.communicator = group,
                                                     .function = function(r, name),
                                                     .dtype = size ? rows_text(r, dtype, strlen(dtype)) : 0,
                                                     .peer = -1,
                                                     .group_size = -1,
                                                     .sequence = sequence(name),
                                                     .message_bytes = known ? bytes : -1});
}

uint32_t ascend_api(struct rows *r, const char *name, size_t n)
{
    static const char layer[] = "AscendCL@";
    size_t skip = n > sizeof layer - 1 && memcmp(name, layer, sizeof layer - 1) == 0 ? sizeof layer - 1 : 0;
    return rows_text(r, name + skip, n - skip);
}

static bool is_library(const char *s, size_t n)
{
    return n == 0 || *s == '<' || memmem(s, n, "-packages/torch", 15) || (memmem(s, n, "/lib/python3", 12) && !memmem(s, n, "-packages/", 10));
}

/* "path(line): function" */
static uint32_t frame_site(struct rows *r, const char *s, size_t n)
{
    const char *close = memmem(s, n, "): ", 3), *open = close ? memrchr(s, '(', (size_t)(close - s)) : NULL;
    int64_t line;
    if (!open || !decimal_int(open + 1, (size_t)(close - open - 1), &line) || line < 0 || line > INT32_MAX)
        return 0;
    uint32_t file = rows_text(r, s, (size_t)(open - s)), name = rows_text(r, close + 3, n - (size_t)(close + 3 - s));
    return tracedata_site(r->d, rows_str(r, name), rows_str(r, file), (int32_t)line);
}

uint32_t ascend_site(struct rows *r, const char *stack, size_t n)
{
    const char *end = stack + n, *first = NULL;
    size_t nfirst = 0;
    for (const char *p = stack; p < end;) {
        const char *stop = p;
        while (stop < end && *stop != ';' && *stop != '\n' && *stop != '\r')
            stop++;
        size_t len = (size_t)(stop - p);
        if (len && !is_library(p, len))
            return frame_site(r, p, len);
        if (len && !first)
            first = p, nfirst = len;
        p = stop + 1;
    }
    return first ? frame_site(r, first, nfirst) : 0;
}

/* N of PREFIX N SUFFIX, -1: the name is not of that form. */
static int32_t number_in(const char *name, const char *prefix, const char *suffix)
{
    size_t n = strlen(name), p = strlen(prefix), q = strlen(suffix);
    int64_t v;
    bool fits = n > p + q && strncmp(name, prefix, p) == 0 && strcmp(name + n - q, suffix) == 0;
    return fits && decimal_int(name + p, n - p - q, &v) && v >= 0 && v <= INT32_MAX ? (int32_t)v : -1;
}

/* Files of a folder that say a rank; several are of several ranks. */
struct saying {
    int32_t rank, files;
};

static void hear(struct saying *x, const char *file)
{
    int32_t n = number_in(file, "profiler_info_", ".json");
    x->rank = n >= 0 ? n : x->rank;
    x->files += n >= 0;
}

/* `folder` ends with '/', or is empty. */
static int32_t rank_in_folder(const char *folder)
{
    struct saying x = {0};
    DIR *dir = opendir(*folder ? folder : ".");
    for (struct dirent *d; dir && (d = readdir(dir));)
        hear(&x, d->d_name);
    if (dir)
        closedir(dir);
    return x.files == 1 ? x.rank : -1;
}

static int32_t rank_in_archive(const struct tar_names *names, const char *folder, size_t n)
{
    struct saying x = {0};
    for (size_t i = 0; i < names->n; i++)
        if (strncmp(names->v[i], folder, n) == 0 && !strchr(names->v[i] + n, '/'))
            hear(&x, names->v[i] + n);
    return x.files == 1 ? x.rank : -1;
}

/* How long the path of the folder of s[0 .. n-1] is, with its '/'. */
static size_t folder_length(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] != '/')
        n--;
    return n;
}

/* Beside a member of an archive, or in the folder above. */
static int32_t rank_of_member(const char *path, size_t archive)
{
    struct arena a = {0};
    struct err e = {0};
    struct tar_names names = {0};
    const char *name = path + archive + 1;
    size_t n = folder_length(name, strlen(name));
    int32_t rank = -1;
    if (tar_list(arena_strndup(&a, path, archive), &a, &names, &e)) {
        rank = rank_in_archive(&names, name, n);
        rank = rank >= 0 || n == 0 ? rank : rank_in_archive(&names, name, folder_length(name, n - 1));
    }
    free(names.v);
    arena_free(&a);
    return rank;
}

static int32_t rank_of_file(const char *path)
{
    struct arena a = {0};
    const char *folder = arena_strndup(&a, path, folder_length(path, strlen(path)));
    int32_t rank = rank_in_folder(folder);
    rank = rank >= 0 ? rank : rank_in_folder(arena_printf(&a, "%s../", folder));
    arena_free(&a);
    return rank;
}

int32_t ascend_rank(const char *path)
{
    int32_t rank = number_in(basename(path), "ascend_pytorch_profiler_", ".db");
    size_t archive = rank >= 0 ? 0 : tar_archive_length(path);
    return rank >= 0 ? rank : archive ? rank_of_member(path, archive) : rank_of_file(path);
}
