/* cmd_record.c - runs a program with the collector in it.
 *
 *   cpscope record (this process) --fork, exec--> PROGRAM with libcpscope.so in it --> FILE
 *        waits, same process group                children inherit the environment, each writes a file of its own
 *
 * The program keeps its input, output, exit status and signals: what the terminal sends to the group reaches it directly,
 * what is sent to this process alone is passed on. When this process is killed the program goes, too.
 */
#include "analyzer/cmd.h"
#include "analyzer/record_args.h"
#include "analyzer/record_end.h"
#include "schemas/arena.h"
#include "schemas/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

/* ---- before the start ---- */

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

static void run_program(const struct record_args *args, struct arena *a, pid_t parent, int tell)
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
static pid_t start(const struct record_args *args, struct arena *a, int *status, struct err *e)
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
    struct record_args args;
    int status = STATUS_OK;
    int64_t began = clock_of(CLOCK_REALTIME_COARSE); /* what files are dated by */
    bool ok = record_parse(&args, argc, argv, &a, e);
    char *library = ok ? library_path(&a, e) : NULL;
    if (e->kind == ERR_NONE) {
        record_environment(&args, library, began, &a);
        pid_t pid = start(&args, &a, &status, e);
        if (pid > 0) {
            status = wait_for(pid);
            record_end(&args, began, status, &a);
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
