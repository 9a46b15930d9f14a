/* cmd_help.c - definitions: of a table from its columns, of a command from its own --help, of the rule language. */
#include "analyzer/cmd.h"
#include "analyzer/tablecmd.h"
#include "schemas/nearest.h"
#include "schemas/version.h"

#include <stdio.h>
#include <string.h>

extern const struct cmd cmd_help;

enum { MOST_TOPICS = 128, WIDTH = 100 };

static const char rules_text[] =
    "Rules of 'cpscope gate' and 'check': one a line, '#' starts a comment; the first line may say 'rules 1'.\n"
    "\n"
    "  TABLE.COLUMN [where COLUMN ~ \"RE\"] [in range ~ \"RE\"] AGGREGATE OPERATOR LIMIT   # why\n"
    "  allow RE   # why\n"
    "\n"
    "  AGGREGATE  min, max, sum, median over the rows, or 'per KEY': every row by itself, told apart by column KEY\n"
    "  OPERATOR   <=  >=  ==  <  >\n"
    "  LIMIT      VALUE [UNIT], or baseline [+ N] [* X]; units ns us ms s, %, B KB MB GB\n"
    "  RE         POSIX extended, unanchored, in double quotes (\\\" and \\\\ inside); that of allow is the rest of the line\n"
    "  in range   only what lies in ranges whose path matches: outer/inner, as 'cpscope ranges' prints it\n"
    "\n"
    "'syncs' is the wait ledger and 'op_syncs' the op ledger of the table syncs; every other table has its own name.\n"
    "Any fail gives exit status 1; else any rule that cannot be judged gives 4; else 0.\n"
    "Counts are held against the baseline by rate (a step, a micro-batch, a sequence); times need three runs a side to fail.\n"
    "Exempt are sites that an allow line matches, source lines with 'gpu-sync-ok: reason', ranges named cpscope.allow_sync.\n"
    "\n"
    "  syncs.count per site <= baseline + 0         # no new host-device sync\n"
    "  summary.busy_pct min >= 80 %\n"
    "  kernels.total_ns where name ~ \"^gemm\" sum <= baseline * 1.05\n";

static void wrap(const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column && column + 1 + n > WIDTH) {
            putchar('\n');
            column = 0;
        }
        column += (size_t)printf("%s%.*s", column ? " " : "", (int)n, text);
        text += n + strspn(text + n, " ");
    }
    putchar('\n');
}

static void show_table(const struct table_desc *d)
{
    printf("cpscope %s: %s\n\n", d->name, d->title);
    if (d->what)
        wrap(d->what);
    puts("\ncolumns:");
    for (const struct column *c = d->columns; c->name; c++)
        printf("  %-18s %s%s%s%s\n", c->name, c->what ? c->what : "", c->base ? " (base: " : "", c->base ? c->base : "", c->base ? ")" : "");
    puts("\nAn empty cell means: not in this trace. It is never 0.");
    if (d->opts)
        puts("\noptions of its own:");
    for (const struct opt *o = d->opts; o && o->type; o++)
        printf("  --%-10s %-9s %s\n", o->name, o->value ? o->value : "", o->what ? o->what : "");
    printf("\n'cpscope %s --help' lists the options that all tables have.\n", d->name);
}

static bool unknown(const char *topic, struct err *e)
{
    const char *names[MOST_TOPICS] = {"rules"};
    size_t n = 1;
    for (size_t i = 0; cmds[i] && n < MOST_TOPICS - 1; i++)
        names[n++] = cmds[i]->name;
    for (size_t i = 0; table_descs[i] && n < MOST_TOPICS - 1; i++)
        names[n++] = table_descs[i]->name;
    const char *near = nearest_name(topic, names);
    return fail(e, ERR_USAGE, "%s: no such command or table%s%s", topic, near ? "; did you mean " : "; cpscope help lists them", near ? near : "");
}

static enum status show_command(const struct cmd *c, struct err *e)
{
    char self[64], help[] = "--help";
    snprintf(self, sizeof self, "cpscope %s", c->name);
    char *argv[] = {self, help, NULL};
    return c->run(2, argv, e);
}

static void list(void)
{
    puts("cpscope help COMMAND | TABLE | rules\n\ncommands:");
    for (size_t i = 0; cmds[i]; i++)
        printf("  %-10s %s\n", cmds[i]->name, cmds[i]->what);
    puts("\ntables:");
    for (size_t i = 0; table_descs[i]; i++)
        printf("  %-10s %s\n", table_descs[i]->name, table_descs[i]->title);
    puts("\nexit status: 0 ok or pass, 1 the gate or check says no, 2 usage, 3 failure,\n             4 cannot be judged\n\n  cpscope help syncs");
}

static bool asks_for_help(const char *arg)
{
    return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0 || strcmp(arg, "-?") == 0;
}

static enum status run(int argc, char **argv, struct err *e)
{
    if (argc < 2 || asks_for_help(argv[1])) {
        list();
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("cpscope " CPSCOPE_VERSION);
        return STATUS_OK;
    }
    if (argc > 2) {
        fail(e, ERR_USAGE, "%s: one topic at a time", argv[2]);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "rules") == 0) {
        fputs(rules_text, stdout);
        return STATUS_OK;
    }
    const struct table_desc *t = table_find(argv[1]);
    if (t) {
        show_table(t);
        return STATUS_OK;
    }
    for (size_t i = 0; cmds[i]; i++)
        if (strcmp(cmds[i]->name, argv[1]) == 0)
            return cmds[i] == &cmd_help ? (list(), STATUS_OK) : show_command(cmds[i], e);
    unknown(argv[1], e);
    return STATUS_USAGE;
}

const struct cmd cmd_help = {"help", "definitions: a command, a table and its columns, the rule language", run};
