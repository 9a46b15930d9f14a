/* cupti.h - the door between CUDA's injection entry point (inject.c) and the source for NVIDIA devices. */
#pragma once
#include "collector/recorder.h"

/* The driver has been initialised in this process: starts collecting, once. What cannot be had is said in the recording and once
 * on stderr. Of the thread that initialises CUDA. */
void cupti_attach(struct recorder *r);
