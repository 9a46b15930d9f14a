/* rmsnorm.cu - rmsnorm_body.h on a GPU. */
#include "kernels/ops/rmsnorm_body.h"

CUDA_TABLE(rmsnorm) = {CUDA_ROW(rmsnorm_fwd), CUDA_ROW(rmsnorm_bwd), CUDA_ROW(rmsnorm_dw), {0}};
