/* main.c - finds the command, runs it, prints its error, checks the output, maps the status. */
#include "analyzer/cmd.h"
#include "analyzer/tablecmd.h"
#include "analyzer/warn.h"
#include "schemas/nearest.h"
#include "schemas/version.h"

#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COMMANDS = 128 };

static const struct cmd *find(const char *name)
{
    for (size_t i = 0; cmds[i]; i++)
        if (strcmp(cmds[i]->name, name) == 0)
            return cmds[i];
    return NULL;
}

static void usage(FILE *out)
{
    fputs("usage: cpscope COMMAND [OPTIONS] FILE...\n\ncommands:\n", out);
    for (size_t i = 0; cmds[i]; i++)
        fprintf(out, "  %-10s %s\n", cmds[i]->name, cmds[i]->what);
    fputs("\ntables (cpscope TABLE [OPTIONS] FILE...):\n", out);
    for (size_t i = 0; table_descs[i]; i++)
        if (!find(table_descs[i]->name))
            fprintf(out, "  %-10s %s\n", table_descs[i]->name, table_descs[i]->title);
    fputs("\n'cpscope help COMMAND' or 'cpscope COMMAND --help' says more; 'cpscope --version' prints the version\n", out);
}

static enum status unknown(const char *name)
{
    const char *names[MOST_COMMANDS];
    size_t n = 0;
    for (size_t i = 0; cmds[i] && n < MOST_COMMANDS - 1; i++)
        names[n++] = cmds[i]->name;
    for (size_t i = 0; table_descs[i] && n < MOST_COMMANDS - 1; i++)
        names[n++] = table_descs[i]->name;
    names[n] = NULL;
    const char *near = nearest_name(name, names);
    struct err e = {0};
    fail(&e, ERR_USAGE, "%s: no such command%s%s; 'cpscope --help' lists them", name, near ? ", did you mean " : "", near ? near : "");
    fprintf(stderr, "cpscope: %s\n", e.msg);
    return STATUS_USAGE;
}

static enum status run(int argc, char **argv)
{
    const struct cmd *c = find(argv[1]);
    const struct table_desc *t = c ? NULL : table_find(argv[1]);
    if (!c && !t)
        return unknown(argv[1]);
    char self[64];
    struct err e = {0};
    snprintf(self, sizeof self, "cpscope %s", argv[1]);
    argv[1] = self;
    enum status status = c ? c->run(argc - 1, argv + 1, &e) : table_main(t, argc - 1, argv + 1, &e);
    if (e.kind)
        fprintf(stderr, "%s: %s%s\n", self, e.msg, e.kind == ERR_UNDECIDED ? warn_cause() : "");
    else
        warn_show();
    return e.kind ? err_status(&e) : status;
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "C");
    mallopt(M_MMAP_THRESHOLD, 1 << 20); /* what is freed goes back at once: the next large array takes its place */
    enum status status = STATUS_OK;
    if (argc < 2) {
        usage(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        usage(stdout);
    else if (strcmp(argv[1], "--version") == 0)
        printf("cpscope %s\n", CPSCOPE_VERSION);
    else
        status = run(argc, argv);
    if (fflush(stdout) || ferror(stdout)) { /* a full disk is not a success */
        fputs("cpscope: cannot write standard output\n", stderr);
        return STATUS_FAIL;
    }
    return (int)status;
}
