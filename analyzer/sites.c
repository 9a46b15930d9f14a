/* sites.c - call sites from own events, Python frames, ranges and API names. */
#include "analyzer/sites.h"
#include "analyzer/nest.h"
#include "analyzer/waits.h"

#include <stdlib.h>
#include <string.h>

bool site_by_parse(const char *text, enum site_by *by, struct err *e)
{
    static const char *const names[] = {"function", "line", "stack"};
    *by = SITE_FUNCTION;
    for (int i = 0; text && i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *by = (enum site_by)i;
            return true;
        }
    return !text || fail(e, ERR_USAGE, "--by %s: not function, line or stack", text);
}

void sites_init(struct sites *s, const struct trace_file *f, enum site_by by, struct intern *names)
{
    *s = (struct sites){.f = f, .by = by, .names = names};
    s->of_site = arena_array(&s->arena, uint32_t, f->d.nsites);
    s->of_name = arena_array(&s->arena, uint32_t, f->d.strings.n + 1);
    s->user = arena_array(&s->arena, uint8_t, f->d.strings.n + 1);
    s->of_stack = arena_array(&s->arena, uint32_t, f->d.nstacks + 1);
}

void sites_free(struct sites *s)
{
    arena_free(&s->arena);
}

/* "path(line): function" of Python frames. */
struct frame {
    const char *path, *function;
    size_t npath;
    int32_t line;
};

static bool parse_frame(const char *name, struct frame *f)
{
    for (const char *p = strchr(name, '('); p; p = strchr(p + 1, '(')) {
        char *end;
        long line = strtol(p + 1, &end, 10);
        if (end == p + 1 || strncmp(end, "): ", 3) != 0 || p == name)
            continue;
        *f = (struct frame){.path = name, .npath = (size_t)(p - name), .line = (int32_t)line, .function = end + 3};
        return true;
    }
    return false;
}

/* What is left of a path when the machine and the installation are taken away:
 *   behind site-packages/ or dist-packages/; else an absolute path's last three parts; else the path as it is.
 * Generated code has a hash for a name: its folder stands for it. */
static const char *stable_path(const char *path, size_t *n)
{
    static const char *const roots[] = {"site-packages/", "dist-packages/"};
    const char *end = path + *n, *from = path;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const char *p = memmem(path, *n, roots[i], strlen(roots[i]));
        if (p)
            from = p + strlen(roots[i]);
    }
    if (from == path && *n > 1 && *path == '/') {
        int parts = 0;
        const char *p = end;
        while (p > path && parts < 3)
            parts += *--p == '/';
        from = p + (*p == '/');
    }
    while (end - from > 2 && strncmp(from, "./", 2) == 0)
        from += 2;
    *n = (size_t)(end - from);
    return from;
}

static bool begins(const char *s, size_t n, const char *word)
{
    size_t m = strlen(word);
    return n >= m && memcmp(s, word, m) == 0;
}

/* Not the user's: torch itself, the standard library's helpers, built-in and frozen code. */
bool sites_is_user(const char *name)
{
    static const char *const others[] = {"torch/",  "torch_npu/", "contextlib.py", "threading.py", "runpy.py",   "functools.py",
                                         "<",       "importlib/", "concurrent/",   "asyncio/",     "weakref.py", "multiprocessing/",
                                         "triton/", "copy.py",    "typing.py",     "collections/", "_bootstrap"};
    struct frame f;
    if (!parse_frame(name, &f))
        return false;
    const char *lib = memmem(f.path, f.npath, "/lib/python3", 12);
    if (lib && !memmem(f.path, f.npath, "-packages/", 10))
        return false;
    size_t n = f.npath;
    const char *p = stable_path(f.path, &n);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(p, n, others[i]))
            return false;
    return true;
}

bool sites_user_frame(struct sites *s, uint32_t name)
{
    if (!s->user[name])
        s->user[name] = sites_is_user(trace_string(s->f, name)) ? 2 : 1;
    return s->user[name] == 2;
}

static const char generated[] = "torchinductor_";

static uint32_t place_id(struct sites *s, const char *path, size_t n, const char *function, int32_t line)
{
    struct arena a = {0};
    const char *p = stable_path(path, &n);
    if (memmem(path, (size_t)(p - path) + n, generated, sizeof generated - 1))
        p = "torchinductor/generated.py", n = strlen(p), line = 0;
    const char *text =
        s->by == SITE_LINE && line > 0 ? arena_printf(&a, "%.*s:%d %s", (int)n, p, line, function) : arena_printf(&a, "%.*s:%s", (int)n, p, function);
    uint32_t id = intern_id(s->names, n ? text : function);
    arena_free(&a);
    return id;
}

