/* env.h - environment variables by which cpscope record speaks to the collector inside the measured program. */
#pragma once

#define ENV_OUT "CPSCOPE_OUT"                         /* file pattern: %p pid, %h host, %r rank, %q{VAR}; set = record */
#define ENV_FORCE "CPSCOPE_FORCE"                     /* a time (epoch ns): a file last written before it is replaced */
#define ENV_KINDS "CPSCOPE_KINDS"                     /* comma-separated event kinds (events.def); unset = all */
#define ENV_STACK_THRESHOLD "CPSCOPE_STACK_THRESHOLD" /* ns; stacks of host waits at least this long */
#define ENV_COMMAND "CPSCOPE_COMMAND"                 /* the command line, secrets masked, for meta */
