/* record_args.c - see record_args.h. A row of `settings` for each option that the library reads: its variable, where the value is. */
#include "analyzer/record_args.h"
#include "analyzer/re.h"
#include "schemas/env.h"
#include "schemas/event.h"
#include "schemas/mask.h"
#include "schemas/outname.h"
#include "schemas/socketname.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct opt opts[] = {
    {OPT_TEXT, "output", offsetof(struct record_args, out), "file to write; %p pid, %h host, %r rank, %q{VAR} (default cpscope-%p.sqlite)", "FILE",
     'o'},
    {OPT_FLAG, "force", offsetof(struct record_args, force), "replace an existing file"},
    {OPT_TEXT, "kinds", offsetof(struct record_args, kinds), "record these kinds of events only, e.g. kernel,comm,runtime,op,range", "LIST"},
    {OPT_FLAG, "lite", offsetof(struct record_args, lite), "host waits, collectives and ranges only: no kernels, copies and launches"},
    {OPT_TIME, "stack-threshold", offsetof(struct record_args, threshold), "stacks of host waits at least this long (default 20us; 0s: all)", "TIME"},
    {OPT_FLAG, "no-python", offsetof(struct record_args, no_python), "no lines of Python in stacks"},
    {OPT_TIME, "delay", offsetof(struct record_args, delay), "begin so long after the start of the program", "TIME"},
    {OPT_TIME, "duration", offsetof(struct record_args, duration), "record for so long; the program goes on", "TIME"},
    {OPT_TEXT, "range", offsetof(struct record_args, range), "record only inside NVTX or cpscope.h ranges whose name matches", "RE"},
    {OPT_TEXT, "steps", offsetof(struct record_args, steps), "record only inside ranges step#N or ProfilerStep#N of these numbers", "N|A:B"},
    {OPT_TEXT, "max-size", offsetof(struct record_args, max_size), "stop before a file has more bytes than that (k, M, G: times 1024; 512k at least)",
     "N"},
    {OPT_FLAG, "yield", offsetof(struct record_args, yield), "leave CUPTI to the program's own profiler: no kernels are recorded"},
    {OPT_TEXT, "control", offsetof(struct record_args, control), "make a socket there, for cpscope control; %p %h %r %q{VAR} as in -o", "SOCKET"},
    {OPT_FLAG, "paused", offsetof(struct record_args, paused), "record nothing until cpscope control starts it"},
    {OPT_FLAG, "quiet", offsetof(struct record_args, quiet), "do not say which files were written", NULL, 'q'},
    {OPT_REST, "PROGRAM ARGS...", offsetof(struct record_args, program)},
    {0},
};

static const char doc[] =
    "Run a program and record what it does on its devices.\v"
    "The exit status is the program's; 128+N when signal N ended it, 127 when it is not found. Without a single event no file is "
    "written, and that is said. Further processes of the program that have events write FILE with .PID (.rN under a launcher) "
    "before the suffix. Every event that the program has reported is in the file, whatever ends it.\n\n"
    "What is not given is taken from the environment where it stands there: CPSCOPE_KINDS, CPSCOPE_LITE, CPSCOPE_STACK_THRESHOLD, "
    "CPSCOPE_NO_PYTHON, CPSCOPE_DELAY, CPSCOPE_DURATION, CPSCOPE_RANGE, CPSCOPE_STEPS, CPSCOPE_MAX_SIZE, CPSCOPE_YIELD, "
    "CPSCOPE_CONTROL, CPSCOPE_PAUSED (flags: 1).\n\n"
    "  cpscope record -o run.sqlite -- cpbench run --mode gdn.chunkwise\n"
    "  cpscope record -o 'run-%r.sqlite' -- mpirun -n 4 ./train\n"
    "  cpscope record --steps 10:12 --max-size 2G -o run.sqlite -- python train.py\n";

enum setting_type { TEXT, FLAG, TIME, SIZE };

