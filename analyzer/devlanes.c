/* devlanes.c - names of devices and of their streams. */
#include "analyzer/devlanes.h"
#include "analyzer/decimal.h"

#include <ctype.h>
#include <string.h>

enum thread_kind { THREAD_OTHER, THREAD_NOTE, THREAD_OPS, THREAD_STREAM };

struct text {
    const char *s, *end;
};

/* The word at the front, in any case of letters; what is behind it, NULL: it is not there. */
static const char *behind(struct text t, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(t.end - t.s) >= n && strncasecmp(t.s, word, n) == 0 ? t.s + n : NULL;
}

/* The number at the front with nothing of a word behind it; -1 none. */
static int32_t ordinal(struct text t)
{
    const char *p = t.s;
    int64_t n;
    while (p < t.end && isdigit((unsigned char)*p))
        p++;
    bool ends = p == t.end || !(isalnum((unsigned char)*p) || *p == '_' || *p == '.');
    return ends && decimal_int(t.s, (size_t)(p - t.s), &n) && n <= INT32_MAX >> 3 ? (int32_t)n : -1;
}

/* "GPU0", "GPU 0", "TPU:1 ...", "Device #2" */
static int32_t plain_device(struct text t)
{
    static const char *const words[] = {"GPU", "TPU", "NPU", "XPU", "CUDA", "Device"};
    const char *p = NULL;
    for (size_t i = 0; !p && i < sizeof words / sizeof *words; i++)
        p = behind(t, words[i]);
    while (p && p < t.end && strchr(" :#", *p) && *p)
        p++;
    return p ? ordinal((struct text){p, t.end}) : -1;
}

/* "/device:GPU:0 NVIDIA A100", also behind the task of a job. The host's processors are no device. */
static int32_t xla_device(struct text t, bool *notes)
{
    static const char mark[] = "/device:";
    const char *p = memmem(t.s, (size_t)(t.end - t.s), mark, sizeof mark - 1);
    if (!p)
        return -1;
    struct text type = {p + sizeof mark - 1, t.end};
    const char *colon = memchr(type.s, ':', (size_t)(t.end - type.s));
    int32_t device = colon && !behind(type, "CPU:") ? ordinal((struct text){colon + 1, t.end}) : -1;
    *notes = p != t.s || memmem(p, (size_t)(t.end - p), "/stream:all", 11); /* a job's plan, and all its streams once more */
    return device;
}

void devlanes_process(struct devlanes *x, int64_t pid, const char *s, size_t n)
{
    struct text t = {s, s + n};
    bool notes = false, calls = behind(t, "CPU HIP API") || behind(t, "CPU HSA API");
    int32_t xla = calls ? -1 : xla_device(t, &notes), device = xla >= 0 || calls ? xla : plain_device(t);
    x->hip |= calls;
    x->devices |= device >= 0;
    enum lane_kind kind = calls ? LANE_CALLS : device < 0 ? LANE_HOST : notes ? LANE_NOTES : LANE_DEVICE;
    idmap_set(&x->processes, pid, 1 + ((uint32_t)(device < 0 ? 0 : device) << 2 | kind));
}

void devlanes_called(struct devlanes *x, int64_t pid, const char *s, size_t n)
{
    if (!idmap_get(&x->processes, pid))
        devlanes_process(x, pid, s, n);
}

static enum thread_kind thread_kind(const char *s, size_t n)
{
    static const struct {
        const char *word;
        enum thread_kind kind;
    } kinds[] = {{"XLA Ops", THREAD_OPS},    {"Async XLA Ops", THREAD_OPS}, {"Steps", THREAD_NOTE},  {"XLA", THREAD_NOTE}, /* Modules, TraceMe */
                 {"Framework", THREAD_NOTE}, {"TensorFlow", THREAD_NOTE},   {"Source", THREAD_NOTE}, {"Launch Stats", THREAD_NOTE},
                 {"Annotation", THREAD_NOTE}};
    for (size_t i = 0; i + 6 <= n; i++)
        if (strncasecmp(s + i, "stream", 6) == 0)
            return THREAD_STREAM;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (behind((struct text){s, s + n}, kinds[i].word))
            return kinds[i].kind;
    return THREAD_OTHER;
}

void devlanes_thread(struct devlanes *x, int64_t pid, int64_t lane, const char *s, size_t n)
{
    enum thread_kind kind = thread_kind(s, n);
    if (!kind)
        return;
    idmap_set(&x->threads, lane, kind);
    if (kind > idmap_get(&x->holds, pid))
        idmap_set(&x->holds, pid, kind);
}

struct devlane devlanes_find(const struct devlanes *x, int64_t pid, int64_t lane)
{
    uint32_t id = idmap_get(&x->processes, pid), own = idmap_get(&x->threads, lane), most = idmap_get(&x->holds, pid);
    if (!id)
        return (struct devlane){LANE_HOST, -1};
    struct devlane l = {(id - 1) & 3, (int32_t)((id - 1) >> 2)}; /* of no use on the host */
    if (l.kind == LANE_DEVICE && (most > THREAD_NOTE ? own != most : own == THREAD_NOTE))
        l.kind = LANE_NOTES;
    return l;
}

void devlanes_free(struct devlanes *x)
{
    idmap_free(&x->processes);
    idmap_free(&x->threads);
    idmap_free(&x->holds);
}
