/* concat.cu - concat_body.h on a GPU. */
#include "kernels/ops/concat_body.h"

CUDA_TABLE(concat) = {CUDA_ROW(concat_blocks), CUDA_ROW(concat_parts), CUDA_ROW(concat_heads), {0}};
