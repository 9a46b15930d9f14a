/* xent.cu - xent_body.h on a GPU. */
#include "kernels/ops/xent_body.h"

CUDA_TABLE(xent) = {CUDA_ROW(xent), CUDA_ROW(xent_total), {0}};