static const struct setting {
    const char *variable, *option;
    enum setting_type type;
    size_t offset;
} settings[] = {
    {ENV_KINDS, "--kinds", TEXT, offsetof(struct record_args, kinds)},
    {ENV_LITE, "--lite", FLAG, offsetof(struct record_args, lite)},
    {ENV_STACK_THRESHOLD, "--stack-threshold", TIME, offsetof(struct record_args, threshold)},
    {ENV_NO_PYTHON, "--no-python", FLAG, offsetof(struct record_args, no_python)},
    {ENV_DELAY, "--delay", TIME, offsetof(struct record_args, delay)},
    {ENV_DURATION, "--duration", TIME, offsetof(struct record_args, duration)},
    {ENV_RANGE, "--range", TEXT, offsetof(struct record_args, range)},
    {ENV_STEPS, "--steps", TEXT, offsetof(struct record_args, steps)},
    {ENV_MAX_SIZE, "--max-size", SIZE, offsetof(struct record_args, max_size)},
    {ENV_YIELD, "--yield", FLAG, offsetof(struct record_args, yield)},
    {ENV_CONTROL, "--control", TEXT, offsetof(struct record_args, control)},
    {ENV_PAUSED, "--paused", FLAG, offsetof(struct record_args, paused)},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* ---- values ---- */

static bool check_kinds(const char *list, struct err *e)
{
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        int k = 0;
        while (k < EV_NKINDS && (strlen(ev_kind_name((enum ev_kind)k)) != n || strncmp(p, ev_kind_name((enum ev_kind)k), n) != 0))
            k++;
        if (k == EV_NKINDS)
            return fail(e, ERR_USAGE, "--kinds %.*s: no such kind of event; there are kernel comm memcpy memset sync runtime op range", (int)n, p);
        p += n + (p[n] == ',');
    }
    return true;
}

static bool check_range(const char *text, struct err *e)
{
    regex_t re;
    char buf[RE_WHY];
    const char *why = text ? re_compile(&re, text, buf) : NULL;
    if (text && !why)
        regfree(&re);
    return !why || fail(e, ERR_USAGE, "--range %s: %s", text, why);
}

static bool check_steps(const char *text, struct err *e)
{
    int64_t from, to;
    return !text || opt_span(text, &from, &to) || fail(e, ERR_USAGE, "--steps %s: not a step number N nor a span A:B", text);
}

static bool check_size(const char *text, struct err *e)
{
    int64_t bytes;
    if (text && !opt_size(text, &bytes))
        return fail(e, ERR_USAGE, "--max-size %s: not a number of bytes, as 500M or 2G", text);
    return !text || bytes >= MAX_SIZE_LEAST || fail(e, ERR_USAGE, "--max-size %s: " MAX_SIZE_WHY, text);
}

/* Variables that stand in the environment count where the option is not given. */
static bool take_environment(struct record_args *r, struct err *e)
{
    bool ok = true;
    for (int i = 0; i < SETTINGS && ok; i++) {
        const char *s = getenv(settings[i].variable);
        char *at = (char *)r + settings[i].offset;
        int64_t ns;
        if (!s || !*s)
            continue;
        if (settings[i].type == FLAG)
            *(bool *)at |= strcmp(s, "0") != 0;
        else if (settings[i].type != TIME)
            *(const char **)at = *(const char **)at ? *(const char **)at : s;
        else if (*(int64_t *)at < 0) {
            ok = (opt_int(s, &ns) && ns >= 0) || opt_time(s, &ns) || fail(e, ERR_USAGE, "%s=%s: not a time", settings[i].variable, s);
            *(int64_t *)at = ns;
        }
    }
    return ok;
}

enum { NOT_GIVEN = -1 };

static bool check_times(const struct record_args *r, struct err *e)
{
    const struct {
        const char *option;
        int64_t ns;
    } times[] = {{"stack-threshold", r->threshold}, {"delay", r->delay}, {"duration", r->duration}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i].ns < 0 && times[i].ns != NOT_GIVEN)
            return fail(e, ERR_USAGE, "--%s: cannot be less than 0", times[i].option);
    return true;
}

static bool check_values(const struct record_args *r, struct err *e)
{
    if (!check_times(r, e))
        return false;
    if (r->paused && !r->control)
        return fail(e, ERR_USAGE, "--paused: nothing would ever start it: give --control SOCKET as well");
    return check_kinds(r->kinds, e) && check_range(r->range, e) && check_steps(r->steps, e) && check_size(r->max_size, e);
}

/* ---- the file ---- */

/* An old file goes now, so that it is not taken for this run's when the program has no events. */
static bool check_existing(const char *path, bool force, struct err *e)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-ring"};
    struct stat st;
    if (stat(path, &st) != 0)
        return true;
    if (!force)
        return fail(e, ERR_FAIL, "%s: exists already; give another name, or --force to replace it", path);
    if (!S_ISREG(st.st_mode))
        return fail(e, ERR_FAIL, "%s: not a file", path);
    for (int i = 0; i < 4; i++) {
        char side[4200];
        snprintf(side, sizeof side, "%s%s", path, ends[i]);
        if (unlink(side) != 0 && i == 0)
            return fail(e, ERR_FAIL, "%s: cannot be replaced: %s", path, strerror(errno));
    }
    return true;
}

