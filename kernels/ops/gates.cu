/* gates.cu - gates_body.h on a GPU. */
#include "kernels/ops/gates_body.h"

CUDA_TABLE(gates) = {CUDA_ROW(gate_fwd), CUDA_ROW(gate_bwd), {0}};
