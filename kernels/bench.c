/* bench.c - main of cpbench: finds the row of the command, runs it, prints the error, checks stdout, maps the status. */
#include "kernels/bench.h"
#include "schemas/nearest.h"
#include "schemas/version.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COMMANDS = 64 };

static const struct bench_cmd *find(const char *name)
{
    for (const struct bench_cmd *const *c = bench_cmds; *c; c++)
        if (!strcmp((*c)->name, name))
            return *c;
    return NULL;
}

static void usage(FILE *out)
{
    fprintf(out, "Usage: cpbench COMMAND [OPTIONS]\n"
                 "Runs context-parallel modes of LLM training, instrumented, so that cpscope can record and compare them.\n\n");
    for (const struct bench_cmd *const *c = bench_cmds; *c; c++)
        fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->what);
    fprintf(out, "\n`cpbench COMMAND --help` lists the options of a command. Rows are csv on standard output.\n"
                 "Exit status: 0 ok, 1 a check says no, 2 usage, 3 failure, 4 cannot be judged.\n");
}

/* A full disk is not a success. */
static enum status close_stdout(const char *self, enum status status)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    fprintf(stderr, "%s: cannot write standard output\n", self);
    return STATUS_FAIL;
}

static enum status run_command(const struct bench_cmd *c, int argc, char **argv)
{
    static char self[64];
    struct err e = {0};
    snprintf(self, sizeof self, "cpbench %s", c->name);
    argv[0] = self;
    enum status status = c->run(argc, argv, &e);
    if (e.kind)
        fprintf(stderr, "%s: %s\n", self, e.msg);
    return close_stdout(self, e.kind ? err_status(&e) : status);
}

static enum status unknown(const char *name)
{
    const char *names[MOST_COMMANDS] = {NULL};
    for (size_t i = 0; bench_cmds[i] && i < MOST_COMMANDS - 1; i++)
        names[i] = bench_cmds[i]->name;
    const char *near = name ? nearest_name(name, names) : NULL;
    if (!name)
        fprintf(stderr, "cpbench: which command? cpbench --help lists them\n");
    else
        fprintf(stderr, "cpbench: %s: no such command%s%s; cpbench --help lists them\n", name, near ? ", did you mean " : "", near ? near : "");
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "C");
    const char *first = argc > 1 ? argv[1] : NULL;
    if (first && !strcmp(first, "--version"))
        printf("cpbench %s\n", CPSCOPE_VERSION);
    else if (first && (!strcmp(first, "--help") || !strcmp(first, "help")))
        usage(stdout);
    else {
        const struct bench_cmd *c = first ? find(first) : NULL;
        if (c)
            return run_command(c, argc - 1, argv + 1);
        return unknown(first);
    }
    return close_stdout("cpbench", STATUS_OK);
}
