/* sites_stack.c - the call site in a call stack that our collector took. */
#include "analyzer/sites.h"

#include <string.h>

const struct stackkey *sites_stack(const struct sites *s, const struct event *ev)
{
    const struct ev_sync *sync = ev_sync_of(&s->f->d, ev);
    return sync && sync->stack ? &s->f->d.stacks[sync->stack] : NULL;
}

/* A native frame has the file of its module, and no line. */
static bool is_python(const struct sites *s, const struct sitekey *k)
{
    return k->line > 0 || strchr(trace_string(s->f, k->file), '/');
}

/* Modules in which a call that waits is carried out, not made. */
static bool is_system(const char *module)
{
    static const char *const begins[] = {"libcu",    "libnv",     "libnccl",  "libcpscope", "libc.so", "libc-2",   "libpthread",
                                         "ld-linux", "libdl",     "libtorch", "libc10",     "libffi",  "_ctypes",  "libpython",
                                         "python3",  "libstdc++", "libgcc_s", "libhip",     "libhsa",  "libroctx", "libamdhip"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(module, begins[i], strlen(begins[i])) == 0)
            return true;
    return !*module;
}

static bool is_user_line(const struct sites *s, const struct sitekey *k)
{
    struct arena a = {0};
    bool yes = sites_is_user(arena_printf(&a, "%s(%d): %s", trace_string(s->f, k->file), k->line, trace_string(s->f, k->function)));
    arena_free(&a);
    return yes;
}

enum { USER_LINE, ANY_LINE, USER_CODE, TELLS_NOTHING };

static int telling_rank(const struct sites *s, const struct sitekey *k)
{
    if (is_python(s, k))
        return is_user_line(s, k) ? USER_LINE : ANY_LINE;
    return is_system(trace_string(s->f, k->file)) ? TELLS_NOTHING : USER_CODE;
}

static uint32_t choose(const struct sites *s, const struct stackkey *k)
{
    int best = TELLS_NOTHING;
    uint32_t site = 0;
    for (uint32_t i = 0; i < k->depth && best != USER_LINE; i++) {
        uint32_t at = s->f->d.frames[k->first + i];
        int rank = telling_rank(s, &s->f->d.sites[at]);
        site = rank < best ? at : site;
        best = rank < best ? rank : best;
    }
    return site;
}

uint32_t sites_of_stack(struct sites *s, const struct event *ev)
{
    const struct stackkey *k = sites_stack(s, ev);
    if (!k)
        return 0;
    uint32_t *known = &s->of_stack[k - s->f->d.stacks];
    if (!*known)
        *known = 1 + choose(s, k);
    return *known - 1;
}
