/* cmd_check.c - cpscope check [--rules R] [--baseline B] [--repeat N] -- PROGRAM ARGS...: record and gate in one step.
 *
 * Each recording is made by `cpscope record --stack-threshold 0s`, a program of its own, in a folder that is gone at the
 * end unless -o asks for the recording. A program that fails is not judged: its own status is the answer.
 *
 *     --repeat 3                     PROGRAM PROGRAM PROGRAM                 the runs are samples
 *     --repeat 3 --before COMMAND    COMMAND PROGRAM COMMAND PROGRAM ...     in turns, so that a machine that warms up or
 *                                                                            slows down does so to both sides alike
 */
#include "analyzer/cmd.h"
#include "analyzer/gatecmd.h"
#include "analyzer/progress.h"
#include "schemas/arena.h"
#include "schemas/outname.h"
#include "schemas/tmpfolder.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEAT_MOST = 100 };

struct args {
    const char *keep;   /* -o */
    const char *before; /* a command for the shell */
    bool force;
    int64_t repeat;
    struct opt_list program;
};

static const struct opt opts[] = {
    {OPT_TEXT, "keep", offsetof(struct args, keep), "keep the recording there (with --repeat: FILE.1, FILE.2 ... before its suffix)", "FILE", 'o'},
    {OPT_FLAG, "force", offsetof(struct args, force), "replace an existing file"},
    {OPT_INT, "repeat", offsetof(struct args, repeat), "run the program so often; runs are the samples of times (default 1)", "N"},
    {OPT_TEXT, "before", offsetof(struct args, before), "a command of the shell whose runs, in turns with PROGRAM's, are the baseline", "COMMAND"},
    {OPT_REST, "PROGRAM ARGS...", offsetof(struct args, program)},
    {0},
};

/* -o names the recording here, so the verdict goes to standard output. */
static const struct opt output_rows[] = {
    {OPT_TEXT, "format", offsetof(struct output_opts, format), "text (default), csv, json, markdown, html, junit, sarif, github", "NAME", 'f'},
    {OPT_FLAG, "quiet", offsetof(struct output_opts, quiet), "nothing on standard error but errors", NULL, 'q'},
    {OPT_TEXT, "color", offsetof(struct output_opts, color), "colours in text: auto (default), always, never", "WHEN"},
    {0},
};

static const char doc[] = "Record a program and judge the recording by rules, in one step.\v"
                          "What is wrong with the rules or the baseline is said before the program starts. The program's own failure comes "
                          "first: its status is returned and nothing is judged. Else 0 all rules pass, 1 a rule "
                          "fails, 4 a rule cannot be judged.\n\n"
                          "  cpscope check --baseline sync.baseline -- python train.py --steps 3\n"
                          "  cpscope check --rules step.rules --baseline good/ --repeat 5 -- ./train\n"
                          "  cpscope check --rules step.rules --before ./train.old --repeat 5 -- ./train";

static volatile sig_atomic_t child;

/* What the terminal sends reaches the program directly; what is sent to us alone is passed on. Either way the folder is
 * taken away afterwards. */
static void on_signal(int sig)
{
    if (child > 0 && sig == SIGTERM)
        kill((pid_t)child, sig);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction act = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &act, NULL);
}

/* Runs `cpscope record` on the program; its exit status, as a shell would say it. */
static int record(const char *path, const struct opt_list *program, bool force, struct arena *arena)
{
    static const char *const head[] = {"cpscope", "record", "--quiet", "--stack-threshold", "0s", "-o"};
    const size_t fixed = sizeof head / sizeof *head;
    const char **argv = arena_array(arena, const char *, fixed + program->n + 4);
    size_t n = fixed;
    memcpy(argv, head, sizeof head);
    argv[n++] = path;
    if (force)
        argv[n++] = "--force";
    argv[n++] = "--";
    memcpy(argv + n, program->v, program->n * sizeof *argv);
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execv("/proc/self/exe", (char *const *)argv);
        _exit(127);
    }
    child = pid;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    return pid < 0 ? STATUS_FAIL : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The k-th recording's file: FILE itself when there is one only. */
static const char *file_of(const char *path, int64_t k, int64_t of, struct arena *arena)
{
    size_t stem = outname_suffix(path);
    return of == 1 ? path : arena_printf(arena, "%.*s.%lld%s", (int)stem, path, (long long)k + 1, path + stem);
}

