/* vectors.h - `cpbench vectors`: our kernels against reference files in JSON.
 *
 * A form (vec_*.c) knows one kind of file. It is found by the file's content, never by its name: `sniff` looks at the
 * keys. `run` computes every quantity of the file with our own code and adds a row a case and quantity; a wrong number in
 * the file must give ok = 0.
 */
#pragma once
#include "kernels/vectors/jtree.h"
#include "schemas/table.h"

struct vector_form {
    const char *name; /* as in the README of the vectors: "gdn_core" */
    const char *what; /* one line */
    bool (*sniff)(const struct jtree *root);
    /* false: the file does not have this form after all, or something broke (*e says where and what). */
    bool (*run)(const struct jtree *root, const char *file, struct table *t, struct err *e);
};
extern const struct vector_form *const vector_forms[]; /* ends with NULL; made by the Makefile */

/* Where a form writes its rows. */
struct vec_out {
    struct table *t;
    const char *file, *name; /* file as shown, name of the case */
};

/* Agreement of fp32 with float64 that is asked for: |got - want|_2 <= limit |want|_2 and, element by element,
 * |got - want| <= limit max|want|. A quantity that is zero throughout must be below the limit itself. */
#define VEC_LIMIT 1e-5

/* Adds the row of a numeric quantity: n elements. */
void vec_compare_f32(const struct vec_out *o, const char *quantity, const float *got, const double *want, size_t n);
/* The same for whole numbers, which must be equal: max_abs is the largest difference, limit 0. A length that differs is not ok. */
void vec_compare_i64(const struct vec_out *o, const char *quantity, const int64_t *got, size_t ngot, const int64_t *want, size_t nwant);
/* A yes or no: max_abs 0 or 1, limit 0. */
void vec_check(const struct vec_out *o, const char *quantity, bool ok);

/* A tensor as float (for our kernels) or double (to compare with), in the arena; n elements are wanted. Not of that
 * size, or not numbers: fails with the key. */
float *vec_f32(const struct jtree *object, const char *key, size_t n, struct arena *a, struct err *e);
double *vec_f64(const struct jtree *object, const char *key, size_t n, struct arena *a, struct err *e);
int64_t *vec_i64(const struct jtree *object, const char *key, size_t *n, struct arena *a, struct err *e);
float *vec_to_f32(const double *v, size_t n, struct arena *a);
/* A whole number in lo .. hi, or fails with the key. */
bool vec_int(const struct jtree *object, const char *key, int64_t lo, int64_t hi, int64_t *value, struct err *e);
/* cu_seqlens that start at 0 and ascend: *n segments. */
int64_t *vec_cu(const struct jtree *object, const char *key, int *n, struct arena *a, struct err *e);

/* Has the object all of these keys (a list that ends with NULL)? */
bool vec_has(const struct jtree *object, const char *const *keys);
/* The list of cases of a file {doc, cases[]}; NULL when it is not of that shape or empty. */
const struct jtree *vec_cases(const struct jtree *root);

/* Runs `run` for every case of {doc, cases[]} with an arena of its own; what one fails with gets file and case in front. */
typedef bool vec_case_fn(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e);
bool vec_each_case(const struct jtree *root, const char *file, struct table *t, vec_case_fn *run, struct err *e);
