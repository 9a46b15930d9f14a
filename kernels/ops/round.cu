/* round.cu - round_body.h on a GPU. */
#include "kernels/ops/round_body.h"

CUDA_TABLE(round) = {CUDA_ROW(round), {0}};