/* Everything the recording of one run left: the file, and those of further processes. */
static void found(const char *path, struct opt_list *files, struct arena *arena)
{
    size_t stem = outname_suffix(path);
    glob_t g = {0};
    if (access(path, F_OK) == 0)
        opt_list_add(files, arena, path);
    const char *pattern = arena_printf(arena, "%.*s.[0-9]*%s", (int)stem, path, path + stem);
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc; i++)
            opt_list_add(files, arena, arena_strdup(arena, g.gl_pathv[i]));
    globfree(&g);
}

struct places_of_files {
    const char *path;   /* of the recording, before file_of() */
    const char *before; /* folder of the recordings of --before; NULL: without */
};

/* Run k of the program, before it that of --before; 0 or the status of the one that failed. */
static int record_turn(const struct args *a, int64_t k, const struct places_of_files *p, struct opt_list *files, struct arena *arena)
{
    const char *shell[] = {"sh", "-c", a->before}, *file = file_of(p->path, k, a->repeat, arena);
    const struct opt_list before = {shell, 3};
    int rc = p->before ? record(arena_printf(arena, "%s/run.%lld.sqlite", p->before, (long long)k + 1), &before, false, arena) : 0;
    rc = rc ? rc : record(file, &a->program, a->force, arena);
    if (rc)
        return rc;
    if (a->repeat == 1)
        found(file, files, arena);
    else if (access(file, F_OK) == 0)
        opt_list_add(files, arena, file);
    return 0;
}

static enum status record_and_judge(const struct args *a, const struct places_of_files *p, const struct gate_args *g, const struct trace_opts *to,
                                    const struct output_opts *oo, struct arena *arena, struct err *e)
{
    struct opt_list files = {0};
    struct gate_args gate = *g;
    for (int64_t k = 0; k < a->repeat; k++) {
        int rc = record_turn(a, k, p, &files, arena);
        if (rc != 0)
            return (enum status)rc;
    }
    if (!files.n)
        fail(e, ERR_UNDECIDED, "the program had no events: nothing to judge");
    else if (p->before && access(arena_printf(arena, "%s/run.1.sqlite", p->before), F_OK) != 0)
        fail(e, ERR_UNDECIDED, "the command of --before had no events: nothing to compare with");
    if (e->kind)
        return err_status(e);
    gate.baseline = p->before ? p->before : g->baseline;
    if (p->before)
        gate.note = arena_printf(arena, "runs in turns, %lld times: %.200s, then the program", (long long)a->repeat, a->before);
    else if (a->repeat > 1)
        gate.note = arena_printf(arena, "%lld runs, one after the other", (long long)a->repeat);
    return gate_files(files.v, files.n, &gate, to, oo, e);
}

static enum status check(const struct args *a, const struct gate_args *g, const struct trace_opts *to, const struct output_opts *oo,
                         struct arena *arena, struct err *e)
{
    const char *program = a->program.v[0], *folder = a->keep ? NULL : tmpfolder_make(program, arena, e);
    const char *before = a->before && !e->kind ? tmpfolder_make(program, arena, e) : NULL;
    struct places_of_files p = {folder ? arena_printf(arena, "%s/run.sqlite", folder) : a->keep, before};
    catch_signals();
    enum status status = e->kind ? err_status(e) : record_and_judge(a, &p, g, to, oo, arena, e);
    if (folder)
        tmpfolder_remove(folder);
    if (before)
        tmpfolder_remove(before);
    return status;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {.repeat = 1};
    struct rules rules = {0};
    struct gate_args g = {.read = &rules};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct output_opts oo = {0};
    struct arena arena = {0};
    enum status status = STATUS_OK;
    const struct opt_group groups[] = {
        {opts, &a, NULL}, {gate_opt_rows, &g, "Rules:"}, {trace_opt_rows, &to, "What is looked at:"}, {output_rows, &oo, "Output:"}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e);
    if (ok && (a.repeat < 1 || a.repeat > REPEAT_MOST))
        ok = fail(e, ERR_USAGE, "--repeat %lld: 1 to %d", (long long)a.repeat, REPEAT_MOST);
    progress_enable(!oo.quiet);
    to.quiet = oo.quiet;
    if (ok && a.before && g.baseline)
        ok = fail(e, ERR_USAGE, "--before and --baseline: one of the two, they are the same side");
    if (ok && gate_ready(&g, &oo, e))
        status = check(&a, &g, &to, &oo, &arena, e);
    rules_free(&rules);
    arena_free(&arena);
    return e->kind ? err_status(e) : status;
}

const struct cmd cmd_check = {.name = "check", .what = "record a program and judge it by rules, in one step", .run = run};
