/* matrix_claim.h - what an experiment claims: comparisons of figures that its page opens with, each said to hold or not.
 *
 *     [claim scaling]
 *     title = p2p scales weakly
 *     holds = |weak-p2p/change_pct| <= 2 and p2p-8.fwd_ms < ulysses-8.fwd_ms
 *
 * An operand is a number, RUN.MEASURE, seed:RUN.MEASURE for the seed's figure, or TABLE/MEASURE: the largest over the table's runs
 * other than its base; between bars, the largest in size. `2*` before one doubles it. Operators: < <= == >= >.
 */
#pragma once
#include "kernels/matrix.h"

/* A line of the verdict: a claim, or what tables say together. */
struct verdict {
    char *text;   /* NULL: there are no more */
    char *detail; /* the figures; NULL: they are in the text */
    bool bad;     /* says that something does not hold or lies outside */
};

/* ERR_USAGE with file:line when there is no title, or the comparisons are none or name what there is not. */
bool claim_check(const struct matrix *m, const struct matrix_claim *c, struct err *e);
/* "Holds: p2p scales weakly" and "fwd+bwd to base % +0.3 (CP64) <= 2". Lives in `a`. What was not measured does not hold. */
struct verdict claim_judge(const struct matrix_result *r, const struct matrix_claim *c, struct arena *a);
