/* gitlines.c - reading `git diff -U0`. */
#include "analyzer/gitlines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* git's output, without a shell between: BASE is what a user typed. */
static FILE *start(const char *base, pid_t *pid)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC) != 0)
        return NULL;
    *pid = fork();
    if (*pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(fd[1], STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execlp("git", "git", "-c", "core.quotePath=false", "-c", "diff.relative=false", "diff", "-U0", "--no-color", "--no-ext-diff",
               "--src-prefix=a/", "--dst-prefix=b/", base, "--", (char *)NULL);
        _exit(127);
    }
    close(fd[1]);
    return *pid > 0 ? fdopen(fd[0], "r") : NULL;
}

/* "@@ -a,b +c,d @@": d lines from c on were added (d is 1 when it is left out). */
static void add_hunk(struct gitlines *g, const char *file, const char *line)
{
    const char *plus = strchr(line, '+');
    char *end;
    int64_t first = plus ? strtoll(plus + 1, &end, 10) : 0, count = 1;
    if (!plus || !file)
        return;
    if (*end == ',')
        count = strtoll(end + 1, NULL, 10);
    if (count > 0)
        ARRAY_PUSH(g->v, g->n, g->cap, ((struct line_range){file, first, first + count - 1}));
}

bool gitlines_open(const char *base, struct gitlines *g, struct err *e)
{
    *g = (struct gitlines){0};
    pid_t pid = -1;
    FILE *f = *base == '-' ? NULL : start(base, &pid);
    if (!f)
        return fail(e, ERR_USAGE, "--git %s: cannot ask git", base);
    char *line = NULL;
    size_t cap = 0;
    const char *file = NULL;
    while (getline(&line, &cap, f) > 0) {
        if (strncmp(line, "+++ ", 4) == 0)
            file = strncmp(line + 4, "b/", 2) == 0 ? arena_strndup(&g->arena, line + 6, strcspn(line + 6, "\t\n")) : NULL;
        else if (strncmp(line, "@@ ", 3) == 0)
            add_hunk(g, file, line);
    }
    free(line);
    fclose(f);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail(e, ERR_FAIL, "--git %s: there is no git to ask here", base);
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           fail(e, ERR_USAGE, "--git %s: git does not know it, or this folder is not a repository", base);
}

bool gitlines_has(const struct gitlines *g, const char *file, int64_t line)
{
    for (size_t i = 0; i < g->n; i++)
        if (line >= g->v[i].first && line <= g->v[i].last && strcmp(g->v[i].file, file) == 0)
            return true;
    return false;
}

void gitlines_close(struct gitlines *g)
{
    free(g->v);
    arena_free(&g->arena);
    *g = (struct gitlines){0};
}
