/* l2norm.cu - l2norm_body.h on a GPU. */
#include "kernels/ops/l2norm_body.h"

CUDA_TABLE(l2norm) = {CUDA_ROW(l2norm_fwd), CUDA_ROW(l2norm_bwd), {0}};
