/* switch.h - a socket at which `cpscope control` starts and stops a recording that runs. */
#pragma once
#include "collector/recorder.h"

/* Listens at the path of the pattern (outname.h) on a thread of its own. What cannot be done is said; the recording goes on. */
void switch_open(struct recorder *r, const char *pattern);
void switch_close(void); /* removes the socket */
void switch_forked(void);
