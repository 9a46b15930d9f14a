/* progress.h - a line on stderr that says how far a long piece of work is: only on a terminal, only after a second.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

void progress_enable(bool on); /* off: --no-progress, -q */
/* done of total units of `what`; total 0: unknown. Cheap; call it now and then. */
void progress_step(const char *what, int64_t done, int64_t total);
void progress_mute(void); /* this thread's work is part of another's: its steps are not shown */
void progress_end(void);  /* clears the line; before anything else is printed */
