/* env.h - environment variables by which cpscope record speaks to the collector inside the measured program. */
#pragma once

#define ENV_OUT "CPSCOPE_OUT"                         /* file pattern: %p pid, %h host, %r rank, %q{VAR}; set = record */
#define ENV_FORCE "CPSCOPE_FORCE"                     /* a time (epoch ns): a file last written before it is replaced */
#define ENV_KINDS "CPSCOPE_KINDS"                     /* comma-separated event kinds (events.def); unset = all */
#define ENV_STACK_THRESHOLD "CPSCOPE_STACK_THRESHOLD" /* ns; stacks of host waits at least this long */
#define ENV_NO_PYTHON "CPSCOPE_NO_PYTHON"             /* 1: no Python frames in stacks */
#define ENV_LITE "CPSCOPE_LITE"                       /* 1: host waits, collectives and ranges only */
#define ENV_YIELD "CPSCOPE_YIELD"                     /* 1: leave CUPTI to the program's own profiler */
#define ENV_DELAY "CPSCOPE_DELAY"                     /* ns after the start of the process before which nothing is kept */
#define ENV_DURATION "CPSCOPE_DURATION"               /* ns after that, when recording stops */
#define ENV_RANGE "CPSCOPE_RANGE"                     /* expression: record inside ranges of such names only */
#define ENV_STEPS "CPSCOPE_STEPS"                     /* N or A:B: record inside these steps only */
#define ENV_MAX_SIZE "CPSCOPE_MAX_SIZE"               /* bytes of the file before which recording stops; MAX_SIZE_LEAST at least */
#define ENV_CONTROL "CPSCOPE_CONTROL"                 /* file pattern of a socket that starts and stops the recording */
#define ENV_PAUSED "CPSCOPE_PAUSED"                   /* 1: until it is started there */
#define ENV_COMMAND "CPSCOPE_COMMAND"                 /* the command line, secrets masked, for meta */
#define ENV_CUPTI "CPSCOPE_CUPTI"                     /* path of the libcupti to use, instead of the one that is found */

/* The tables and facts of a file take 180 to 250 KB before its first event. */
enum { MAX_SIZE_LEAST = 512 << 10 };
#define MAX_SIZE_WHY "less than 512k, which a file needs for its tables, facts and some events"
