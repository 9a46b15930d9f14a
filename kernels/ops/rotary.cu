/* rotary.cu - rotary_body.h on a GPU. */
#include "kernels/ops/rotary_body.h"

CUDA_TABLE(rotary) = {CUDA_ROW(rotary), {0}};
