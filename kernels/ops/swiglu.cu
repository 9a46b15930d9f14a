/* swiglu.cu - swiglu_body.h on a GPU. */
#include "kernels/ops/swiglu_body.h"

CUDA_TABLE(swiglu) = {CUDA_ROW(swiglu_fwd), CUDA_ROW(swiglu_bwd), CUDA_ROW(sigmoid_gate_fwd), CUDA_ROW(sigmoid_gate_bwd), {0}};
