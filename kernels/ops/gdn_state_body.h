/* gdn_state_body.h - a map turned round, a row of it. */
#pragma once
#include "kernels/ops/gdn_state.h"
#include "kernels/ops/single.h"

SINGLE_ROWS(gdn_map_turn, gdn_map_turn_args, (int64_t)a->HV * a->dk)
{
    int64_t dk = a->dk, dv = a->dv, E = dv + dk, h = row / dk, i = row % dk;
    const float *m = a->map + h * dk * E + dv + i;
    float *out = a->out + row * E;
    ROW_EACH (j, dv)
        out[j] = a->s ? a->s[row * dv + j] : 0;
    ROW_EACH (j, dk)
        out[dv + j] = m[j * E];
}