static uint32_t own_id(struct sites *s, uint32_t site)
{
    if (!s->of_site[site]) {
        const struct sitekey *k = &s->f->d.sites[site];
        const char *file = trace_string(s->f, k->file);
        s->of_site[site] = 1 + place_id(s, file, strlen(file), trace_string(s->f, k->function), k->line);
    }
    return s->of_site[site] - 1;
}

/* The site a frame's, range's or API's name makes. */
static uint32_t named_id(struct sites *s, uint32_t name)
{
    if (!s->of_name[name]) {
        const char *text = trace_string(s->f, name);
        struct frame f;
        size_t n;
        if (parse_frame(text, &f)) {
            s->of_name[name] = 1 + place_id(s, f.path, f.npath, f.function, f.line);
        } else {
            const char *api = wait_api(text, &n);
            size_t plain = range_plain(api);
            s->of_name[name] = 1 + intern_id_n(s->names, api, plain < n ? plain : n);
        }
    }
    return s->of_name[name] - 1;
}

enum { USER_FRAME, USER_RANGE, OP_RANGE, ANY_FRAME, TELLS_NOTHING };

/* How much a row around a call says of where it was made; less is more. */
static int telling_rank(struct sites *s, uint32_t row)
{
    const struct event *ev = &s->f->d.ev[row];
    struct frame f;
    if (ev->kind == EV_RANGE)
        return strncmp(trace_string(s->f, ev->name), "aten::", 6) == 0 ? OP_RANGE : USER_RANGE;
    if (ev->kind != EV_FRAME)
        return TELLS_NOTHING;
    return sites_user_frame(s, ev->name) ? USER_FRAME : parse_frame(trace_string(s->f, ev->name), &f) ? ANY_FRAME : TELLS_NOTHING;
}

/* Innermost user frame, else innermost range that is more than an operator's, and so on; UINT32_MAX: none. */
static uint32_t telling(struct sites *s, const uint32_t *around, size_t n)
{
    uint32_t best = UINT32_MAX;
    int rank = TELLS_NOTHING;
    for (size_t i = n; i-- > 0 && rank != USER_FRAME;) {
        int r = telling_rank(s, around[i]);
        if (r < rank) {
            rank = r;
            best = around[i];
        }
    }
    return best;
}

static uint32_t innermost_id(struct sites *s, const struct event *ev, const uint32_t *around, size_t n)
{
    uint32_t own = ev->site ? ev->site : sites_of_stack(s, ev);
    if (own)
        return own_id(s, own);
    uint32_t at = telling(s, around, n);
    return named_id(s, at == UINT32_MAX ? ev->name : s->f->d.ev[at].name);
}

/* outermost;...;innermost: the frames of the call stack that was taken. */
static uint32_t taken_id(struct sites *s, const struct stackkey *k)
{
    struct arena a = {0};
    const char *text = "";
    for (uint32_t i = k->depth; i > 0; i--)
        text = arena_printf(&a, "%s%s%s", text, *text ? ";" : "", intern_str(s->names, own_id(s, s->f->d.frames[k->first + i - 1])));
    uint32_t id = intern_id(s->names, text);
    arena_free(&a);
    return id;
}

/* outermost;...;innermost: frames with a file and ranges, then the own site or the API. */
static uint32_t stack_id(struct sites *s, const struct event *ev, const uint32_t *around, size_t n)
{
    struct arena a = {0};
    const char *text = "";
    struct frame f;
    const struct stackkey *taken = ev->site ? NULL : sites_stack(s, ev);
    if (taken)
        return taken_id(s, taken);
    for (size_t i = 0; i < n; i++) {
        const struct event *o = &s->f->d.ev[around[i]];
        if (o->kind == EV_RANGE || (o->kind == EV_FRAME && parse_frame(trace_string(s->f, o->name), &f)))
            text = arena_printf(&a, "%s%s;", text, intern_str(s->names, named_id(s, o->name)));
    }
    uint32_t last = ev->site ? own_id(s, ev->site) : named_id(s, ev->name);
    uint32_t id = intern_id(s->names, arena_printf(&a, "%s%s", text, intern_str(s->names, last)));
    arena_free(&a);
    return id;
}

bool sites_needs_around(struct sites *s, const struct event *ev)
{
    return (s->by == SITE_STACK || !ev->site) && !(sites_stack(s, ev) && sites_of_stack(s, ev));
}

uint32_t sites_id(struct sites *s, const struct event *ev, const uint32_t *around, size_t naround)
{
    return s->by == SITE_STACK ? stack_id(s, ev, around, naround) : innermost_id(s, ev, around, naround);
}
