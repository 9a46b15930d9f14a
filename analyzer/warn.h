/* warn.h - what an answer lacks, on stderr: a line of its own before the answer. When there is no answer it ends the one line
 * that says why, so that a failure is always one line.
 *
 * One thread at a time.
 */
#pragma once

/* A line that is kept until warn_show() or warn_cause(); cut as an error's message is, and as free of control characters. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints what was kept. */
void warn_show(void);

/* What was kept, for the end of an error's line: "" or "; " and the first line. Valid until the next call. */
const char *warn_cause(void);
