/* layout_case.h - what the forms of layouts, routes and boundary metadata share: lists of whole numbers, rows per rank. */
#pragma once
#include "kernels/vectors/vectors.h"

enum { CASE_CP_MAX = 64 }; /* ranks are threads here */
#define CASE_TOKENS_MAX (INT64_C(1) << 24)

/* A list of whole numbers, nested or not, flattened. */
struct int_list {
    int64_t *v; /* in the arena; not NULL */
    size_t n;
};
/* `what` names it in the message. */
bool int_list(const struct jtree *v, const char *what, struct arena *a, struct int_list *out, struct err *e);
bool int_member(const struct jtree *object, const char *key, struct arena *a, struct int_list *out, struct err *e);

/* The last boundary is at most CASE_TOKENS_MAX: a file may not make us take all memory. */
bool case_size(const struct int_list *cu, struct err *e);

/* Rows of one rank: the case's name with the rank behind it. */
struct vec_out case_rank(const struct vec_out *o, int rank);
/* got against the list. */
void case_compare(const struct vec_out *o, const char *quantity, const int64_t *got, int64_t n, const struct int_list *want);
/* A single number. */
void case_number(const struct vec_out *o, const char *quantity, int64_t got, int64_t want);
