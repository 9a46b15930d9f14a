/* case_list.h - a list of cases without names: each gets its number. */
#pragma once
#include "kernels/vectors/layout_case.h"

/* Runs every element of `list` with an arena of its own; cases are called PREFIX0, PREFIX1 ...; errors get file and case in front. */
bool case_each(const struct jtree *list, const char *prefix, const char *file, struct table *t, vec_case_fn *run, struct err *e);

/* The boundaries of a case with cp and one entry of `ranks` a rank, each handed to `run` under its own name. */
struct ranks_case {
    struct int_list cu; /* the member called `key` */
    int cp;
};
typedef bool ranks_fn(const struct ranks_case *c, int rank, const struct jtree *want, const struct vec_out *o, struct arena *a, struct err *e);
bool case_ranks(const struct jtree *one, const char *key, const struct vec_out *o, struct arena *a, ranks_fn *run, struct err *e);
