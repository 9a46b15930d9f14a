/* baseline_file.h - the text form of a baseline (baseline.h). */
#pragma once
#include "analyzer/baseline.h"

bool baseline_is(const char *path); /* by its first line */
bool baseline_read(const char *path, struct baseline *b, struct err *e);
