/* groups.h - which ranks work on a micro-batch together, and on which part of it.
 *
 *   rank = (group * cp + number in it) * tp + TP number
 *
 *   --cp 4 --dynamic-cp 4,2,1      micro-batch 0   [ 0 1 2 3 ]       a micro-batch holds --tokens tokens whatever its cp size;
 *                                  micro-batch 1   [ 0 1 ][ 2 3 ]    groups smaller than --cp take a part of it each, a
 *                                  micro-batch 2   [0][1][2][3]      micro-batch of their own, cut between sequences
 *
 * Every rank so has the same number of rows in every micro-batch, whoever it shares a sequence with (seeds/000 4.5).
 */
#pragma once
#include "kernels/model/config.h"

struct place {
    int cp, group, rank; /* size of the CP group, which one, the number in it */
    int tp_rank;
};

struct place place_of(const struct run_config *c, int64_t microbatch, int rank);
/* The group's part of a micro-batch, counted from its own first token. Lives in `a`, or is `whole` itself. */
struct packing place_pack(const struct packing *whole, const struct place *at, int64_t rows, struct arena *a);
/* The run's shape for groups of `cp` ranks; its packs and micro-batches are still those of the run. */
struct cp_shape place_shape(const struct run_config *c, int cp);
/* The cp sizes of the run, each once, in the order of their first use; how many. */
int place_sizes(const struct run_config *c, int sizes[DYNAMIC_MAX]);

/* Cuts sequences at the multiples of `rows`. Lives in `a`. */
struct packing packing_cut(const struct packing *p, int64_t rows, struct arena *a);
/* False with ERR_USAGE when a sequence reaches over a multiple of `rows`. */
bool packing_check_cut(const struct packing *p, int64_t rows, int cp, struct err *e);
/* Tokens that are padding. */
int64_t packing_padded(const struct packing *p);
/* Number of each row's token without padding; of padding, total + its row. Lives in `a`. */
int64_t *packing_numbers(const struct packing *p, struct arena *a);

/* Does every layer of the run take every micro-batch, for every group? ERR_USAGE names what is wrong. Packs are those of
 * step 0. */
bool groups_check(const struct run_config *c, struct err *e);
/* What one step of the run shows on a rank: its layers' declarations, for the micro-batches it works on; with sizes that
 * change, rows "schedule" with the number of micro-batches of each. */
struct expect;
void groups_expect(const struct run_config *c, int rank, struct expect *x);
