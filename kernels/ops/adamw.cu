/* adamw.cu - adamw_body.h on a GPU. */
#include "kernels/ops/adamw_body.h"

CUDA_TABLE(adamw) = {CUDA_ROW(adamw), {0}};