/* Can a file be made in the folder of `path`? Asked by making one, which is gone again at once. */
static bool check_folder(const char *path, struct arena *a, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char *probe = arena_printf(a, "%.*s.cpscope-XXXXXX", slash ? (int)(slash + 1 - path) : 0, path);
    struct stat st;
    if (slash && !slash[1])
        return fail(e, ERR_FAIL, "%s: a folder; give a file name", path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return fail(e, ERR_FAIL, "%s: a folder; give a file name", path);
    int fd = mkostemp(probe, O_CLOEXEC);
    if (fd < 0)
        return fail(e, ERR_FAIL, "%s: cannot write: %s", path, strerror(errno));
    close(fd);
    unlink(probe);
    return true;
}

static bool check_output(const struct record_args *args, struct arena *a, struct err *e)
{
    char path[4096];
    if (!outname_expand(args->out, path, sizeof path, e) || !check_folder(path, a, e))
        return false;
    return outname_varies(args->out) || check_existing(path, args->force, e);
}

/* The pattern as an absolute one: the program may change its folder before its first event. */
static const char *absolute(struct arena *a, const char *pattern)
{
    char folder[4096];
    if (*pattern == '/' || !getcwd(folder, sizeof folder))
        return pattern;
    char *doubled = arena_alloc(a, 2 * strlen(folder) + 1), *p = doubled; /* a % of the folder stands for itself */
    for (const char *c = folder; *c; c++) {
        *p++ = *c;
        if (*c == '%')
            *p++ = '%';
    }
    return arena_printf(a, "%s/%s", doubled, pattern);
}

/* As the library will see it; a name that each process has to itself is looked at there. */
static bool check_control(const char *pattern, struct arena *a, struct err *e)
{
    char path[4096];
    struct sockaddr_un at;
    if (!pattern)
        return true;
    if (!*pattern)
        return fail(e, ERR_USAGE, "--control: the name of a socket is missing");
    if (!outname_expand(pattern, path, sizeof path, e) || !outname_expand(absolute(a, pattern), path, sizeof path, e))
        return false;
    return outname_varies(pattern) || socketname_take(path, &at, e);
}

bool record_parse(struct record_args *r, int argc, char **argv, struct arena *a, struct err *e)
{
    *r = (struct record_args){.out = "cpscope-%p.sqlite", .threshold = NOT_GIVEN, .delay = NOT_GIVEN, .duration = NOT_GIVEN};
    return opt_parse(argc, argv, (const struct opt_group[]){{opts, r}, {0}}, doc, a, e) && take_environment(r, e) && check_values(r, e) &&
           check_control(r->control, a, e) && check_output(r, a, e);
}

/* ---- the environment ---- */

/* NULL: not given. */
static const char *value_of(const struct record_args *r, const struct setting *s, struct arena *a)
{
    const char *at = (const char *)r + s->offset, *text = s->type == FLAG || s->type == TIME ? NULL : *(const char *const *)at;
    int64_t n;
    if (s->type == FLAG)
        return *(const bool *)at ? "1" : NULL;
    if (s->type == TIME)
        return *(const int64_t *)at >= 0 ? arena_printf(a, "%" PRId64, *(const int64_t *)at) : NULL;
    if (s->type == SIZE)
        return text && opt_size(text, &n) ? arena_printf(a, "%" PRId64, n) : NULL;
    return text && strcmp(s->variable, ENV_CONTROL) == 0 ? absolute(a, text) : text;
}

/* A door of the program by which our library comes in; another tool's is left to it where `theirs`. */
static void open_door(const char *variable, const char *library, bool theirs, const char *without)
{
    const char *v = getenv(variable);
    bool other = v && *v && strcmp(v, library) != 0;
    if (other)
        fprintf(stderr, "cpscope record: %s is %s for this run: %s\n", variable, theirs ? "another tool's" : "ours", without);
    if (!other || !theirs)
        setenv(variable, library, 1);
}

void record_environment(const struct record_args *r, const char *library, int64_t began, struct arena *a)
{
    const char *preload = getenv("LD_PRELOAD");
    setenv(ENV_OUT, absolute(a, r->out), 1);
    setenv(ENV_COMMAND, mask_command(a, r->program.v, r->program.n), 1);
    setenv("LD_PRELOAD", preload && *preload ? arena_printf(a, "%s:%s", library, preload) : library, 1);
    open_door("NVTX_INJECTION64_PATH", library, false, "the other tool gets no ranges");
    open_door("CUDA_INJECTION64_PATH", library, false, "the other tool is not loaded");
    open_door("NCCL_PROFILER_PLUGIN", library, true, "collectives are known by their ranges and kernels only");
    for (int i = 0; i < SETTINGS; i++) {
        const char *v = value_of(r, &settings[i], a);
        if (v)
            setenv(settings[i].variable, v, 1);
        else
            unsetenv(settings[i].variable);
    }
    unsetenv(ENV_FORCE);
    if (r->force)
        setenv(ENV_FORCE, arena_printf(a, "%" PRId64, began), 1);
}
