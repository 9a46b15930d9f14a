/* elementwise.cu - elementwise_body.h on a GPU. */
#include "kernels/ops/elementwise_body.h"

CUDA_TABLE(elementwise) = {CUDA_ROW(elementwise_add), CUDA_ROW(elementwise_axpy), CUDA_ROW(elementwise_scale), CUDA_ROW(elementwise_fill), {0}};
