/* cmd_record.c - runs a program with the collector in it.
 *
 *   cpscope record (this process) --fork, exec--> PROGRAM with libcpscope.so in it --> FILE
 *        waits, same process group                children inherit the environment, each writes a file of its own
 *
 * The program keeps its input, output, exit status and signals: what the terminal sends to the group reaches it directly,
 * what is sent to this process alone is passed on. When this process is killed the program goes, too.
 */
#include "analyzer/cmd.h"
#include "analyzer/record_end.h"
#include "schemas/arena.h"
#include "schemas/clock.h"
#include "schemas/env.h"
#include "schemas/event.h"
#include "schemas/mask.h"
#include "schemas/opt.h"
#include "schemas/outname.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

struct args {
    const char *out, *kinds;
    bool force;
    int64_t threshold;
    struct opt_list program;
};

static const struct opt opts[] = {
    {OPT_TEXT, "output", offsetof(struct args, out), "file to write; %p pid, %h host, %r rank, %q{VAR} (default cpscope-%p.sqlite)", "FILE", 'o'},
    {OPT_FLAG, "force", offsetof(struct args, force), "replace an existing file"},
    {OPT_TEXT, "kinds", offsetof(struct args, kinds), "record these kinds of events only, e.g. kernel,comm,runtime,op,range", "LIST"},
    {OPT_TIME, "stack-threshold", offsetof(struct args, threshold), "stacks of host waits at least this long (default 20us; 0s: all)", "TIME"},
    {OPT_REST, "PROGRAM ARGS...", offsetof(struct args, program)},
    {0},
};

static const char doc[] =
    "Run a program and record what it does on its devices.\v"
    "The exit status is the program's; 128+N when signal N ended it, 127 when it is not found. Without a single event no file is "
    "written, and that is said. Further processes of the program that have events write FILE with .PID (.rN under a launcher) "
    "before the suffix.\n\n"
    "  cpscope record -o run.sqlite -- cpbench run --mode gdn.chunkwise\n"
    "  cpscope record -o 'run-%r.sqlite' -- mpirun -n 4 ./train\n";

/* ---- before the start ---- */

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

/* The library beside this program: PREFIX/bin/cpscope, PREFIX/lib/libcpscope.so. */
static char *library_path(struct arena *a, struct err *e)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
    }
    char *path = arena_printf(a, "%s/lib/libcpscope.so", self);
    if (access(path, R_OK) != 0)
        fail(e, ERR_FAIL, "%s: not there: build it, or install cpscope as a whole", path);
    else if (strpbrk(path, " :"))
        fail(e, ERR_FAIL, "%s: LD_PRELOAD takes no path with a space or a colon: install cpscope elsewhere", path);
    return path;
}

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

static bool check_output(const struct args *args, struct arena *a, struct err *e)
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

static void set_environment(const struct args *args, const char *library, int64_t began, struct arena *a)
{
    const char *preload = getenv("LD_PRELOAD"), *nvtx = getenv("NVTX_INJECTION64_PATH");
    if (nvtx && *nvtx && strcmp(nvtx, library) != 0)
        fprintf(stderr, "cpscope record: NVTX_INJECTION64_PATH is ours for this run: the other tool gets no ranges\n");
    setenv(ENV_OUT, absolute(a, args->out), 1);
    setenv(ENV_COMMAND, mask_command(a, args->program.v, args->program.n), 1);
    setenv("LD_PRELOAD", preload && *preload ? arena_printf(a, "%s:%s", library, preload) : library, 1);
    setenv("NVTX_INJECTION64_PATH", library, 1);
    setenv("CUDA_INJECTION64_PATH", library, 1);
    unsetenv(ENV_KINDS);
    unsetenv(ENV_FORCE);
    unsetenv(ENV_STACK_THRESHOLD);
    if (args->kinds)
        setenv(ENV_KINDS, args->kinds, 1);
    if (args->force)
        setenv(ENV_FORCE, arena_printf(a, "%" PRId64, began), 1);
    if (args->threshold >= 0)
        setenv(ENV_STACK_THRESHOLD, arena_printf(a, "%" PRId64, args->threshold), 1);
}

/* ---- the program ---- */

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };
static volatile pid_t child;

/* From the terminal a signal goes to the whole group and has reached the program already. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (info->si_code != SI_KERNEL && child > 0)
        kill(child, number);
    errno = saved;
}

static void run_program(const struct args *args, struct arena *a, pid_t parent, int tell)
{
    char **argv = arena_array(a, char *, args->program.n + 1);
    for (size_t i = 0; i < args->program.n; i++)
        argv[i] = (char *)args->program.v[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(NOT_FOUND);
    execvp(argv[0], argv);
    int why = errno;
    if (write(tell, &why, sizeof why) < 0)
        why = 0;
    _exit(NOT_FOUND);
}

/* Starts it with the signals as they were; the pid, or -1 with *e, and *status where exec failed. */
static pid_t start(const struct args *args, struct arena *a, int *status, struct err *e)
{
    int ends[2], why = 0;
    struct sigaction before[PASSED_ON], ours = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    pid_t self = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(e, ERR_FAIL, "cannot start: %s", strerror(errno)), -1;
    for (int i = 0; i < PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(passed_on[i], &ours, NULL);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < PASSED_ON; i++)
            sigaction(passed_on[i], &before[i], NULL);
        run_program(args, a, self, ends[1]);
    }
    close(ends[1]);
    if (child < 0)
        fail(e, ERR_FAIL, "cannot start: %s", strerror(errno));
    else if (read(ends[0], &why, sizeof why) == sizeof why) {
        *status = why == ENOENT || why == ENOTDIR ? NOT_FOUND : NOT_EXECUTABLE;
        fprintf(stderr, "cpscope record: %s: %s\n", args->program.v[0], strerror(why));
        waitpid(child, NULL, 0);
        child = -1;
    }
    close(ends[0]);
    return child;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct arena a = {0};
    struct args args = {.out = "cpscope-%p.sqlite", .threshold = -1};
    int status = STATUS_OK;
    int64_t began = clock_of(CLOCK_REALTIME_COARSE); /* what files are dated by */
    bool ok =
        opt_parse(argc, argv, (const struct opt_group[]){{opts, &args}, {0}}, doc, &a, e) && check_kinds(args.kinds, e) && check_output(&args, &a, e);
    char *library = ok ? library_path(&a, e) : NULL;
    if (e->kind == ERR_NONE) {
        set_environment(&args, library, began, &a);
        pid_t pid = start(&args, &a, &status, e);
        if (pid > 0) {
            status = wait_for(pid);
            record_end(args.out, args.program.v[0], began, status, &a);
        }
    }
    arena_free(&a);
    return (enum status)status;
}

const struct cmd cmd_record = {
    .name = "record",
    .what = "run a program and record it",
    .run = run,
};
