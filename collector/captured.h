/* captured.h - the range that kernels of a graph were captured in (graphs.h), as an annotation of their stream: one for a run of kernels
 * of one launch. Of the parser's thread alone. */
#pragma once
#include "collector/recorder.h"

struct captured {
    const char *name; /* kept; NULL: none */
    int64_t start, end, id;
    int32_t device, stream;
};

/* A kernel *a that was captured in `range` (NULL: in none); of another launch, stream or range, the annotation before it ends. */
void captured_add(struct recorder *r, struct captured *c, const char *range, const struct activity *a);
void captured_end(struct recorder *r, struct captured *c);
